//! Removing the folder of a session: that, and nothing of anybody else.
//!
//! Every folder is opened by its name in the one above it, which is open already. No link is followed and no mount is
//! entered, also none that came after somebody looked: a name that leads elsewhere now fails to open.

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// How a folder is opened.
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::RDONLY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Removes a folder whose owner may still be writing its last files. What is mounted in it is unmounted, and never
/// removed.
///
/// # Errors
/// Of the file system; when something stays mounted there: then everything is left. What is mounted meanwhile ends the
/// removal where it is.
pub fn remove_folder(folder: &Path) -> io::Result<()> {
    remove_with(folder, crate::mounts::free)
}

fn remove_with(folder: &Path, free: impl Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    let mut last = Ok(());
    for attempt in 0..5 {
        match free(folder).and_then(|()| remove(folder)) {
            Ok(()) => return Ok(()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) => last = Err(e),
        }
        std::thread::sleep(std::time::Duration::from_millis(20 << attempt));
    }
    last
}

/// Removes a folder and all that is in it, on its own file system only. A link or a file of that name goes itself.
fn remove(folder: &Path) -> io::Result<()> {
    let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it has no name"));
    };
    let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
    let above = rustix::fs::openat(CWD, above, FOLDER.difference(OFlags::NOFOLLOW), Mode::empty())?;
    Place { above: above.as_fd(), name: name.as_bytes(), path: folder }.remove(FileType::Unknown)
}

/// A name in an open folder; the path is for what is said.
struct Place<'a> {
    above: BorrowedFd<'a>,
    name: &'a [u8],
    path: &'a Path,
}

