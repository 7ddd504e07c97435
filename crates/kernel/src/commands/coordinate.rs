//! Commands for several agents in one session: members, turns, events, messages and notes.

pub mod claim;
pub mod context;
pub mod feed;
pub mod hand_over;
pub mod members;
pub mod talk;
