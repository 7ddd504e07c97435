//! Secrets exist only in the process that received them.

use crate::support::{World, eventually};
use std::process::Stdio;
use stickpin_testkit::skipped;

const VALUE: &str = "tok-8d21f0b7a6c4";

/// Variables that contain secrets, and one that does not.
const SURROUNDINGS: &[(&str, &str)] =
    &[("STICKPIN_SECRET_SHOP", VALUE), ("STICKPIN_MCP_TOKEN", VALUE), ("STICKPIN_VAR_CITY", "Graz")];

/// Returns the environments of the daemon and of its descendants.
fn environments(world: &World) -> Vec<String> {
    let daemon = world.pid().expect("a daemon");
    let mut family = vec![daemon.to_string()];
    let parent = |pid: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1).map(str::to_owned)
    };
    let all = || {
        let entries = std::fs::read_dir("/proc").expect("processes").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    for _ in 0..4 {
        let children = all().into_iter().filter(|pid| parent(pid).is_some_and(|of| family.contains(&of)));
        let fresh: Vec<String> = children.filter(|pid| !family.contains(pid)).collect();
        family.extend(fresh);
    }
    let read = |pid: &String| std::fs::read(format!("/proc/{pid}/environ")).ok();
    family.iter().filter_map(read).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect()
}

#[test]
fn neither_daemon_nor_browser_has_secrets_in_its_environment() {
    let world = World::new();
    let mut open = world.command(&["open", "about:blank"]);
    let opened = open.envs(SURROUNDINGS.iter().copied()).output().expect("it runs");
    let said = String::from_utf8_lossy(&opened.stderr).into_owned();
    if said.starts_with("TOOL_MISSING") {
        skipped("STICKPIN_REQUIRE_CHROMIUM", said);
        return;
    }
    assert!(opened.status.success(), "{said}");
    let environments = environments(&world);
    assert!(environments.len() > 2, "the browser has processes of its own");
    assert!(environments[0].contains("Graz"), "it was read: {}", environments[0]);
    for environment in environments {
        assert!(!environment.contains(VALUE), "{environment}");
    }
}

#[test]
fn a_daemon_that_is_started_by_hand_forgets_them() {
    let world = World::new();
    let mut run = world.command(&["daemon", "run"]);
    run.envs(SURROUNDINGS.iter().copied()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut daemon = run.spawn().expect("it runs");
    eventually("it listens", || world.pid() == Some(daemon.id()));
    for environment in environments(&world) {
        assert!(environment.contains("Graz") && !environment.contains(VALUE), "{environment}");
    }
    world.ok("daemon stop");
    daemon.wait().expect("it ended");
}
