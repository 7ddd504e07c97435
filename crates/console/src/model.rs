//! The state of the console and its changes, without input or output.

pub(crate) mod app;
pub(crate) mod completion;
pub(crate) mod event;
pub(crate) mod key;
pub(crate) mod line;
pub(crate) mod log;
pub(crate) mod outcome;
pub(crate) mod prompt;
pub(crate) mod tree;
