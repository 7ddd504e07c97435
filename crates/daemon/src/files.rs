//! Small files that survive a crash: each has its old or its new content, never a part of either.

use serde::Serialize;
use std::path::Path;
use stickpin_kernel::{Result, files, io_error};

/// Replaces a file with a value as JSON. The content is on disk when this returns.
///
/// # Errors
/// Returns `IO` or `STORAGE_FULL`; the old file is then unchanged.
pub(crate) fn write<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    let json = serde_json::to_vec(value).map_err(|e| io_error("write", path, &e.into()))?;
    files::write_through(&path.with_extension("new"), path, &json)
}
