//! What only some devices have.

mod files;
mod script;
mod tabs;
mod traffic;

pub use files::{FileInput, HeldFile};
pub use script::Evaluated;
pub use tabs::{TabEnd, TabEnded, TabEntry};
pub use traffic::{Download, DownloadState, RequestEnd, SeenRequest, request_words};
