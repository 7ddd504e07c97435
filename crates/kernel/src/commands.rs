//! The commands, one file each.

pub(crate) mod act;
pub(crate) mod navigate;
pub(crate) mod prelude;
pub(crate) mod read;
pub(crate) mod session;
pub(crate) mod wait;
