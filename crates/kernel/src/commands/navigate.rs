//! Commands that navigate a page or switch tabs.

pub mod history;
pub mod tab;
