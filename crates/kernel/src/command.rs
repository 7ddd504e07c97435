//! What a command is, and what it works with.

pub(crate) mod args;
pub(crate) mod context;
pub(crate) mod definition;
pub(crate) mod entry;
pub(crate) mod facets;
