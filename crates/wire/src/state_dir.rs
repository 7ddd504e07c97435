//! The meeting point of a daemon and its clients: the state directory and its socket.

use rustix::fs::{Mode, OFlags};
use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use stickpin_kernel::{Error, ErrorCode, Result, io_error};

/// The maximum length of a socket path in bytes. Every Unix allows more; macOS, for example, allows
/// 104.
const MAX_SOCKET_PATH: usize = 100;

/// An existing, private state directory of this user, and the paths that clients need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDir {
    state_dir: PathBuf,
    socket: PathBuf,
}

impl StateDir {
    /// Creates the state directory if it is missing, and checks that it is safe to use.
    ///
    /// # Errors
    /// Returns `IDENTITY_DENIED`, with the path, when the directory belongs to another user,
    /// contains files and is open to others, or is a link that another user made. The same checks
    /// apply to a socket's folder below `/tmp`, which must not be a link at all. Returns `IO` when
    /// a folder cannot be created or used or the path is not UTF-8, and `STORAGE_FULL` when the
    /// disk is full or its quota is used up.
    pub fn open(state_dir: &Path) -> Result<Self> {
        private_dir(state_dir)?;
        let state_dir =
            fs::canonicalize(state_dir).map_err(|e| io_error("find the state directory", state_dir, &e))?;
        // JSON messages contain the path.
        if state_dir.to_str().is_none() {
            let message = format!("the state directory `{}` is not UTF-8", state_dir.display());
            return Err(Error::new(ErrorCode::Io, message).hint(CHOOSE_ANOTHER));
        }
        let daemon = state_dir.join("daemon");
        private_dir(&daemon)?;
        let socket = daemon.join("sock");
        let socket = if socket.as_os_str().len() <= MAX_SOCKET_PATH {
            socket
        } else {
            let dir = PathBuf::from(format!("/tmp/stickpin-{}", rustix::process::geteuid().as_raw()));
            unlinked_dir(&dir)?;
            dir.join(format!("{:016x}.sock", fingerprint(state_dir.as_os_str().as_bytes())))
        };
        Ok(Self { state_dir, socket })
    }

    /// Returns the state directory as an absolute path without links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.state_dir
    }

    /// Returns the path of the socket: in the state directory, or below `/tmp` if that path would
    /// be too long.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Returns the folder for the daemon's own files.
    #[must_use]
    pub fn daemon_dir(&self) -> PathBuf {
        self.state_dir.join("daemon")
    }

    /// Returns the path of the daemon's log.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.daemon_dir().join("daemon.log")
    }
}

/// Creates a folder in a parent that every user may write to, or checks that the existing folder is
/// private. Another user may already have created a link with this name, so no link is followed.
fn unlinked_dir(dir: &Path) -> Result<()> {
    match fs::symlink_metadata(dir) {
        Ok(found) if found.is_symlink() => Err(link_error(dir, &found)),
        _ => private(dir, OFlags::NOFOLLOW),
    }
}

/// Creates a folder that only its owner can enter, or checks that the existing one is private. A
/// link is followed only if this user or root owns it.
fn private_dir(dir: &Path) -> Result<()> {
    let ours = [rustix::process::geteuid().as_raw(), 0];
    match fs::symlink_metadata(dir) {
        Ok(found) if found.is_symlink() && !ours.contains(&found.uid()) => Err(link_error(dir, &found)),
        _ => private(dir, OFlags::empty()),
    }
}

fn link_error(dir: &Path, found: &Metadata) -> Error {
    let message = format!("`{}` is a symbolic link (created by uid {})", dir.display(), found.uid());
    Error::new(ErrorCode::IdentityDenied, message).hint(CHOOSE_ANOTHER)
}

/// Creates a folder if it is missing, checks it, and makes it private. An open descriptor ensures
/// that the check and the change apply to the same folder.
fn private(dir: &Path, link_flags: OFlags) -> Result<()> {
    let open = || {
        let fd = rustix::fs::open(dir, OFlags::RDONLY | OFlags::CLOEXEC | link_flags, Mode::empty());
        fd.map(File::from).map_err(io::Error::from)
    };
    let folder = match open() {
        Err(e) if e.kind() == ErrorKind::NotFound => {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(dir)
                .map_err(|e| io_error("create the folder", dir, &e))?;
            open()
        }
        opened => opened,
    };
    let folder = folder.map_err(|e| io_error("read the folder", dir, &e))?;
    let found = folder.metadata().map_err(|e| io_error("read the folder", dir, &e))?;
    check(dir, &found)?;
    if found.mode() & 0o077 != 0 {
        folder
            .set_permissions(fs::Permissions::from_mode(0o700))
            .map_err(|e| io_error("change the mode of", dir, &e))?;
    }
    // Root may write nearly anywhere; `access` also reports a read-only mount.
    rustix::fs::access(dir, rustix::fs::Access::WRITE_OK)
        .map_err(|e| io_error("write to", dir, &e.into()).hint(CHOOSE_ANOTHER))
}

