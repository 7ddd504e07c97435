//! The file operations of an installation, behind a trait so that tests can interrupt each of them.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The permissions of files that only this user may read.
pub(crate) const PRIVATE: u32 = 0o600;

/// File operations. Written data is on disk when a call returns.
pub(crate) trait Disk: fmt::Debug {
    /// Reads a file; `None` if it does not exist.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;
    /// Creates a file with these permissions. Replaces a file that an interrupted run left behind.
    fn create(&self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()>;
    /// Renames a file within its folder.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Appends to a private file, which is created if it is missing.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Removes a file or a link.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// The file system.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RealDisk;

impl Disk for RealDisk {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        match fs::read(path) {
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    }

    fn create(&self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
        missing_is_fine(fs::remove_file(path))?;
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode & 0o700).open(path)?;
        file.write_all(bytes)?;
        // The creation mask does not apply here.
        file.set_permissions(Permissions::from_mode(mode))?;
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        sync_folder(to)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).mode(PRIVATE).open(path)?;
        let end = file.metadata()?.len();
        let appended = file.write_all(bytes).and_then(|()| file.sync_all());
        if appended.is_err() {
            // On a full disk, part of the line may have been written; the next line must not
            // continue it.
            let _ = file.set_len(end);
        }
        appended
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)?;
        sync_folder(path)
    }
}

fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Treats a missing file as success.
pub(crate) fn missing_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Creates a folder and its parents with these permissions, unless they exist.
pub(crate) fn make_folder(path: &Path, mode: u32) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(mode).create(path)
}

/// Returns the name under which a file is written before it replaces the old one.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".stickpin-new");
    path.with_file_name(name)
}

/// Replaces a file; readers see the old or the new content.
pub(crate) fn replace(disk: &dyn Disk, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let new = temporary(path);
    let replaced = disk.create(&new, bytes, mode).and_then(|()| disk.rename(&new, path));
    if replaced.is_err() {
        discard(disk, &new);
    }
    replaced
}

/// Removes a file that is not needed after all. If it cannot be removed, the next run replaces it.
pub(crate) fn discard(disk: &dyn Disk, path: &Path) {
    let _ = disk.remove(path);
}
