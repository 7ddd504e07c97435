//! What becomes of a browser when its daemon is killed, through the real binary.

#![cfg(all(feature = "web", target_os = "linux"))]

mod support;

use support::{World, eventually};

/// Processes that were started with something in our state dir.
fn browsers(world: &World) -> Vec<String> {
    let dir = std::fs::canonicalize(world.state_dir()).unwrap().join("sessions").display().to_string();
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        String::from_utf8_lossy(&line)
            .contains(&dir)
            .then(|| entry.file_name().to_string_lossy().into_owned())
    })
    .collect()
}

#[test]
fn a_browser_and_its_profile_do_not_outlive_a_daemon_that_is_killed() {
    let world = World::new();
    let opened = world.run(&["open", "about:blank"]);
    if opened.err.starts_with("TOOL_MISSING") {
        eprintln!("skipped: {}", opened.err);
        return;
    }
    assert_eq!(opened.code, 0, "{opened:?}");
    assert!(!browsers(&world).is_empty());
    world.signal("-KILL", world.pid().unwrap());
    eventually("the daemon is gone", || world.pid().is_none());
    assert_eq!(world.run(&["session", "list"]).code, 0);
    eventually("the browser is gone", || browsers(&world).is_empty());
    eventually("its profile is gone", || {
        std::fs::read_dir(world.state_dir().join("sessions")).unwrap().next().is_none()
    });
    world.ok("open about:blank");
}
