//! A page as it is now.

pub mod ahead;
pub mod along;
pub mod css;
pub mod evaluate;
pub(crate) mod guard;
pub mod page;
pub mod unchanged;

pub use page::{capture, glance, locate};
