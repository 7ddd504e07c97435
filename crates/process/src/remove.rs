//! Removal of a session's folder, without touching any file outside it.
//!
//! Each folder is opened by name relative to its open parent. No link is followed and no mount is
//! entered. If a name starts to lead elsewhere during the removal, opening it fails.

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The flags for opening a folder.
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::RDONLY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Removes a folder whose owner may still be writing its last files. File systems mounted in it are
/// unmounted, never emptied.
///
/// # Errors
/// Returns errors from the file system. If something stays mounted, nothing is removed. If a mount
/// appears during the removal, the removal stops there.
pub fn remove_folder(folder: &Path) -> io::Result<()> {
    remove_with(folder, crate::mounts::unmount_all)
}

/// Removes a file or a link, if there is one. The target of a link stays.
///
/// # Errors
/// Returns errors from the file system.
pub fn remove_file(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

fn remove_with(folder: &Path, unmount: impl Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    let mut last = Ok(());
    for attempt in 0..5 {
        match unmount(folder).and_then(|()| remove(folder)) {
            Ok(()) => return Ok(()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) => last = Err(e),
        }
        std::thread::sleep(std::time::Duration::from_millis(20 << attempt));
    }
    last
}

/// Removes a folder and its content, without leaving the folder's own file system. If the path is a
/// link or a file, the link or file itself is removed.
fn remove(folder: &Path) -> io::Result<()> {
    let (above, name) = parent_and_name(folder)?;
    let above = rustix::fs::openat(CWD, above, FOLDER.difference(OFlags::NOFOLLOW), Mode::empty())?;
    FolderEntry { parent: above.as_fd(), name: name.as_bytes(), path: folder }.remove(FileType::Unknown)
}

/// Returns the parent of a folder, and the folder's name in it.
///
/// # Errors
/// Returns `InvalidInput` if the folder has no name: for the root, or a path that ends in `..`.
pub(crate) fn parent_and_name(folder: &Path) -> io::Result<(&Path, &OsStr)> {
    match (folder.parent(), folder.file_name()) {
        (Some(above), Some(name)) if above.as_os_str().is_empty() => Ok((Path::new("."), name)),
        (Some(above), Some(name)) => Ok((above, name)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name")),
    }
}

/// A name in an open folder; `path` is for messages.
struct FolderEntry<'a> {
    parent: BorrowedFd<'a>,
    name: &'a [u8],
    path: &'a Path,
}

impl FolderEntry<'_> {
    fn remove(&self, kind: FileType) -> io::Result<()> {
        if !matches!(kind, FileType::Directory | FileType::Unknown) {
            return self.unlink(AtFlags::empty());
        }
        let folder = match self.open() {
            Ok(folder) => folder,
            // Not a folder, or no longer one: the entry itself is removed, not its target.
            Err(Errno::NOTDIR | Errno::LOOP | Errno::MLINK) => return self.unlink(AtFlags::empty()),
            Err(e) => return Err(self.named_error(e)),
        };
        let mut entries = Dir::new(folder).map_err(|e| self.named_error(e))?;
        while let Some(entry) = entries.read() {
            let entry = entry.map_err(|e| self.named_error(e))?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let above = entries.fd().map_err(|e| self.named_error(e))?;
            let path = self.path.join(OsStr::from_bytes(name.to_bytes()));
            match (FolderEntry { parent: above, name: name.to_bytes(), path: &path })
                .remove(entry.file_type())
            {
                // Another process removed it.
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                removed => removed?,
            }
        }
        self.unlink(AtFlags::REMOVEDIR)
    }

    /// Opens the folder with this name if it is on its parent's file system.
    fn open(&self) -> Result<OwnedFd, Errno> {
        let folder = self.open_on_same_mount()?;
        // Covers kernels without `openat2`: a different device is a different file system.
        let device = |of: BorrowedFd<'_>| rustix::fs::fstat(of).map(|stat| stat.st_dev);
        if device(folder.as_fd())? == device(self.parent)? { Ok(folder) } else { Err(Errno::XDEV) }
    }

    /// Opens the folder with `openat2`, which also detects a mount of the same device.
    #[cfg(target_os = "linux")]
    fn open_on_same_mount(&self) -> Result<OwnedFd, Errno> {
        use rustix::fs::ResolveFlags;
        let restrictions = ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(self.parent, self.name, FOLDER, Mode::empty(), restrictions) {
            // An old kernel, or a sandbox that refuses unknown system calls.
            Err(Errno::NOSYS | Errno::PERM) => self.open_nofollow(),
            opened => opened,
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn open_on_same_mount(&self) -> Result<OwnedFd, Errno> {
        self.open_nofollow()
    }

    fn open_nofollow(&self) -> Result<OwnedFd, Errno> {
        rustix::fs::openat(self.parent, self.name, FOLDER, Mode::empty())
    }

    fn unlink(&self, flags: AtFlags) -> io::Result<()> {
        rustix::fs::unlinkat(self.parent, self.name, flags).map_err(|e| self.named_error(e))
    }

    fn named_error(&self, e: Errno) -> io::Error {
        let kind = io::Error::from(e).kind();
        let path = self.path.display();
        match e {
            Errno::XDEV => io::Error::new(kind, format!("{path} is a mount point")),
            e => io::Error::new(kind, format!("{path}: {e}")),
        }
    }
}

#[cfg(test)]
mod tests;
