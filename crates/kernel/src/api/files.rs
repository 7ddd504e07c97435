//! Atomic file writes: no reader finds a partly written file, even after a crash or with concurrent
//! writers.

use rustix::fs::{self as fs_at, AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use stickpin_device::{Error, Result, io_error, paths};

/// Replaces a file atomically: writes a sibling file, syncs it and renames it. Creates the parent
/// folder if it is missing. With `roots`, writes only inside one of these folders.
///
/// The data is on disk when this returns. Without `roots`, a device or a pipe (`/dev/stdout`,
/// `/dev/null`) is written to and never replaced.
///
/// # Errors
/// Returns `POLICY_DENIED` for a path outside `roots`, and `IO` or `STORAGE_FULL` if writing fails.
/// The old file is then unchanged, unless only the sync of its folder failed after the rename. No
/// sibling is left behind.
pub fn write_within(roots: Option<&[PathBuf]>, path: &Path, bytes: &[u8]) -> Result<()> {
    write_from(roots, path, |file| file.write_all(bytes))
}

/// Replaces a file like [`write_within`], with the data that `fill` writes.
///
/// With `roots`, writes only inside one of these folders: links are resolved once, and a link that
/// later replaces a folder on the path is not followed.
///
/// # Errors
/// Returns the errors of [`write_within`].
pub(crate) fn write_from(
    roots: Option<&[PathBuf]>,
    path: &Path,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<()> {
    let Some(roots) = roots else {
        if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
            let written = File::options().write(true).open(path).and_then(|mut file| fill(&mut file));
            return written.map_err(|e| io_error("write", path, &e));
        }
        return replace(&sibling_path(path, "part"), path, fill);
    };
    let real = paths::resolve_links(path).map_err(|e| io_error("write", path, &e))?;
    let Some(root) = paths::containing_root(&real, roots) else {
        return Err(paths::outside_roots_error(path, roots));
    };
    let within = real.strip_prefix(&root).unwrap_or(&real);
    write_beneath(&root, within, fill).map_err(|e| match e {
        // A link or a file took the place of a folder after the links were resolved.
        Errno::LOOP | Errno::NOTDIR => Error::policy_denied(format!(
            "a folder in the path `{}` was replaced while the file was being written",
            path.display()
        ))
        .hint("check whether a folder in the file's path was replaced by a link or a file, then repeat the command"),
        e => io_error("write", path, &e.into()),
    })
}

/// Replaces a file below a folder. Every step starts from a folder that is held open, and no step
/// follows a link.
fn write_beneath(
    root: &Path,
    within: &Path,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> rustix::io::Result<()> {
    let folder = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let name = within.file_name().ok_or(Errno::ISDIR)?;
    let mut dir = fs_at::open(root, folder, Mode::empty())?;
    for part in within.parent().into_iter().flat_map(Path::components) {
        dir = match fs_at::openat(&dir, part.as_os_str(), folder, Mode::empty()) {
            Err(Errno::NOENT) => {
                match fs_at::mkdirat(&dir, part.as_os_str(), Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(e) => return Err(e),
                }
                fs_at::openat(&dir, part.as_os_str(), folder, Mode::empty())?
            }
            opened => opened?,
        };
    }
    let fresh = sibling_path(Path::new(name), "part");
    let new = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(fs_at::openat(&dir, &fresh, new, Mode::from_raw_mode(0o666))?);
    let as_errno = |e: io::Error| Errno::from_io_error(&e).unwrap_or(Errno::IO);
    let filled = fill(&mut file).and_then(|()| file.sync_all()).map_err(as_errno);
    let replaced = filled.and_then(|()| fs_at::renameat(&dir, &fresh, &dir, name));
    if replaced.is_err()
        && let Err(left) = fs_at::unlinkat(&dir, &fresh, AtFlags::empty())
    {
        tracing::warn!("{}: {left}", fresh.display());
    }
    replaced?;
    // The name is on disk only after its folder has been synced.
    fs_at::fsync(&dir)
}

/// Returns a sibling path that no other call uses, in this process or another. `what` becomes the
/// extension.
#[must_use]
pub fn sibling_path(path: &Path, what: &str) -> PathBuf {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(format!(".{}-{number}.{what}", std::process::id()));
    PathBuf::from(fresh)
}

/// Replaces a file like [`write_within`], for a file with a single writer. The temporary file is
/// `fresh`, so that a crash leaves at most that file behind.
///
/// # Errors
/// Returns `IO` or `STORAGE_FULL`, as [`write_within`] does.
pub fn write_through(fresh: &Path, path: &Path, bytes: &[u8]) -> Result<()> {
    replace(fresh, path, |file| file.write_all(bytes))
}

fn replace(fresh: &Path, path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let replaced = || -> io::Result<()> {
        if let Some(folder) = folder {
            fs::create_dir_all(folder)?;
        }
        let mut file = File::create(fresh)?;
        fill(&mut file)?;
        file.sync_all()?;
        fs::rename(fresh, path)?;
        // The name is on disk only after its folder has been synced.
        folder.map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    };
    replaced().map_err(|e| {
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
    use stickpin_device::ErrorCode;

    #[test]
    fn device_is_written_to_and_not_replaced() {
        let tmp = tempfile::tempdir().expect("a folder");
        let full = tmp.path().join("full");
        std::os::unix::fs::symlink("/dev/full", &full).expect("a link");
        let error = write_within(None, &full, b"2").expect_err("the device is full");
        assert_eq!(error.code, ErrorCode::StorageFull);
        assert!(full.is_symlink(), "it was replaced");
    }

    #[test]
    fn a_full_disk_leaves_the_old_file_and_says_so() {
        let tmp = tempfile::tempdir().expect("a folder");
        let path = tmp.path().join("new/a.json");
        write_within(None, &path, b"1").expect("it is written");
        // A device that is always full stands in for the disk.
        let fresh = tmp.path().join("new/fresh");
        std::os::unix::fs::symlink("/dev/full", &fresh).expect("a link");
        let error = write_through(&fresh, &path, b"2").expect_err("the disk is full");
        assert_eq!(error.code, ErrorCode::StorageFull);
        assert_eq!(fs::read_to_string(&path).expect("the old one"), "1");
        assert_eq!(fs::read_dir(tmp.path().join("new")).expect("a folder").count(), 1, "something is left");
    }
}