const CHOOSE_ANOTHER: &str = "choose another folder with `--state-dir DIR` or STICKPIN_STATE_DIR";

fn check(dir: &Path, found: &Metadata) -> Result<()> {
    let shown = dir.display();
    if !found.is_dir() {
        let message = format!("`{shown}` is not a folder");
        return Err(Error::new(ErrorCode::Io, message).hint(CHOOSE_ANOTHER));
    }
    let refusal = |why: String| Error::new(ErrorCode::IdentityDenied, why);
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(
            refusal(format!("`{shown}` belongs to another user (uid {})", found.uid())).hint(CHOOSE_ANOTHER)
        );
    }
    let mode = found.mode() & 0o777;
    // An empty folder, fresh from `mkdir`, is made private silently. A folder with files may be
    // shared on purpose.
    if mode & 0o077 != 0
        && fs::read_dir(dir).map_err(|e| io_error("read the folder", dir, &e))?.next().is_some()
    {
        return Err(refusal(format!("`{shown}` is open to other users (mode {mode:o})"))
            .hint(format!("run `chmod 700 {shown}` if nothing in that folder is meant for others")));
    }
    Ok(())
}

/// Hashes bytes with 64-bit FNV-1a, for the names of files and sessions. Stable across builds; not
/// secure against attackers.
#[must_use]
pub fn fingerprint(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_state_dir_is_created_private() {
        let tmp = tempfile::tempdir().unwrap();
        let place = StateDir::open(&tmp.path().join("a/b")).unwrap();
        for dir in [place.path(), &place.daemon_dir()] {
            assert_eq!(fs::metadata(dir).unwrap().mode() & 0o777, 0o700, "{}", dir.display());
        }
        assert_eq!(place.socket(), place.daemon_dir().join("sock"));
    }

    #[test]
    fn open_folder_is_refused_unless_empty() {
        let tmp = tempfile::tempdir().unwrap();
        fs::set_permissions(tmp.path(), fs::Permissions::from_mode(0o755)).unwrap();
        StateDir::open(tmp.path()).unwrap();
        assert_eq!(fs::metadata(tmp.path()).unwrap().mode() & 0o777, 0o700);
        fs::set_permissions(tmp.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let error = StateDir::open(tmp.path()).unwrap_err();
        assert_eq!(error.code, ErrorCode::IdentityDenied);
        assert!(
            error.message.contains("755") && error.message.contains(tmp.path().to_str().unwrap()),
            "{error}"
        );
    }

    #[test]
    fn file_in_place_of_state_dir_is_named() {
        let tmp = tempfile::NamedTempFile::new().unwrap();
        let error = StateDir::open(tmp.path()).unwrap_err();
        assert!(error.message.contains("is not a folder"), "{error}");
        let error = StateDir::open(&tmp.path().join("under")).unwrap_err();
        assert_eq!(error.code, ErrorCode::Io);
    }

    #[test]
    fn long_path_gets_a_short_socket() {
        let tmp = tempfile::tempdir().unwrap();
        let (one, two) = (tmp.path().join("x".repeat(120)), tmp.path().join("y".repeat(120)));
        let (one, two) = (StateDir::open(&one).unwrap(), StateDir::open(&two).unwrap());
        assert!(one.socket().as_os_str().len() <= MAX_SOCKET_PATH);
        assert_ne!(one.socket(), two.socket());
        assert_eq!(fs::metadata(one.socket().parent().unwrap()).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn link_in_shared_folder_is_not_followed() {
        let tmp = tempfile::tempdir().unwrap();
        let (target, link) = (tmp.path().join("target"), tmp.path().join("link"));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        for there in [false, true] {
            let error = unlinked_dir(&link).unwrap_err();
            assert!(error.message.contains("is a symbolic link") && !error.hint.is_empty(), "{error:?}");
            assert_eq!(target.exists(), there);
            fs::create_dir_all(&target).unwrap();
        }
        assert_ne!(fs::metadata(&target).unwrap().mode() & 0o777, 0o700, "it was taken for ours");
        unlinked_dir(&target).unwrap();
        assert_eq!(fs::metadata(&target).unwrap().mode() & 0o777, 0o700);
    }

    /// Only root can create a link that belongs to another user.
    #[test]
    fn link_of_another_user_is_not_followed() {
        let tmp = tempfile::tempdir().unwrap();
        let (target, link) = (tmp.path().join("target"), tmp.path().join("link"));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        if std::os::unix::fs::lchown(&link, Some(12_345), None).is_ok() {
            let error = StateDir::open(&link).unwrap_err();
            assert!(error.message.contains("created by uid 12345"), "{error:?}");
            assert!(!target.exists());
        }
    }

    #[test]
    fn two_paths_to_one_dir_share_a_socket() {
        let tmp = tempfile::tempdir().unwrap();
        let real = tmp.path().join("real");
        let place = StateDir::open(&real).unwrap();
        std::os::unix::fs::symlink(&real, tmp.path().join("link")).unwrap();
        assert_eq!(StateDir::open(&tmp.path().join("link")).unwrap(), place);
    }
}
