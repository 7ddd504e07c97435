//! Commands that read the app.

pub(crate) mod count;
pub(crate) mod diff;
pub(crate) mod diff_screenshot;
pub(crate) mod find;
pub(crate) mod get;
pub(crate) mod is;
pub(crate) mod markdown;
pub(crate) mod screenshot;
pub(crate) mod snapshot;
