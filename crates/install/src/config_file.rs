//! A configuration file that is replaced only if no other program has changed it in the meantime.

use crate::disk::{self, Disk, PRIVATE};
use crate::error::TargetError;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// A file as it was read.
#[derive(Debug)]
pub(crate) struct ConfigFile {
    /// The path, with links resolved.
    path: PathBuf,
    /// The content; `None` if there is no file.
    content: Option<String>,
    mode: u32,
    /// The user and the group that own an existing file.
    owner: Option<(u32, u32)>,
}

impl ConfigFile {
    /// Reads a file, which may be missing, and follows links. Fails for a dangling link.
    pub(crate) fn open(disk: &dyn Disk, path: &Path) -> Result<Self, TargetError> {
        let failed = |e: &std::io::Error| TargetError::io("read", path, e);
        let resolved = match fs::canonicalize(path) {
            Ok(resolved) => resolved,
            Err(e) if e.kind() == ErrorKind::NotFound => match fs::read_link(path) {
                Ok(target) => return Err(TargetError::DanglingLink(target)),
                Err(_) => path.to_owned(),
            },
            Err(e) => return Err(failed(&e)),
        };
        let bytes = disk.read(&resolved).map_err(|e| failed(&e))?;
        let (mode, owner) = match fs::metadata(&resolved) {
            Ok(found) => (found.permissions().mode() & 0o7777, Some((found.uid(), found.gid()))),
            Err(_) => (PRIVATE, None),
        };
        let content = bytes.map(String::from_utf8).transpose().map_err(|_| TargetError::NotUtf8)?;
        Ok(Self { path: resolved, content, mode, owner })
    }

    /// Returns the content, which is empty for a missing file.
    pub(crate) fn text(&self) -> &str {
        self.content.as_deref().unwrap_or_default()
    }

    /// Returns the content, or `None` if there is no file.
    pub(crate) fn content(&self) -> Option<&str> {
        self.content.as_deref()
    }

    /// Replaces the content. `announce` runs before the new file replaces the old one; if
    /// `announce` fails, the file is unchanged. Returns false, without replacing the file, if
    /// another program changed it in the meantime.
    pub(crate) fn replace(
        &self,
        disk: &dyn Disk,
        new: &str,
        announce: &mut dyn FnMut() -> Result<(), TargetError>,
    ) -> Result<bool, TargetError> {
        if self.content.is_some() && self.mode & 0o222 == 0 {
            return Err(TargetError::ReadOnly);
        }
        let failed = |tried_to: &str, e: &std::io::Error| TargetError::io(tried_to, &self.path, e);
        if let Some(folder) = self.path.parent() {
            disk::make_folder(folder, 0o755).map_err(|e| failed("create the folder of", &e))?;
        }
        let temporary = disk::temporary(&self.path);
        let replaced = (|| {
            disk.create(&temporary, new.as_bytes(), self.mode).map_err(|e| failed("write", &e))?;
            self.keep_owner(&temporary).map_err(|e| failed("keep the owner of", &e))?;
            announce()?;
            let now = disk.read(&self.path).map_err(|e| failed("read", &e))?;
            if now.as_deref() != self.content.as_deref().map(str::as_bytes) {
                return Ok(false);
            }
            disk.rename(&temporary, &self.path).map_err(|e| failed("replace", &e))?;
            Ok(true)
        })();
        if !matches!(replaced, Ok(true)) {
            disk::discard(disk, &temporary);
        }
        replaced
    }

    /// Gives a new file the owner of the old one: the program may run as root and edit a user's
    /// files.
    fn keep_owner(&self, new: &Path) -> std::io::Result<()> {
        let found = fs::metadata(new)?;
        match self.owner {
            Some((user, group)) if (user, group) != (found.uid(), found.gid()) => {
                std::os::unix::fs::chown(new, Some(user), Some(group))?;
                // A change of the owner may drop permissions.
                fs::set_permissions(new, fs::Permissions::from_mode(self.mode))
            }
            _ => Ok(()),
        }
    }
}
