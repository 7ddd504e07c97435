//! Files that an app takes.

use crate::error::Result;
use async_trait::async_trait;
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

/// Giving files to an app.
#[async_trait]
pub trait Files: Send {
    /// The input that takes the files meant for an element: it itself, the one that it labels, the only one inside it.
    /// `None` where there is none.
    ///
    /// # Errors
    /// `UNSUPPORTED`, `ELEMENT_NOT_FOUND` when it is gone.
    async fn file_input(&mut self, handle: Handle) -> Result<Option<FileInput>>;

    /// Closes the file chooser that [`Action::Choose`](crate::Action::Choose) opened, because it gets no files; whether it is closed now. `None`
    /// where none is shown.
    ///
    /// # Errors
    /// As `perform`.
    async fn close_chooser(&mut self, _chooser: Handle) -> Result<Option<bool>> {
        Ok(None)
    }
}
