//! Commands that navigate.

pub mod history;
pub mod tab;
