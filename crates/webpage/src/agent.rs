//! Our script in every document, and its answers.

mod answers;
pub mod script;

pub(crate) use answers::*;
pub use answers::{PopupAnswer, PressVerdict};
pub use script::{AGENT, WORLD};
