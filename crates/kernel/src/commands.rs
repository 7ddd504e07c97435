//! The commands, one file each.

pub(crate) mod close;
pub(crate) mod get;
pub(crate) mod open;
