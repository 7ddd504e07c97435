//! Bad input through the real binary, on the simulated device: each is answered with its error
//! code, its exit code and a hint, nothing is sent or lost, and the session continues. Sockets,
//! state directories and full disks are in `daemon.rs`, clients that disconnect midway and other
//! callers of the daemon in `sessions.rs`, pages in `web/bad_input/`.

use crate::support::{Ran, World};
use serde_json::{Value, json};

fn opened(app: &str) -> World {
    let world = World::new();
    world.ok(&format!("open {app}"));
    world
}

/// Returns the error of a command that fails before anything is sent. The text output states the
/// same, with the hint.
#[track_caller]
fn refused(world: &World, words: &[&str], code: &str, exit: i32) -> Value {
    let mut words = words.to_vec();
    let text: Ran = world.run(&words);
    assert_eq!(text.code, exit, "{words:?}: {text:?}");
    let mut lines = text.err.lines();
    assert!(lines.next().is_some_and(|l| l.starts_with(&format!("{code}: "))), "{words:?}: {text:?}");
    assert!(lines.next().is_some_and(|l| !l.is_empty()), "{words:?} has no hint: {text:?}");
    words.insert(0, "--json");
    let error = world.run(&words).json()["error"].clone();
    assert_eq!(error["code"], code, "{words:?}: {error}");
    assert_eq!(error["dispatched"], "no", "{words:?}: {error}");
    error
}

#[test]
fn selectors_that_cannot_be_read() {
    let world = opened("sim:signin");
    let before = world.ok("snapshot -i");
    for bad in [
        "colour=red",
        "lable=\"Email\"",
        "label=\"Email",
        "role=button nth=0",
        "in(role=list",
        "role=nonsense",
        "nth=x",
        "=x",
    ] {
        let error = refused(&world, &["press", bad], "INVALID_ARGS", 2);
        assert!(error["message"].as_str().is_some_and(|m| m.len() < 300), "{error}");
    }
    // The error for an unknown key has an example that works.
    let error = refused(&world, &["press", "lable=\"Email\""], "INVALID_ARGS", 2);
    assert!(format!("{error}").contains("label="), "{error}");
    refused(&world, &["press", "css=\"#x\""], "UNSUPPORTED", 1);
    let after = world.ok("snapshot -i");
    let body = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(body(&before), body(&after));
}

#[test]
fn sessions_that_are_not_there_or_not_ours() {
    let world = opened("sim:signin");
    refused(&world, &["--session", "nobody", "snapshot"], "SESSION_NOT_FOUND", 6);
    refused(&world, &["--session", "nobody", "close"], "SESSION_NOT_FOUND", 6);
    let name = world.run(&["get", "title", "--json"]).json()["session"].as_str().unwrap().to_owned();
    // Another project is another caller.
    let other = world.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let run = |words: &[&str]| Ran::from(world.command(words).current_dir(&other).output().unwrap());
    for extra in [&[][..], &["--relaunch"]] {
        let words: Vec<&str> =
            ["--session", &name, "open", "sim:shop"].iter().chain(extra).copied().collect();
        let ran = run(&words);
        assert_eq!(ran.code, 5, "{ran:?}");
        assert!(ran.err.starts_with("SESSION_EXISTS: ") && ran.err.contains("--session"), "{ran:?}");
    }
    assert!(world.ok("get title").contains("Sign in"), "it was not taken over");
}

#[test]
fn targets_that_vanish_are_covered_or_take_no_text() {
    let world = opened("sim:signin?fault=vanish-before-act");
    let all = world.ok("snapshot -i");
    let line = all.lines().find(|l| l.contains(" button ")).unwrap().trim();
    let (button, _) = line.split_once(' ').unwrap();
    let ran = world.run(&["press", button, "--json"]).json();
    assert_eq!(ran["error"]["code"], "STALE_REF", "{ran}");
    assert_eq!(ran["error"]["details"]["reason"], "gone", "{ran}");
    assert_eq!(ran["error"]["dispatched"], "no", "{ran}");
    assert!(world.ok("get title").contains("Sign in"));

    world.ok("open sim:signin?fault=cover-before-act --relaunch");
    refused(&world, &["press", "role=button nth=1"], "ELEMENT_COVERED", 1);
    world.ok("open sim:signin --relaunch");
    for words in
        [&["fill", "role=button nth=1", "text"][..], &["type", "text", "--into", "role=button nth=1"]]
    {
        refused(&world, words, "INVALID_ARGS", 2);
    }
    assert!(!world.ok("snapshot").contains("text\""), "nothing was typed");
}

#[test]
fn an_app_that_dies_in_the_middle_of_an_act() {
    let world = opened("sim:signin?fault=lost");
    let ran = world.run(&["press", "role=button nth=1", "--json"]);
    assert_eq!(ran.code, 12, "{ran:?}");
    let error = ran.json()["error"].clone();
    assert_eq!(
        (&error["code"], &error["dispatched"]),
        (&json!("BACKEND_LOST"), &json!("unknown")),
        "{error}"
    );
    let next = world.run(&["snapshot", "--json"]);
    assert_eq!(next.code, 12, "the exit code says why the session is gone: {next:?}");
    world.ok("open sim:signin");
    assert!(world.ok("get title").contains("Sign in"));
}

#[test]
fn missing_browser_error_names_the_install_command() {
    let world = World::new();
    let output =
        world.command(&["open", "about:blank"]).env("STICKPIN_CHROMIUM", "/nowhere/chromium").output();
    let ran = Ran::from(output.unwrap());
    assert_eq!(ran.code, 12, "{ran:?}");
    assert!(ran.err.starts_with("TOOL_MISSING: ") && ran.err.contains("STICKPIN_CHROMIUM"), "{ran:?}");
    world.ok("open sim:signin");
}
