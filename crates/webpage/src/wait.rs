//! Waits for quiet, and for the effects of an action.

pub mod effects;
pub mod settle;
