//! Reads a page as it is now.

pub mod ahead;
pub mod css;
pub mod evaluate;
pub(crate) mod guard;
pub mod page;
pub(crate) mod together;
pub mod unchanged;

pub use page::{capture, locate, outcome};
