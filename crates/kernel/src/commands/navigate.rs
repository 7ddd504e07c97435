//! Commands that navigate.

pub(crate) mod history;
pub(crate) mod tab;
