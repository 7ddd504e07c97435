//! What happens to a browser when its daemon is killed, through the real binary.

use crate::support::{self, Ran, World, eventually, kill_daemon};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use stickpin_testkit::skipped;

/// Returns the processes whose command line names our state directory.
fn browsers(world: &World) -> Vec<String> {
    let dir = std::fs::canonicalize(world.state_dir()).unwrap().join("live").display().to_string();
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
fn killed_daemon_leaves_no_browser_or_profile() {
    let world = World::new();
    let opened = world.run(&["open", "about:blank"]);
    if opened.err.starts_with("TOOL_MISSING") {
        skipped("STICKPIN_REQUIRE_CHROMIUM", opened.err);
        return;
    }
    assert_eq!(opened.code, 0, "{opened:?}");
    assert!(!browsers(&world).is_empty());
    kill_daemon(&world);
    assert_eq!(world.run(&["session", "list"]).code, 0);
    eventually("the browser is gone", || browsers(&world).is_empty());
    eventually("its profile is gone", || {
        std::fs::read_dir(world.state_dir().join("live")).unwrap().next().is_none()
    });
    world.ok("open about:blank");
}

/// Returns a process of the browser by its type: `--type=renderer`, or the browser itself.
fn process(world: &World, kind: Option<&str>) -> Option<u32> {
    browsers(world).into_iter().filter_map(|pid| pid.parse().ok()).find(|pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        match kind {
            Some(kind) => line.contains(kind),
            None => line.contains("--user-data-dir") && !line.contains("--type="),
        }
    })
}

#[test]
fn recording_survives_a_killed_browser_and_renderer() {
    for (kind, end) in [(None, "record stop kept.ad"), (Some("--type=renderer"), "close --save=kept.ad")] {
        let world = World::new();
        let page = world.path().join("page.html");
        std::fs::write(&page, "<!doctype html><title>T</title><button>One</button><button>Two</button>")
            .unwrap();
        let opened = world.run(&["open", &page.display().to_string(), "--record"]);
        if opened.err.starts_with("TOOL_MISSING") {
            skipped("STICKPIN_REQUIRE_CHROMIUM", opened.err);
            return;
        }
        assert_eq!(opened.code, 0, "{opened:?}");
        world.ok("press text=One");
        let pid = process(&world, kind).expect("a process");
        world.signal("-KILL", pid);
        // Unacknowledged or refused, whichever happens first: a command that was not executed is
        // not in the script.
        let second = world.run(&["press", "text=Two"]);
        let ended = world.run(&support::words(end));
        assert_eq!(ended.code, 0, "{kind:?}: {ended:?}");
        let script = std::fs::read_to_string(world.path().join("shop/kept.ad")).unwrap();
        assert!(script.contains("label=One"), "{kind:?}: {script}");
        assert_eq!(script.contains("label=Two"), second.code == 0, "{kind:?}: {second:?}\n{script}");
    }
}

/// A private display.
struct Display {
    server: Child,
    name: String,
}

impl Display {
    /// Starts a display. Returns `None`, with a message on stderr, without Xvfb.
    fn start() -> Option<Self> {
        let mut command = Command::new("Xvfb");
        // The server chooses a free number, and reports it when it is ready.
        command.args(["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"]);
        let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut server = match started {
            Ok(server) => server,
            Err(e) => {
                skipped(
                    "STICKPIN_REQUIRE_DESKTOP",
                    format!("no Xvfb ({e}); `cargo xtask setup` installs it"),
                );
                return None;
            }
        };
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        assert!(!number.trim().is_empty(), "Xvfb did not start");
        Some(Self { server, name: format!(":{}", number.trim()) })
    }

    fn end(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // The server may have ended already.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn a_browser_with_a_window() {
    let Some(mut display) = Display::start() else { return };
    let world = World::new();
    let run = |args: &[&str]| -> Ran {
        world.command(args).env("DISPLAY", &display.name).output().expect("it runs").into()
    };
    let page = world.path().join("page.html");
    let html = "<!doctype html><title>Seen</title><label>Name <input></label>
        <button onclick=\"document.title = document.querySelector('input').value\">Save</button>";
    std::fs::write(&page, html).unwrap();
    let page = page.display().to_string();
    let opened = run(&["open", &page, "--headed"]);
    if opened.err.starts_with("TOOL_MISSING") {
        skipped("STICKPIN_REQUIRE_CHROMIUM", opened.err);
        return;
    }
    assert_eq!(opened.code, 0, "{opened:?}");
    for words in [
        &["fill", "label=Name", "Ada"][..],
        &["press", "text=Save"],
        &["wait", "fn", "document.title === 'Ada'"],
    ] {
        let ran = run(words);
        assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
    }
    let picture = world.path().join("shot.png").display().to_string();
    assert_eq!(run(&["screenshot", &picture]).code, 0);
    assert!(std::fs::metadata(&picture).unwrap().len() > 500);
    // The browser is on that display: it ends with the display, and the error says so.
    display.end();
    let mut lost = None;
    eventually("the browser is gone", || {
        let ran = world.run(&["get", "title"]);
        let gone = ran.code != 0;
        lost = Some(ran);
        gone
    });
    let lost = lost.unwrap();
    assert!(lost.err.contains("open"), "{lost:?}");
    // Without a display there is no window; headless sessions continue.
    let refused = world.run(&["open", &page, "--headed"]);
    assert!(
        refused.err.starts_with("BACKEND_LOST") && refused.err.contains("needs a display"),
        "{refused:?}"
    );
    let opened = world.run(&["open", &page]);
    assert_eq!(opened.code, 0, "{opened:?}");
    assert_eq!(world.ok("get title").trim(), "Seen");
}
