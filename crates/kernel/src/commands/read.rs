//! Commands that read the app.

pub mod count;
pub mod diff;
#[cfg(feature = "pictures")]
pub mod diff_screenshot;
pub mod find;
#[cfg(feature = "pictures")]
pub mod frame;
pub mod get;
pub mod is;
pub mod markdown;
#[cfg(feature = "pictures")]
pub mod screenshot;
pub mod snapshot;
pub mod stored_tree;
