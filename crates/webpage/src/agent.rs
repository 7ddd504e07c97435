//! The script of ours in every document, and what it answers.

mod answers;
pub mod script;

pub(crate) use answers::*;
pub use answers::{Opened, Verdict};
pub use script::{AGENT, WORLD};
