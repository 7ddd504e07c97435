//! Unmounting file systems in a folder before it is removed. The document portal, for example,
//! mounts one in its runtime folder.
//!
//! Removing files through a mount would delete from the mounted file system, which may contain a
//! person's files. A mount whose program was killed also keeps its folder from being removed. If
//! something stays mounted, nothing is removed.

use crate::remove::parent_and_name;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The programs that unmount without root privileges.
const UNMOUNTERS: [&str; 2] = ["fusermount3", "fusermount"];

/// Unmounts everything in and on a folder.
///
/// # Errors
/// Returns an error when something stays mounted, or when the mount table cannot be read.
pub(crate) fn unmount_all(folder: &Path) -> io::Result<()> {
    unmount_all_with(folder, mount_table, unmount)
}

fn unmount_all_with(
    folder: &Path,
    table: impl Fn() -> io::Result<Vec<u8>>,
    unmount: impl Fn(&Path),
) -> io::Result<()> {
    // Paths in the mount table contain no links. A link with this name is not followed.
    let (above, name) = parent_and_name(folder)?;
    let folder = match above.canonicalize() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        above => above?.join(name),
    };
    mounts_below(&table()?, &folder).iter().for_each(|mount| unmount(mount));
    match mounts_below(&table()?, &folder).first() {
        None => Ok(()),
        Some(left) => Err(io::Error::other(format!("cannot unmount {}", left.display()))),
    }
}

/// Returns the kernel's mount table; empty if the platform has no such file.
fn mount_table() -> io::Result<Vec<u8>> {
    match std::fs::read("/proc/self/mountinfo") {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        table => table,
    }
}

/// Returns the mounts in and on a folder, the last one first because it may be inside another. The
/// fifth field of a line is the mount point, according to `proc_pid_mountinfo(5)`.
fn mounts_below(table: &[u8], folder: &Path) -> Vec<PathBuf> {
    let places = table.split(|&b| b == b'\n').filter_map(|line| line.split(|&b| b == b' ').nth(4));
    let paths = places.map(|place| PathBuf::from(OsString::from_vec(unescape(place))));
    let mut all: Vec<PathBuf> = paths.filter(|path| path.starts_with(folder)).collect();
    all.reverse();
    all
}

/// Decodes a path from the mount table, in which white space and backslashes are written as three
/// octal digits.
fn unescape(mut escaped: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(escaped.len());
    while let Some((&byte, rest)) = escaped.split_first() {
        let digits = rest.get(..3).filter(|_| byte == b'\\').and_then(|d| std::str::from_utf8(d).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                path.push(byte);
                escaped = &rest[3..];
            }
            None => {
                path.push(byte);
                escaped = rest;
            }
        }
    }
    path
}

/// Unmounts one file system even if it is in use. The mount table shows afterwards whether that
/// worked.
fn unmount(mount: &Path) {
    for program in UNMOUNTERS {
        let mut command = Command::new(program);
        command.args(["-u", "-z", "--"]).arg(mount);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.status() {
            Ok(status) if status.success() => return,
            said => tracing::debug!(?said, mount = %mount.display(), "{program} did not unmount it"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn mounts_are_found_innermost_first() {
        let table = b"22 1 0:21 / /proc rw - proc proc rw\n\
            30 22 0:44 / /s/r/doc rw,nosuid - fuse.portal portal rw\n\
            31 30 0:45 / /s/r/doc/a\\040b\\134c rw - fuse x rw\n\
            32 22 0:46 / /s/runner rw - tmpfs x rw\n\
            33 22 0:47 / /s/r rw - tmpfs x rw\n\
            cut";
        let found = mounts_below(table, Path::new("/s/r"));
        assert_eq!(found, [Path::new("/s/r"), Path::new("/s/r/doc/a b\\c"), Path::new("/s/r/doc")]);
        assert_eq!(unescape(b"a\\9\\0"), b"a\\9\\0");
    }

    #[test]
    fn remaining_mount_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let mounts = RefCell::new(vec![folder.join("a"), folder.join("a/b")]);
        let table = || {
            let line = |path: &PathBuf| format!("1 2 3:4 / {} rw - fuse x rw\n", path.display());
            Ok(mounts.borrow().iter().map(line).collect::<String>().into_bytes())
        };
        let said = unmount_all_with(&folder, table, |_| {}).unwrap_err().to_string();
        assert!(said.contains(&folder.join("a/b").display().to_string()), "{said}");
        unmount_all_with(&folder, table, |mount| mounts.borrow_mut().retain(|path| path != mount)).unwrap();
        unmount_all_with(&folder.join("no/thing"), || Err(io::Error::other("not asked")), |_| {}).unwrap();
    }

    #[test]
    fn mount_behind_a_link_stays() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let (person, link) = (dir.join("person"), dir.join("link"));
        std::fs::create_dir_all(person.join("doc")).unwrap();
        std::os::unix::fs::symlink(&person, &link).unwrap();
        let table =
            || Ok(format!("1 2 3:4 / {} rw - fuse x rw\n", person.join("doc").display()).into_bytes());
        let never = |mount: &Path| panic!("{} is somebody else's", mount.display());
        unmount_all_with(&link, table, never).unwrap();
        let seen = RefCell::new(Vec::new());
        unmount_all_with(&link.join("doc"), table, |mount| seen.borrow_mut().push(mount.to_owned()))
            .unwrap_err();
        assert_eq!(*seen.borrow(), [person.join("doc")], "a link on the way is none to remove");
    }

    #[test]
    fn mount_table_lists_current_mounts() {
        let table = mount_table().unwrap();
        assert!(table.is_empty() || !mounts_below(&table, Path::new("/")).is_empty());
    }
}
