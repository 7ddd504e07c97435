//! Folders that are replaced while they are removed.

#[path = "../../../../testkit/src/skip.rs"]
mod skip;

use super::*;
use std::cell::Cell;
use std::path::PathBuf;
use std::process::Command;

/// Returns a folder to remove, and a person's folder with a letter.
fn folders() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let (folder, person) = (dir.path().join("session"), dir.path().join("person"));
    std::fs::create_dir_all(folder.join("run/doc")).unwrap();
    std::fs::write(folder.join("run/file"), "").unwrap();
    std::fs::create_dir(&person).unwrap();
    std::fs::write(person.join("letter"), "").unwrap();
    (dir, folder, person)
}

/// Returns whether this test runs in its own mount namespace. If not, starts it there.
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
        skip::skipped("STICKPIN_REQUIRE_MOUNTS", "nothing may be mounted here");
        return false;
    }
    let test = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
    let again =
        unshared().arg(std::env::current_exe().unwrap()).args(["--exact", &test]).env(INSIDE, "1").output();
    let said = again.unwrap();
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success() && text.contains("1 passed"), "{text}");
    false
}

fn mount(words: &[&str], place: &Path) {
    let said = Command::new("mount").args(words).arg(place).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
}

/// Removes `folder`, while `place` becomes a mount point just after the check for mounts.
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
fn mount_during_removal_keeps_its_files() {
    if !has_own_mounts("mount_during_removal_keeps_its_files") {
        return;
    }
    // Another device; the same device, which the device number does not reveal; the folder itself.
    for (what, place) in [("tmpfs", "run/doc"), ("person", "run/doc"), ("person", "")] {
        let (_dir, folder, person) = folders();
        let place = if place.is_empty() { folder.clone() } else { folder.join(place) };
        let person_path = person.display().to_string();
        let words =
            if what == "tmpfs" { vec!["-t", "tmpfs", "tmpfs"] } else { vec!["--bind", &*person_path] };
        let said = removed_while_mounting(&folder, &words, &place);
        assert_eq!(said, format!("{} is a mount point", place.display()));
        assert!(person.join("letter").exists() && place.join("another").exists(), "{what} at {place:?}");
        let done = Command::new("umount").arg(&place).status().unwrap();
        assert!(done.success());
        remove_folder(&folder).unwrap();
        assert!(!folder.exists() && person.join("letter").exists());
    }
}

#[test]
fn link_is_removed_and_its_target_stays() {
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
fn folder_replaced_by_link_is_not_followed() {
    let (dir, folder, person) = folders();
    std::os::unix::fs::symlink(&person, folder.join("run/link")).unwrap();
    let run = rustix::fs::open(folder.join("run"), FOLDER, Mode::empty()).unwrap();
    // The entry became a link after its name was read.
    let path = folder.join("run/link");
    for opened in [
        (FolderEntry { parent: run.as_fd(), name: b"link", path: &path }).open_nofollow().map(drop),
        (FolderEntry { parent: run.as_fd(), name: b"link", path: &path }).open_on_same_mount().map(drop),
    ] {
        assert!(matches!(opened, Err(Errno::NOTDIR | Errno::LOOP | Errno::MLINK)), "{opened:?}");
    }
    // The open folder was moved away and replaced by a link: the removal affects the folder that
    // was opened.
    std::fs::rename(folder.join("run"), dir.path().join("moved")).unwrap();
    std::os::unix::fs::symlink(&person, folder.join("run")).unwrap();
    (FolderEntry { parent: run.as_fd(), name: b"link", path: &path }).remove(FileType::Directory).unwrap();
    assert!(person.join("letter").exists() && !dir.path().join("moved/link").is_symlink());
}

#[test]
fn failed_removal_is_named_and_absence_is_ok() {
    let (_dir, folder, _) = folders();
    remove_folder(&folder).unwrap();
    remove_folder(&folder).unwrap();
    remove_folder(&folder.join("below/nothing")).unwrap();
    assert_eq!(remove(Path::new("/")).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    let e = FolderEntry { parent: CWD, name: b"a", path: Path::new("/s/a") }.named_error(Errno::ACCESS);
    assert_eq!(e.kind(), io::ErrorKind::PermissionDenied);
    assert!(e.to_string().starts_with("/s/a: "), "{e}");
}
