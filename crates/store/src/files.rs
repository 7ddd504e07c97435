//! The file operations that the store uses. A trait defines them, so that tests can fill the disk,
//! write partially, and crash between any two operations.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::Arc;

/// An open file to which data is appended.
pub trait Handle: fmt::Debug + Send + Sync {
    /// Appends bytes and returns how many were written, which may be fewer than given.
    ///
    /// # Errors
    /// Returns errors of the file system.
    fn write(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Truncates the file to `len` bytes.
    ///
    /// # Errors
    /// Returns errors of the file system.
    fn truncate(&self, len: u64) -> io::Result<()>;

    /// Returns once the content is on disk.
    ///
    /// # Errors
    /// Returns errors of the file system. It is then unknown what is on disk.
    fn sync(&self) -> io::Result<()>;
}

/// The operations on a file system that the store uses.
pub trait Files: fmt::Debug + Send + Sync {
    /// Opens a file for appending, and creates it if it is missing. Only the owner of a new file
    /// may access it.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn Handle>>;

    /// Reads a file from a byte offset to its end.
    fn read(&self, path: &Path, from: u64) -> io::Result<Vec<u8>>;

    /// Reads at most `most` bytes from the beginning of a file.
    fn head(&self, path: &Path, most: u64) -> io::Result<Vec<u8>>;

    /// Returns the length of a file in bytes.
    fn len(&self, path: &Path) -> io::Result<u64>;

    /// Returns the names in a folder, in any order.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>>;

    /// Creates a folder and its missing ancestors. Only the owner of a new folder may enter it.
    fn make_dir(&self, dir: &Path) -> io::Result<()>;

    /// Renames a file, replacing an existing one.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Creates a hard link to a file.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Returns once the names in a folder are on disk.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;

    /// Returns the number of bytes that can still be written to a folder.
    fn free(&self, dir: &Path) -> io::Result<u64>;
}

/// The file system of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct DiskFiles;

#[derive(Debug)]
struct DiskHandle(File);

impl Handle for DiskHandle {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        (&self.0).write(bytes)
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

impl Files for DiskFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn Handle>> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        Ok(Arc::new(DiskHandle(file)))
    }

    fn read(&self, path: &Path, from: u64) -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let len = file.metadata()?.len().saturating_sub(from);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0) + 1);
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn head(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        fs::metadata(path).map(|found| found.len())
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let names = fs::read_dir(dir)?.map(|entry| Ok(entry?.file_name()));
        // All file names of this crate are ASCII, so a name that is not UTF-8 is skipped.
        names.filter_map(|name| name.map(|name| name.into_string().ok()).transpose()).collect()
    }

    fn make_dir(&self, dir: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    fn free(&self, dir: &Path) -> io::Result<u64> {
        let found = rustix::fs::statvfs(dir)?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    }
}

/// Writes all bytes, in several steps if necessary.
pub(crate) fn write_all(handle: &dyn Handle, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match handle.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(taken) => bytes = &bytes[taken..],
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
