//! Small files that are there whole or not at all, also after a crash.

use serde::Serialize;
use std::path::Path;
use stickpin_kernel::{Result, files, io_error};

/// Replaces a file by a value as JSON. It has reached the disk when this returns.
///
/// # Errors
/// `IO`, `STORAGE_FULL`; the old file is then untouched.
pub(crate) fn write<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    let json = serde_json::to_vec(value).map_err(|e| io_error("write", path, &e.into()))?;
    files::write_through(&path.with_extension("new"), path, &json)
}
