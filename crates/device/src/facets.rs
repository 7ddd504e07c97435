//! What only some devices have. Each is a trait of its own, and a device hands out those that it implements.

mod clipboard;
mod files;
mod lifecycle;
mod script;
mod tabs;
mod traffic;

pub use clipboard::Clipboard;
pub use files::{FileInput, Files, HeldFile};
pub use lifecycle::{AppFolders, Lifecycle};
pub use script::{Evaluated, Script};
pub use tabs::{TabEnd, TabEnded, TabEntry, Tabs};
pub use traffic::{Download, DownloadState, RequestEnd, SeenRequest, Traffic, request_words};
