//! What opening an app on a private display waits for: programs that start late, but not programs
//! that have ended.

use super::life::signal;
use super::{desktop, soon, start};
use crate::bus::error::BusError;
use crate::bus::{AccessibilityBus, Addresses};
use rustix::process::Signal;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use stickpin_process::Process;
use tokio::time::Instant;

/// On a busy machine, programs start late. A program that has ended never becomes ready.
#[tokio::test]
async fn a_window_manager_that_ends_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let Some((mut private, _)) = desktop(dir.path()).await else { return };
    private.end().await.unwrap();
    let tools = tempfile::tempdir().unwrap();
    let path = std::env::var_os("PATH");
    let real =
        |program| stickpin_process::find_on_path(&[program], path.as_deref()).expect("it is installed");
    std::os::unix::fs::symlink(real("Xvfb"), tools.path().join("Xvfb")).unwrap();
    // After the window manager's last line and before its end, the bus writes a line too.
    let at = tools.path().display();
    let awaited = |what: &str| format!("until test -e {at}/{what}; do /bin/sleep 0.01; done");
    let bus = format!(
        "({}; echo a limit >&2; : >{at}/bus) &\nexec {} \"$@\"",
        awaited("manager"),
        real("dbus-daemon").display()
    );
    let manager = format!("echo no theme >&2; : >{at}/manager\n{}\nexit 3", awaited("bus"));
    for (name, text) in [("dbus-daemon", bus), ("openbox", manager)] {
        let program = tools.path().join(name);
        std::fs::write(&program, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let (dir, until) = (tempfile::tempdir().unwrap(), soon());
    let error = start(dir.path(), Some(tools.path().as_os_str()), until).await.unwrap_err();
    assert!(error.message.contains("openbox") && error.message.contains("exit status: 3"), "{error}");
    assert!(error.message.contains("no theme"), "{error}");
    assert!(Instant::now() < until, "its end was waited for");
    assert!(std::fs::read_dir(dir.path()).unwrap().next().is_none(), "nothing is left");
}

/// At a load of 14, the registry once took more than three seconds to start.
#[tokio::test]
async fn late_registry_answer_is_awaited_until_open_times_out() {
    let dir = tempfile::tempdir().unwrap();
    let Some((mut private, _)) = desktop(dir.path()).await else { return };
    let addresses = Addresses { session: Some(private.bus.clone()), ..Addresses::default() };
    let until = soon();
    let desktop = AccessibilityBus::connect(&addresses, Box::new(|_| {}), until).await.unwrap();
    assert!(desktop.running(until).await.unwrap().is_empty());
    let registry = Process::find_marked(&format!("XDG_RUNTIME_DIR={}", private.runtime().display()))
        .into_iter()
        .find(|process| {
            let name = std::fs::read_to_string(format!("/proc/{}/comm", process.pid));
            name.is_ok_and(|name| name.starts_with("at-spi2-registr"))
        });
    let pid = registry.expect("a registry").pid;
    signal(pid, Signal::STOP);
    let soon = Instant::now() + Duration::from_millis(100);
    let error = desktop.running(soon).await.unwrap_err();
    assert!(matches!(error, BusError::Silent(_)), "{error}");
    let late = async {
        tokio::time::sleep(Duration::from_millis(3_300)).await;
        signal(pid, Signal::CONT);
    };
    let (running, ()) = tokio::join!(desktop.running(until), late);
    assert_eq!(running, Ok(Vec::new()));
    drop(desktop);
    private.end().await.unwrap();
}
