//! Files that an app takes.

use serde::Deserialize;
use stickpin_tree::Handle;

/// An input that takes files.
#[derive(Debug, Clone, PartialEq)]
pub struct FileInput {
    /// The input itself, which need not be in the document.
    pub input: Handle,
    /// Whether it can be given more than one.
    pub multiple: bool,
    /// What to do about several where it may take them, but cannot be given them at once.
    pub one_by_one: Option<String>,
    /// Whether it takes a folder.
    pub directory: bool,
    /// What it takes: extensions and media types, separated by commas (HTML 4.10.5.3.7); empty for anything.
    pub accept: String,
    /// What it holds.
    pub holds: Vec<HeldFile>,
}

/// A file that an input holds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct HeldFile {
    /// Without its folder.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Milliseconds since 1970.
    pub modified: u64,
}
