//! Commands for several agents in one session: members, turns, events, messages, notes and
//! conversations.

pub mod claim;
pub mod context;
pub mod feed;
pub mod hand_over;
pub mod members;
pub mod talk;
