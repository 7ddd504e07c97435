//! Commands that read the app.

pub mod count;
pub mod diff;
pub mod diff_screenshot;
pub mod find;
pub mod get;
pub mod is;
pub mod markdown;
pub mod screenshot;
pub mod snapshot;
