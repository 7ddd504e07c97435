//! Files that are there whole or not at all, also after a crash, and whoever else writes them at the same time.

use crate::error::{Result, io_error};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Replaces a file: beside it first, then in its place. Its folder is made if it is missing. It has reached the disk when
/// this returns.
///
/// # Errors
/// `IO`, `STORAGE_FULL`; the old file is then untouched, and nothing is left beside it.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_through(&beside(path, "part"), path, bytes)
}

/// A name beside a path that nobody else uses, in this process or another one. `what` says what it is for.
#[must_use]
pub fn beside(path: &Path, what: &str) -> PathBuf {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(format!(".{}-{number}.{what}", std::process::id()));
    PathBuf::from(fresh)
}

/// The same for whoever is the only writer of a file: what lies beside it meanwhile always has the same name, so that a
/// crash leaves at most that one.
///
/// # Errors
/// As [`write()`].
pub fn write_through(fresh: &Path, path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let replace = || -> io::Result<()> {
        if let Some(folder) = folder {
            fs::create_dir_all(folder)?;
        }
        let mut file = File::create(fresh)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(fresh, path)?;
        // The name is on disk only when its folder is.
        folder.map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    };
    replace().map_err(|e| {
        if let Err(left) = fs::remove_file(fresh)
            && left.kind() != ErrorKind::NotFound
        {
            tracing::warn!("{}: {left}", fresh.display());
        }
        io_error("write", path, &e)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorCode;

    #[test]
    fn a_full_disk_leaves_the_old_file_and_says_so() {
        let tmp = tempfile::tempdir().expect("a folder");
        let path = tmp.path().join("new/a.json");
        write(&path, b"1").expect("it is written");
        // A device that is always full stands in for the disk.
        let fresh = tmp.path().join("new/fresh");
        std::os::unix::fs::symlink("/dev/full", &fresh).expect("a link");
        let error = write_through(&fresh, &path, b"2").expect_err("the disk is full");
        assert_eq!(error.code, ErrorCode::StorageFull);
        assert_eq!(fs::read_to_string(&path).expect("the old one"), "1");
        assert_eq!(fs::read_dir(tmp.path().join("new")).expect("a folder").count(), 1, "something is left");
    }
}
