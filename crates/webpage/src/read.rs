//! Reads a page as it is now.

pub mod css;
pub mod evaluate;
pub(crate) mod guard;
pub mod page;
pub(crate) mod prefetch;
pub mod read_ahead;
pub mod walk_cache;

pub use page::{capture, locate, outcome};
