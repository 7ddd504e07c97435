//! The definition of a command, and its context.

pub(crate) mod args;
pub(crate) mod context;
pub(crate) mod definition;
pub(crate) mod entry;
pub(crate) mod facets;
