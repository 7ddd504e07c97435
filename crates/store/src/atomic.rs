//! Atomic file replacement: a file has either its old or its new content.

use crate::error::{Result, StoreError};
use crate::files::{Files, write_all};
use sha2::{Digest as _, Sha256};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Returns the path under which a file is written before it replaces `path`.
pub(crate) fn fresh(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    PathBuf::from(name)
}

/// Replaces a file. The content and the name are on disk when this function returns. Keeps the old
/// content under `previous`, if given.
pub(crate) fn replace(files: &dyn Files, path: &Path, previous: Option<&Path>, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let new = fresh(path);
    let replaced = || -> io::Result<()> {
        let handle = files.open(&new)?;
        // A crash may have left a partial file.
        handle.truncate(0)?;
        write_all(&*handle, bytes)?;
        handle.sync()?;
        if let Some(previous) = previous {
            absent_is_fine(files.remove(previous))?;
            absent_is_fine(files.link(path, previous))?;
        }
        files.rename(&new, path)?;
        files.sync_dir(folder)
    };
    replaced().map_err(|e| {
        // The next attempt would overwrite the leftover; until then it only takes up space.
        let _ = files.remove(&new);
        StoreError::io("write", path, e)
    })
}

pub(crate) fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Returns the SHA-256 digest of bytes.
pub(crate) fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Copies bytes into the quarantine before they are dropped, and returns their SHA-256 digest in
/// hexadecimal. The copy is on disk when this function returns.
pub(crate) fn quarantine(files: &dyn Files, dir: &Path, what: &str, bytes: &[u8]) -> Result<String> {
    let hex: String = digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    files.make_dir(dir).map_err(|e| StoreError::io("create", dir, e))?;
    replace(files, &dir.join(format!("{what}-{}", &hex[..16])), None, bytes)?;
    Ok(hex)
}
