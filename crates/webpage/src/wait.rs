//! Waits for quiet, and for the effects of an act.

pub mod effects;
pub mod settle;
