//! Small files that are there whole or not at all, also after a crash.

use serde::Serialize;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use stickpin_kernel::{Result, io_error};

/// Replaces a file by a value as JSON. It has reached the disk when this returns.
///
/// # Errors
/// `IO`, `STORAGE_FULL`; the old file is then untouched.
pub(crate) fn write<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    let fresh = path.with_extension("new");
    let replace = || -> std::io::Result<()> {
        let mut file = File::create(&fresh)?;
        file.write_all(&serde_json::to_vec(value)?)?;
        file.sync_all()?;
        fs::rename(&fresh, path)?;
        // The name is on disk only when its folder is.
        path.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())
    };
    replace().map_err(|e| io_error("write", path, &e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickpin_kernel::ErrorCode;

    #[test]
    fn a_full_disk_leaves_the_old_file_and_says_so() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("a.json");
        write(&path, &1).unwrap();
        // A device that is always full stands in for the disk.
        std::os::unix::fs::symlink("/dev/full", path.with_extension("new")).unwrap();
        let error = write(&path, &2).unwrap_err();
        assert_eq!(error.code, ErrorCode::StorageFull);
        assert_eq!(fs::read_to_string(&path).unwrap(), "1");
    }
}
