//! The definition of a command, and its context.

pub(crate) mod args;
pub(crate) mod begun;
pub(crate) mod context;
pub(crate) mod definition;
pub(crate) mod entry;
#[cfg_attr(not(feature = "pictures"), allow(dead_code, reason = "only `screenshot` needs all of it"))]
pub(crate) mod facets;
pub(crate) mod table;
