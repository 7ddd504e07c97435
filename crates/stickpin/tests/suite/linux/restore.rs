//! `session restore` of a desktop app: the app is started again after a `kill -9` of the daemon, or
//! after a restart of the machine.

use crate::support::shared::PYTHON;
use crate::support::{World, kill_daemon, reboot};
use stickpin_testkit::{desktop, workspace_root};

#[test]
fn app_is_started_again_after_kill_9_and_says_what_is_lost() {
    starts_again_after(|world| {
        kill_daemon(world);
        true
    });
}

/// F18 on a desktop.
#[test]
fn app_is_started_again_after_a_reboot_and_says_what_is_lost() {
    starts_again_after(reboot);
}

/// Restores an app after `end`, which simulates the end of its daemon or, if that is impossible
/// here, prints the reason and returns false.
fn starts_again_after(end: impl Fn(&World) -> bool) {
    if desktop(&["python3"]).is_none() {
        return;
    }
    let world = World::new();
    let log = world.path().join("log");
    let script = workspace_root().join("fixtures/linux/widgets/app.py");
    let app = format!("linux:{PYTHON} -B {} 3 {} fields", script.display(), log.display());
    let open = ["--session", "form", "open", &app, "--private", "-i"];
    let opened = world.run(&open);
    assert_eq!(opened.code, 0, "{opened:?}");
    world.ok("--session form fill label=Name Grace");
    let snapshot = world.ok("--session form snapshot -i");
    assert!(snapshot.contains("Grace"), "{snapshot}");
    let stale =
        snapshot.lines().find_map(|line| line.contains("\"Name\"").then(|| line.trim())).expect("a field");
    let stale = stale.split_whitespace().find(|word| word.starts_with('@')).expect("a ref").to_owned();

    if !end(&world) {
        return;
    }
    let list = world.run(&["session", "list", "--json"]).json();
    assert_eq!(list["output"]["sessions"][0]["state"], "restorable", "{list}");

    let restored = world.run(&["session", "restore", "form", "--json"]).json();
    let output = &restored["output"];
    assert_eq!((&output["action"], &output["lifetime"]), (&"restored".into(), &2.into()), "{restored}");
    let lost = output["lost"].to_string();
    assert!(lost.contains("refs") && lost.contains("unsaved changes"), "{restored}");
    let snapshot = world.ok("--session form snapshot -i");
    assert!(
        snapshot.contains("textbox \"Name\"") && !snapshot.contains("Grace"),
        "another process: {snapshot}"
    );
    let refused = world.run(&["--session", "form", "press", &stale]);
    assert!(refused.err.starts_with("REF_NOT_FOUND"), "{stale} is from the previous lifetime: {refused:?}");
    world.ok("--session form fill label=Name Ada");
    world.ok("--session form close");
}
