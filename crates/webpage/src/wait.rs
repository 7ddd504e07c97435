//! Waits: for quiet, and for what an act set off.

pub mod effects;
pub mod settle;
