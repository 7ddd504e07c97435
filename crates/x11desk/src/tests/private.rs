//! A private display starts with everything that an app needs and leaves nothing behind.

use super::probes::processes;
use super::{address, connect, desktop, soon, start};
use crate::X11;
use crate::private::{Home, PrivateDisplay};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use stickpin_device::{CancellationToken, Error, ErrorCode};
use stickpin_process::{Process, sweep};

#[tokio::test]
async fn what_is_started_ends_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut private) = desktop(dir.path()).await else { return };
    let runtime = private.runtime();
    let mode = std::fs::metadata(&runtime).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    // An app that leaves its group and outlives its parent.
    let mut command = private.command(std::path::Path::new("/bin/sh"));
    command.args(["-c", "setsid sleep 300 >/dev/null 2>&1 & echo started"]);
    let out = command.output().await.unwrap();
    assert_eq!(out.stdout, b"started\n");
    let running = processes(&private);
    assert!(running.len() >= 3, "{running:?}");
    drop(connect(&private).await);
    private.end().await.unwrap();
    for process in &running {
        for _ in 0..500 {
            if !process.is_alive() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert!(!process.is_alive(), "{process:?}");
    }
    assert!(!runtime.parent().unwrap().is_symlink());
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn what_a_killed_owner_left_is_swept() {
    let dir = tempfile::tempdir().unwrap();
    let Some(private) = desktop(dir.path()).await else { return };
    let runtime = private.runtime();
    let running = processes(&private);
    // As if this process had been killed: nothing ends what it started, and its record names a
    // process that is gone.
    let record = dir.path().join("processes.json");
    let text = std::fs::read_to_string(&record).unwrap();
    assert!(sweep(dir.path()).unwrap().is_empty(), "its owner lives");
    let us = Process::find(std::process::id()).unwrap();
    let owner = format!("\"owner\":{{\"pid\":{},", us.pid);
    assert!(text.contains(&owner), "{text}");
    std::fs::write(&record, text.replace(&owner, "\"owner\":{\"pid\":4194303,")).unwrap();
    let swept = sweep(dir.path()).unwrap();
    assert!(swept.iter().filter(|s| s.starts_with("ended")).count() >= 3, "{swept:?}");
    for process in &running {
        for _ in 0..500 {
            if !process.is_alive() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert!(!process.is_alive(), "{process:?}");
    }
    assert!(!runtime.parent().unwrap().is_symlink());
}

#[tokio::test]
async fn two_of_them_are_apart() {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let (one, two) = tokio::join!(desktop(dirs[0].path()), desktop(dirs[1].path()));
    let (Some(mut one), Some(mut two)) = (one, two) else { return };
    assert_ne!(one.display, two.display);
    assert_ne!(one.bus, two.bus);
    // Access requires the cookie, and the cookie of the other display is not valid.
    let mut address = address(&one, false);
    address.cookie = two.address().cookie;
    let refused = X11::connect(address, soon()).await.unwrap_err();
    assert!(refused.message.contains(&one.display), "{refused}");
    one.end().await.unwrap();
    drop(connect(&two).await);
    two.end().await.unwrap();
}

/// On a busy machine, programs start late. A program that has ended never becomes ready.
#[tokio::test]
async fn a_part_that_ends_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut private) = desktop(dir.path()).await else { return };
    let runs = tokio::time::timeout(Duration::from_millis(50), private.wait_for_failure()).await;
    assert!(runs.is_err(), "nothing has ended: {runs:?}");
    // The bus daemon is found by the name of its process.
    let bus = processes(&private).into_iter().find(|process| {
        let name = std::fs::read_to_string(format!("/proc/{}/comm", process.pid));
        name.is_ok_and(|name| name.trim() == "dbus-daemon")
    });
    stickpin_process::kill_one(bus.expect("a bus").pid);
    let error = tokio::time::timeout(Duration::from_secs(20), private.wait_for_failure())
        .await
        .expect("it is heard of");
    assert_eq!(error.code, ErrorCode::BackendLost);
    assert!(error.message.contains("dbus-daemon") && error.message.contains("signal: 9"), "{error}");
    private.end().await.unwrap();
}

#[tokio::test]
async fn missing_programs_are_named_with_their_packages() {
    let dir = tempfile::tempdir().unwrap();
    let error = start(dir.path(), None).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::ToolMissing);
    assert!(error.message.contains("Xvfb, dbus-daemon, openbox"), "{error}");
    assert_eq!(error.hint, "run `apt install xvfb dbus openbox at-spi2-core`");
    assert!(std::fs::read_dir(dir.path()).unwrap().next().is_none());
}

/// Starts a display whose programs cannot run, and returns the error. Checks that no link to `dir`
/// is left.
async fn failed_start(dir: &std::path::Path, home: Home) -> Error {
    let tools = tempfile::tempdir().unwrap();
    for name in ["Xvfb", "dbus-daemon", "openbox"] {
        let path = tools.path().join(name);
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    let (path, cancel) = (Some(tools.path().as_os_str()), CancellationToken::new());
    let error = PrivateDisplay::start(dir, home, None, path, soon(), &cancel).await.unwrap_err();
    let links =
        std::fs::read_dir(std::env::temp_dir()).unwrap().filter_map(|e| e.unwrap().path().read_link().ok());
    assert_eq!(links.filter(|target| target == dir).count(), 0, "{error}");
    error
}

#[tokio::test]
async fn home_that_cannot_be_made_leaves_nothing() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::NamedTempFile::new().unwrap());
    let error = failed_start(dir.path(), Home::profile(other.path().join("home"))).await;
    assert_eq!(error.code, ErrorCode::Io);
    assert!(std::fs::read_dir(dir.path()).unwrap().next().is_none());
}

/// The folder itself cannot be removed either, and the error is still the first one.
#[tokio::test]
async fn folder_that_cannot_be_made_leaves_no_link() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = failed_start(file.path(), Home::temporary(file.path())).await;
    assert_eq!(error.code, ErrorCode::Io);
    assert!(error.message.starts_with("could not create"), "{error}");
}
