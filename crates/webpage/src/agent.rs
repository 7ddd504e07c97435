//! Our script in every document, and its answers.

mod answers;
pub mod script;

pub(crate) use answers::*;
pub use answers::{Opened, Verdict};
pub use script::{AGENT, WORLD};
