//! Commands of several agents in one session: who may act, and what they tell one another.

pub mod claim;
pub mod feed;
pub mod hand_over;
pub mod members;
pub mod talk;
