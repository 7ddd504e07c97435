//! File inputs and file choosers.

use crate::error::Result;
use crate::setters::setters;
use async_trait::async_trait;
use serde::Deserialize;
use stickpin_tree::Handle;

/// An input that accepts files.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FileInput {
    /// The input itself, which need not be in the document.
    pub input: Handle,
    /// Whether the input accepts more than one file.
    pub multiple: bool,
    /// Advice on giving several files to an input that may accept them but cannot receive them all
    /// at once.
    pub one_by_one: Option<String>,
    /// Whether the input accepts a folder.
    pub directory: bool,
    /// The accepted extensions and media types, separated by commas (HTML 4.10.5.1.17); empty for
    /// any file.
    pub accept: String,
    /// The files that the input already has.
    pub files: Vec<InputFile>,
}

impl FileInput {
    /// Creates an input that accepts one file of any kind and has none yet.
    #[must_use]
    pub fn new(input: Handle) -> Self {
        let (accept, holds) = (String::new(), Vec::new());
        Self { input, multiple: false, one_by_one: None, directory: false, accept, files: holds }
    }
}

setters!(FileInput {
    multiple: bool,
    one_by_one: Option<String>,
    directory: bool,
    accept: String,
    files: Vec<InputFile>,
});

/// A file in a file input.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct InputFile {
    /// The file name without its folder.
    pub name: String,
    /// The size in bytes.
    pub size: u64,
    /// The modification time in milliseconds since 1970.
    pub modified: u64,
}

impl InputFile {
    /// Creates the description of a file in an input.
    #[must_use]
    pub fn new(name: impl Into<String>, size: u64, modified: u64) -> Self {
        Self { name: name.into(), size, modified }
    }
}

/// Finds file inputs and closes file choosers.
#[async_trait]
pub trait Files: Send {
    /// Returns the input that accepts the files meant for an element: the element itself, the input
    /// that it labels, or the only input inside it. `None` if there is no such input.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED`, `ELEMENT_NOT_FOUND` when the element is gone, and the errors of
    /// `capture`.
    async fn file_input(&mut self, handle: Handle) -> Result<Option<FileInput>>;

    /// Closes the file chooser that [`Action::Choose`](crate::Action::Choose) opened, because it
    /// will not be given any files.
    ///
    /// Returns whether the chooser is now closed; `None` if no chooser is shown.
    ///
    /// # Errors
    /// Returns the errors of `perform`.
    async fn close_chooser(&mut self, _chooser: Handle) -> Result<Option<bool>> {
        Ok(None)
    }
}