impl Place<'_> {
    fn remove(&self, kind: FileType) -> io::Result<()> {
        if !matches!(kind, FileType::Directory | FileType::Unknown) {
            return self.unlink(AtFlags::empty());
        }
        let folder = match self.open() {
            Ok(folder) => folder,
            // No folder, or no longer: what stands for it now goes, not what it leads to.
            Err(Errno::NOTDIR | Errno::LOOP | Errno::MLINK) => return self.unlink(AtFlags::empty()),
            Err(e) => return Err(self.said(e)),
        };
        let mut entries = Dir::new(folder).map_err(|e| self.said(e))?;
        while let Some(entry) = entries.read() {
            let entry = entry.map_err(|e| self.said(e))?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let above = entries.fd().map_err(|e| self.said(e))?;
            let path = self.path.join(OsStr::from_bytes(name.to_bytes()));
            match (Place { above, name: name.to_bytes(), path: &path }).remove(entry.file_type()) {
                // Somebody else removed it.
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                removed => removed?,
            }
        }
        self.unlink(AtFlags::REMOVEDIR)
    }

    /// The folder of this name, when it is on the file system of the one above.
    fn open(&self) -> Result<OwnedFd, Errno> {
        let folder = self.open_here()?;
        // Where the kernel was not asked to stay: another device is another file system.
        let device = |of: BorrowedFd<'_>| rustix::fs::fstat(of).map(|stat| stat.st_dev);
        if device(folder.as_fd())? == device(self.above)? { Ok(folder) } else { Err(Errno::XDEV) }
    }

    /// The kernel sees also what is mounted from the same device.
    #[cfg(target_os = "linux")]
    fn open_here(&self) -> Result<OwnedFd, Errno> {
        use rustix::fs::ResolveFlags;
        let stay = ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(self.above, self.name, FOLDER, Mode::empty(), stay) {
            // An old kernel, or one that was told to refuse what it does not know.
            Err(Errno::NOSYS | Errno::PERM) => self.open_plainly(),
            opened => opened,
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn open_here(&self) -> Result<OwnedFd, Errno> {
        self.open_plainly()
    }

    fn open_plainly(&self) -> Result<OwnedFd, Errno> {
        rustix::fs::openat(self.above, self.name, FOLDER, Mode::empty())
    }

    fn unlink(&self, flags: AtFlags) -> io::Result<()> {
        rustix::fs::unlinkat(self.above, self.name, flags).map_err(|e| self.said(e))
    }

    fn said(&self, e: Errno) -> io::Error {
        let kind = io::Error::from(e).kind();
        let path = self.path.display();
        match e {
            Errno::XDEV => io::Error::new(kind, format!("{path} is mounted there")),
            e => io::Error::new(kind, format!("{path}: {e}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::path::PathBuf;
    use std::process::Command;

    /// A folder to remove, and a person's folder with a letter.
    fn folders() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let (folder, person) = (dir.path().join("session"), dir.path().join("person"));
        std::fs::create_dir_all(folder.join("run/doc")).unwrap();
        std::fs::write(folder.join("run/file"), "").unwrap();
        std::fs::create_dir(&person).unwrap();
        std::fs::write(person.join("letter"), "").unwrap();
        (dir, folder, person)
    }

    /// Whether the test goes on here, with mounts of its own: it is run once more by itself for that.
    fn has_own_mounts(test: &str) -> bool {
        const INSIDE: &str = "STICKPIN_TEST_OWN_MOUNTS";
        if std::env::var_os(INSIDE).is_some() {
            return true;
        }
        let unshared = || {
            let mut command = Command::new("unshare");
            command.args(["--user", "--map-root-user", "--mount"]);
            command
        };
        let may = unshared().args(["mount", "-t", "tmpfs", "tmpfs", "/tmp"]).output();
        if !may.is_ok_and(|said| said.status.success()) {
            eprintln!("skipped: nothing may be mounted here");
            return false;
        }
        let test = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
        let again = unshared()
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", &test])
            .env(INSIDE, "1")
            .output();
        let said = again.unwrap();
        let text = String::from_utf8_lossy(&said.stdout);
        assert!(said.status.success() && text.contains("1 passed"), "{text}");
        false
    }

    fn mount(words: &[&str], place: &Path) {
        let said = Command::new("mount").args(words).arg(place).output().unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    }

    /// Removes `folder`, in which `place` becomes another file system when it was looked for mounts.
    fn removed_while_mounting(folder: &Path, words: &[&str], place: &Path) -> String {
        let looked = Cell::new(false);
        let free = |_: &Path| {
            if !looked.replace(true) {
                mount(words, place);
                std::fs::write(place.join("another"), "").unwrap();
            }
            Ok(())
        };
        remove_with(folder, free).unwrap_err().to_string()
    }

    #[test]
    fn a_mount_that_comes_during_the_removal_keeps_its_files() {
        if !has_own_mounts("a_mount_that_comes_during_the_removal_keeps_its_files") {
            return;
        }
        // Another device; the same device, which its number does not tell; the folder itself.
        for (what, place) in [("tmpfs", "run/doc"), ("person", "run/doc"), ("person", "")] {
            let (_dir, folder, person) = folders();
            let place = if place.is_empty() { folder.clone() } else { folder.join(place) };
            let person_path = person.display().to_string();
            let words =
                if what == "tmpfs" { vec!["-t", "tmpfs", "tmpfs"] } else { vec!["--bind", &*person_path] };
            let said = removed_while_mounting(&folder, &words, &place);
            assert_eq!(said, format!("{} is mounted there", place.display()));
            assert!(person.join("letter").exists() && place.join("another").exists(), "{what} at {place:?}");
            let done = Command::new("umount").arg(&place).status().unwrap();
            assert!(done.success());
            remove_folder(&folder).unwrap();
            assert!(!folder.exists() && person.join("letter").exists());
        }
    }

    #[test]
    fn a_link_goes_and_what_it_leads_to_stays() {
        let (_dir, folder, person) = folders();
        std::os::unix::fs::symlink(&person, folder.join("run/link")).unwrap();
        std::os::unix::fs::symlink(person.join("letter"), folder.join("run/letter")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.join("broken")).unwrap();
        remove_folder(&folder).unwrap();
        assert!(!folder.exists() && person.join("letter").exists());
        std::os::unix::fs::symlink(&person, &folder).unwrap();
        remove(&folder).unwrap();
        assert!(!folder.is_symlink() && person.join("letter").exists());
    }

    #[test]
    fn a_folder_that_became_a_link_is_not_followed() {
        let (dir, folder, person) = folders();
        std::os::unix::fs::symlink(&person, folder.join("run/link")).unwrap();
        let run = rustix::fs::open(folder.join("run"), FOLDER, Mode::empty()).unwrap();
        // As somebody who read the names before it was one.
        let path = folder.join("run/link");
        for opened in [
            (Place { above: run.as_fd(), name: b"link", path: &path }).open_plainly().map(drop),
            (Place { above: run.as_fd(), name: b"link", path: &path }).open_here().map(drop),
        ] {
            assert!(matches!(opened, Err(Errno::NOTDIR | Errno::LOOP | Errno::MLINK)), "{opened:?}");
        }
        // The open folder was moved away and a link stands for it: what is removed is what was opened.
        std::fs::rename(folder.join("run"), dir.path().join("moved")).unwrap();
        std::os::unix::fs::symlink(&person, folder.join("run")).unwrap();
        (Place { above: run.as_fd(), name: b"link", path: &path }).remove(FileType::Directory).unwrap();
        assert!(person.join("letter").exists() && !dir.path().join("moved/link").is_symlink());
    }

    #[test]
    fn what_cannot_be_removed_is_named_and_what_is_gone_is_no_error() {
        let (_dir, folder, _) = folders();
        remove_folder(&folder).unwrap();
        remove_folder(&folder).unwrap();
        remove_folder(&folder.join("below/nothing")).unwrap();
        assert_eq!(remove(Path::new("/")).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        let e = Place { above: CWD, name: b"a", path: Path::new("/s/a") }.said(Errno::ACCESS);
        assert_eq!(e.kind(), io::ErrorKind::PermissionDenied);
        assert!(e.to_string().starts_with("/s/a: "), "{e}");
    }
}
