//! Bad input on the desktop, through the real binary: missing parts of a desktop, apps that hang,
//! die, vanish in part or never start, and misplaced windows. Each ends in its own error within its
//! time limit, no input reaches another target, and the session or the next `open` continues.

use crate::support::shared::{PYTHON, Shared};
use crate::support::{Ran, World, eventually};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use stickpin_testkit::{desktop, workspace_root};

/// Returns the argument of `open` for an app of `fixtures/linux`.
fn our_app(app: &str, arguments: &str) -> String {
    let script = workspace_root().join("fixtures/linux").join(app).join("app.py");
    format!("linux:{PYTHON} -B {} {arguments}", script.display())
}

/// A misbehaving app on a private display.
struct Strange {
    world: World,
    log: PathBuf,
    flag: PathBuf,
}

impl Strange {
    fn open(kind: &str) -> Option<(Self, String)> {
        desktop(&[PYTHON])?;
        let world = World::new();
        let (log, flag) = (world.path().join("log"), world.path().join("flag"));
        let strange = Self { world, log, flag };
        let read = strange.again(kind);
        assert_eq!(read.code, 0, "{read:?}");
        Some((strange, read.out))
    }

    fn again(&self, kind: &str) -> Ran {
        let app = our_app("strange", &format!("{kind} {} {}", self.log.display(), self.flag.display()));
        self.world.run(&["open", &app, "--private", "-i"])
    }

    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    fn trip(&self) {
        std::fs::write(&self.flag, "").unwrap();
    }
}

#[track_caller]
fn failed(ran: &Ran, code: &str, exit: i32) {
    assert_eq!(ran.code, exit, "{ran:?}");
    let mut lines = ran.err.lines();
    assert!(lines.next().is_some_and(|l| l.starts_with(&format!("{code}: "))), "{ran:?}");
    assert!(lines.next().is_some_and(|l| !l.is_empty()), "it has no hint: {ran:?}");
}

#[test]
fn names_are_data_whatever_is_in_them() {
    let Some((app, read)) = Strange::open("names") else { return };
    for bad in ['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}', '\u{2066}', '\u{2028}', '\r'] {
        assert!(!read.contains(bad), "{bad:?} in {read:?}");
    }
    let lines: Vec<&str> = read.lines().filter(|l| l.contains(" button ")).collect();
    assert_eq!(lines.len(), 5, "a name does not begin a line: {read}");
    assert!(lines.iter().all(|l| l.starts_with('@') && l.chars().count() < 200), "{read}");
    // Text that looks like a ref is a name.
    let safe = lines.iter().find(|l| l.contains("Safe")).unwrap();
    assert!(!safe.starts_with("@e1~"), "{read}");
    let r#ref = safe.split_whitespace().next().unwrap();
    app.world.ok(&format!("press {}", r#ref));
    assert_eq!(app.log(), "did @e1~s999999 button \"\n");
    let json = app.world.run(&["--json", "find", "role=button"]);
    assert_eq!(json.code, 0, "{json:?}");
    assert!(json.json()["ok"].as_bool().unwrap());
}

#[test]
fn an_object_that_vanishes_while_it_is_read_is_left_out() {
    let Some((app, read)) = Strange::open("vanishes") else { return };
    assert!(read.contains("\"One\"") && read.contains("\"Three\"") && !read.contains("Two"), "{read}");
    app.world.ok("press label=Three");
    let ran = app.world.run(&["press", "label=Two"]);
    failed(&ran, "ELEMENT_NOT_FOUND", 1);
    assert_eq!(app.log(), "did Three\n");
}

#[test]
fn of_a_thousand_million_cells_those_that_can_be_seen_are_read() {
    let since = Instant::now();
    let Some((app, _)) = Strange::open("sheet") else { return };
    let read = app.world.ok("snapshot");
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
    assert!(read.contains("cell \"4x2\"") && read.lines().count() < 200, "{read}");
    assert_eq!(app.log(), "", "the app is never asked for all cells");
}

#[test]
fn an_app_that_hangs_while_it_is_read_does_not_hold_up_others() {
    let Some((app, _)) = Strange::open("hangs") else { return };
    app.trip();
    let since = Instant::now();
    failed(&app.world.run(&["snapshot", "-i"]), "TIMEOUT", 3);
    let press = app.world.run(&["press", "label=One", "--json"]);
    assert_eq!((press.code, &press.json()["error"]["dispatched"]), (3, &"no".into()), "{press:?}");
    assert!(since.elapsed() < Duration::from_secs(12), "{:?}", since.elapsed());
    assert_eq!(app.log(), "");
    let other = our_app("strange", &format!("names {}", app.log.display()));
    let ran = app.world.run(&["--session", "other", "open", &other, "--private"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    app.world.ok("close");
    std::fs::remove_file(&app.flag).unwrap();
    assert_eq!(app.again("hangs").code, 0);
    app.world.ok("press label=One");
    assert_eq!(app.log(), "did One\n");
}

#[test]
fn an_app_that_dies_while_it_is_read_is_lost_with_its_exit_code() {
    let Some((app, _)) = Strange::open("dies") else { return };
    app.trip();
    let ran = app.world.run(&["snapshot", "-i"]);
    failed(&ran, "BACKEND_LOST", 12);
    assert!(ran.err.contains("exit status: 3"), "{ran:?}");
    std::fs::remove_file(&app.flag).unwrap();
    assert_eq!(app.again("dies").code, 0);
    app.world.ok("press label=One");
    assert_eq!(app.log(), "did One\n");
}

/// Qt does not report which of its choosers overwrites the chosen file.
#[test]
fn a_chooser_of_qt_to_save_in_gets_no_file() {
    if desktop(&[PYTHON]).is_none() {
        return;
    }
    let world = World::new();
    let log = world.path().join("log");
    let script = workspace_root().join("fixtures/linux/widgets/qt.py");
    world.ok(&format!("open 'linux:{PYTHON} -B {} {} files' --private", script.display(), log.display()));
    let wrote = || std::fs::read_to_string(&log).unwrap_or_default();
    for title in ["Save as", "Sichern"] {
        let target = format!("label={title:?}");
        let ran = world.run(&["upload", &target, &a_file()]);
        failed(&ran, "INVALID_ARGS", 2);
        assert!(
            ran.err.contains("saves a file") && ran.err.contains("was closed with nothing chosen"),
            "{ran:?}"
        );
        // An open chooser keeps the name that it suggests.
        world.ok(&format!("press '{target}' --settle"));
        let ran = world.run(&["upload", "role=dialog", &a_file()]);
        failed(&ran, "INVALID_ARGS", 2);
        assert!(ran.err.contains("saves a file"), "{ran:?}");
        assert!(world.ok("get value 'label=\"File name:\" role=textbox'").contains("draft.txt"));
        world.ok("key Escape");
    }
    eventually("all are closed", || wrote() == "chosen -\n".repeat(4));
    world.ok(&format!("upload 'label=\"Open any\"' {}", a_file()));
    eventually("the app has the file", || wrote() == "chosen -\n".repeat(4) + "chosen qt.py\n");
}

/// The focused window receives the keys; a chooser that closes itself passes the focus to another
/// window.
#[test]
fn keys_for_a_file_chooser_reach_no_window_that_takes_its_place() {
    for (kind, code, says) in [
        ("closes", "ELEMENT_NOT_FOUND", "the window \"Attach\" closed before the key \"Enter\""),
        (
            "covers",
            "ELEMENT_COVERED",
            "the window \"Sure?\" receives the keys meant for the window \"Attach\"",
        ),
        ("menus", "ELEMENT_COVERED", "a pop-up window receives the keys meant for the window \"Attach\""),
    ] {
        let Some((app, _)) = Strange::open(kind) else { return };
        let ran = app.world.run(&["upload", "label=Attach", &a_file()]);
        assert_eq!(app.log(), "did Attach\nwrote qt.py\nchanged\n", "no window got a key: {ran:?}");
        failed(&ran, code, 1);
        assert!(ran.err.contains(says), "{ran:?}");
    }
}

/// GTK 4 performs a press with a delay of 250 ms. By then the button may be a different one, which
/// a second press must not reach.
#[test]
fn button_that_became_another_is_not_pressed_by_old_ref() {
    if desktop(&[PYTHON]).is_none() {
        return;
    }
    let world = World::new();
    let log = world.path().join("log");
    let read = world
        .ok(&format!("open '{}' --private -i", our_app("widgets", &format!("4 {} turns", log.display()))));
    let line = read.lines().find(|line| line.contains("button \"Save\"")).expect("a button");
    let save = line.split_whitespace().next().unwrap();
    // Sent together: the second press follows well within that time.
    let press = |receipt: &str| {
        format!(r#"{{"command":"press","input":{{"target":"{save}","receipt":"{receipt}"}}}}"#)
    };
    let steps = format!("[{},{}]", press("off"), press("on"));
    let ran = world.run(&["batch", "--steps", &steps]);
    failed(&ran, "STALE_REF", 1);
    assert!(ran.err.contains("button \"Delete\""), "{ran:?}");
    eventually("the first press is done", || std::fs::read_to_string(&log).is_ok_and(|log| !log.is_empty()));
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "clicked Save\n");
}

/// The effect of a press comes before the keys that were sent after it.
#[test]
fn a_key_after_a_press_does_not_overtake_it() {
    if desktop(&[PYTHON]).is_none() {
        return;
    }
    let world = World::new();
    let log = world.path().join("log");
    world.ok(&format!("open '{}' --private", our_app("widgets", &format!("4 {} turns", log.display()))));
    let steps = r#"[{"command":"press","input":{"target":"role=button label=Save","receipt":"off"}},
        {"command":"key","input":{"chord":"F7"}}]"#;
    let ran = world.run(&["batch", "--steps", steps]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let wrote = || std::fs::read_to_string(&log).unwrap_or_default();
    eventually("both have arrived", || wrote().lines().count() == 2);
    assert_eq!(wrote(), "clicked Save\nkey F7\n");
}

/// GTK 4 reports all pages of a stack as visible, and the buttons of each page work.
#[test]
fn what_is_on_a_page_that_was_turned_is_not_pressed() {
    if desktop(&[PYTHON]).is_none() {
        return;
    }
    let world = World::new();
    let log = world.path().join("log");
    world.ok(&format!("open '{}' --private -i", our_app("widgets", &format!("4 {} pages", log.display()))));
    world.ok("press label=Flip");
    world.ok("wait label=Zeta");
    let read = world.ok("find label=Zeta");
    let zeta = read.split_whitespace().next().unwrap();
    world.ok(&format!("press {zeta}"));
    let received = || std::fs::read_to_string(&log).unwrap_or_default();
    eventually("the first press is done", || received() == "clicked Zeta\n");
    world.ok("wait stable");
    std::fs::write(log.with_extension("turn"), "").unwrap();
    eventually("the page is turned", || received().ends_with("turned\n"));
    for words in [&["press", zeta][..], &["press", zeta, "--count", "2"]] {
        failed(&world.run(words), "STALE_REF", 1);
    }
    assert_eq!(received(), "clicked Zeta\nturned\n");
}

/// A program without windows, one with accessibility switched off in its toolkit, and one that ends
/// at once.
#[test]
fn apps_that_never_register_are_given_up_and_ended() {
    if desktop(&["zenity"]).is_none() {
        return;
    }
    let world = World::new();
    // Start the daemon once before the measurement.
    assert_ne!(world.run(&["get", "title"]).code, 0);
    let since = Instant::now();
    let marker = world.path().join("marker");
    let sleeps = format!("linux:sh -c 'echo $$ > {}; exec sleep 600'", marker.display());
    let ran = std::thread::scope(|s| {
        let wait = |what: &str, session: &str| {
            let child = world.command(&["--session", session, "open", what, "--private"]).output().unwrap();
            Ran::from(child)
        };
        let mute = s.spawn(move || wait("linux:env NO_AT_BRIDGE=1 zenity --info --text=Hello", "mute"));
        let ends = s.spawn(move || wait("linux:sh -c 'exit 4'", "ends"));
        let sleeps = wait(&sleeps, "sleeps");
        [sleeps, mute.join().unwrap(), ends.join().unwrap()]
    });
    assert!(since.elapsed() < Duration::from_secs(40), "{:?}", since.elapsed());
    let [sleeps, mute, ends] = ran;
    failed(&sleeps, "TIMEOUT", 3);
    assert!(
        sleeps.err.contains("whether accessibility is on") && sleeps.err.contains("doctor"),
        "{sleeps:?}"
    );
    failed(&mute, "UNSUPPORTED", 1);
    assert!(mute.err.contains("not on the accessibility bus") && mute.err.contains("press X,Y"), "{mute:?}");
    failed(&ends, "BACKEND_LOST", 12);
    assert!(ends.err.contains("exit status: 4"), "{ends:?}");
    let pid: u32 = std::fs::read_to_string(&marker).unwrap().trim().parse().unwrap();
    eventually("what was started ends", || !PathBuf::from(format!("/proc/{pid}")).exists());
}

#[test]
fn without_a_display_or_a_bus_it_is_said_what_is_missing() {
    let world = World::new();
    let run = |args: &[&str], with: &[(&str, &str)]| {
        let mut command = world.command(args);
        command.envs(with.iter().copied());
        Ran::from(command.output().unwrap())
    };
    let nowhere = world.path().join("nowhere");
    let tools = [("PATH", nowhere.to_str().unwrap())];
    let ran = run(&["open", "linux:/bin/true"], &tools);
    failed(&ran, "TOOL_MISSING", 12);
    assert!(ran.err.contains("Xvfb") && ran.err.contains("apt install"), "{ran:?}");
    world.ok("daemon stop");
    // A display that has no server, and a bus that does not exist.
    let gone = [("DISPLAY", ":4095"), ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")];
    let ran = run(&["open", "linux:/bin/true"], &gone);
    failed(&ran, "TOOL_MISSING", 12);
    assert!(ran.err.contains("/nonexistent/bus") && ran.err.contains("at-spi2-core"), "{ran:?}");
    let ran = run(&["open", "--attach", "linux:1"], &gone);
    failed(&ran, "TOOL_MISSING", 12);
    let ran = run(&["devices"], &gone);
    assert!(ran.code == 0 && !ran.out.contains("linux:"), "{ran:?}");
    let ran = run(&["doctor"], &gone);
    assert!(ran.out.contains("accessibility bus") && ran.out.contains("apt install at-spi2-core"), "{ran:?}");
    world.ok("daemon stop");
    let ran = run(&["doctor"], &[gone[0], gone[1], ("NO_AT_BRIDGE", "1")]);
    assert!(
        ran.out.contains("switched off by NO_AT_BRIDGE: GTK 3 apps cannot")
            && ran.out.contains("unset NO_AT_BRIDGE"),
        "{ran:?}"
    );
    world.ok("open sim:signin");
}

#[test]
fn foreign_dialog_over_the_target_is_named_and_untouched() {
    let Some(mut on) = Shared::new(&[PYTHON, "zenity", "xdotool"]) else { return };
    let (pid, log) = on.widgets("moves");
    on.attach(pid);
    on.ok(&["press", "label=Card"]);
    let mut zenity = on.desktop.command("zenity");
    zenity.args(["--text-info", "--modal", "--title=Another app", "--width=1270", "--height=860"]);
    let other = on.start(&mut zenity);
    let window = on.window("Another app");
    on.xdotool(&["windowraise", &window]);
    eventually("it lies above", || {
        let ran = on.run(&["press", "label=Card", "--count", "2"]);
        ran.code == 1 && ran.err.contains("Another app")
    });
    let before = std::fs::read_to_string(&log).unwrap();
    for words in
        [&["press", "label=Card"][..], &["press", "label=Card", "--button", "right"], &["hover", "label=Bin"]]
    {
        let ran = on.run(words);
        failed(&ran, "ELEMENT_COVERED", 1);
        assert!(ran.err.contains("the window \"Another app\""), "{ran:?}");
    }
    let json = on.run(&["press", "label=Card", "--json"]).json();
    assert_eq!(json["error"]["dispatched"], "no", "{json}");
    assert_eq!(std::fs::read_to_string(&log).unwrap(), before, "nothing arrived");
    on.end(other);
    on.ok(&["press", "label=Card", "--timeout", "5000"]);
    eventually("it arrives", || std::fs::read_to_string(&log).unwrap().len() > before.len());
}

#[test]
fn a_window_that_is_minimised_or_elsewhere_is_not_pressed() {
    let Some(mut on) = Shared::new(&[PYTHON, "xdotool"]) else { return };
    let (pid, log) = on.widgets("moves");
    on.attach(pid);
    let window = on.window("Widgets");
    let refused = |what: &str| {
        let twice = ["press", "label=Card", "--count", "2"];
        eventually("it is refused", || on.run(&twice).code == 1);
        for words in [&twice[..], &["press", "label=Card"]] {
            let ran = on.run(words);
            failed(&ran, "ELEMENT_OFFSCREEN", 1);
            assert!(ran.err.contains(what) && ran.err.contains("--private"), "{ran:?}");
        }
    };
    // On another workspace.
    on.xdotool(&["set_desktop", "1"]);
    refused("on another workspace");
    on.xdotool(&["set_desktop", "0"]);
    on.xdotool(&["windowminimize", &window]);
    refused("minimized");
    let before = std::fs::read_to_string(&log).unwrap_or_default();
    on.xdotool(&["windowactivate", &window]);
    on.ok(&["press", "label=Card", "--timeout", "5000"]);
    eventually("it arrives", || std::fs::read_to_string(&log).unwrap().len() > before.len());
}

/// Returns the file that these tests upload.
fn a_file() -> String {
    workspace_root().join("fixtures/linux/widgets/qt.py").to_str().unwrap().to_owned()
}

/// A file chooser of another process, such as one of a portal, accepts files like one of the app. A
/// chooser that refuses them is closed again.
#[test]
fn foreign_file_chooser_takes_files_or_is_closed() {
    let Some(mut on) = Shared::new(&[PYTHON]) else { return };
    let (pid, log) = on.widgets("portal");
    on.attach(pid);
    on.ok(&["wait", "label=Attach"]);
    let wrote = || std::fs::read_to_string(&log).unwrap_or_default();
    let read = on.ok(&["upload", "label=Attach", &a_file()]);
    assert!(read.contains("qt.py"), "{read}");
    eventually("the app has the file", || wrote() == "chosen elsewhere qt.py\n");
    let ran = on.run(&["upload", "label=\"Attach a folder\"", &a_file()]);
    failed(&ran, "INVALID_ARGS", 2);
    assert!(
        ran.err.contains("did not accept")
            && ran.err.contains(
                "has been closed again; run `stickpin snapshot -i` to see whether the app has a file"
            ),
        "{ran:?}"
    );
    eventually("it is closed", || wrote() == "chosen elsewhere qt.py\nchosen elsewhere -\n");
    on.ok(&["press", "label=Nothing", "--timeout", "5000"]);
    eventually("the press arrives", || wrote().ends_with("clicked Nothing\n"));
}

/// A chooser that cannot be distinguished from others gets no file. The error names the chooser,
/// and while the chooser is open, no input reaches the app.
#[test]
fn foreign_modal_window_blocks_input_to_the_app() {
    let Some(mut on) = Shared::new(&[PYTHON]) else { return };
    let (pid, log) = on.widgets("portal");
    on.attach(pid);
    on.ok(&["wait", "label=Attach"]);
    let ran = on.run(&["upload", "label=\"Attach twice\"", &a_file()]);
    failed(&ran, "UNSUPPORTED", 1);
    assert!(
        ran.err.contains("the window \"Elsewhere\" was opened; it belongs to another process")
            && ran.err.contains("its process has other windows with this title"),
        "{ran:?}"
    );
    for words in [
        &["press", "label=Nothing"][..],
        &["press", "label=Nothing", "--count", "2"],
        &["key", "Enter"],
        &["type", "x"],
    ] {
        let ran = on.run(words);
        failed(&ran, "ELEMENT_COVERED", 1);
        assert!(ran.err.contains("the window \"Elsewhere\" of ") && ran.err.contains("(linux:"), "{ran:?}");
        assert!(ran.err.contains("`stickpin key Escape`"), "{ran:?}");
    }
    assert_eq!(std::fs::read_to_string(&log).unwrap_or_default(), "", "nothing arrived");
    let mut closed = 0;
    eventually("both are closed", || {
        // The error states where the input went.
        let ran = on.run(&["key", "Escape"]);
        let elsewhere = ran.code == 1
            && ran.err.contains("the window \"Elsewhere\"")
            && ran.err.contains("received the input for Escape");
        closed += usize::from(elsewhere);
        !elsewhere
    });
    assert_eq!(closed, 2);
    eventually("the app got the response of the chooser", || {
        std::fs::read_to_string(&log).unwrap().matches("chosen elsewhere -").count() == 2
    });
    eventually("the receipt names the window that a press opens", || {
        let read = on.ok(&["press", "label=Attach", "--settle", "--timeout", "5000"]);
        on.window("Elsewhere");
        assert_eq!(on.run(&["key", "Escape"]).code, 1);
        read.contains("opened the window \"Elsewhere\", which belongs to another process")
    });
}

/// A chooser without an owner may belong to another app. On a person's desktop, the error names the
/// chooser, and the error's hint works.
#[test]
fn unowned_window_gets_files_only_by_its_name() {
    let Some(mut on) = Shared::new(&[PYTHON]) else { return };
    let (pid, log) = on.widgets("portal");
    on.attach(pid);
    on.ok(&["wait", "label=Attach"]);
    let ran = on.run(&["upload", "label=\"Attach without a word\"", &a_file()]);
    failed(&ran, "UNSUPPORTED", 1);
    assert!(ran.err.contains("it does not name its parent window"), "{ran:?}");
    let hint = ran.err.lines().nth(1).unwrap();
    let (open, upload) = hint.strip_prefix("run ").and_then(|hint| hint.split_once(", then ")).unwrap();
    let (open, upload) = (open.trim_matches('`'), upload.trim_matches('`'));
    eventually("the chooser registers", || on.typed(open).code == 0);
    let ran = on.typed(&upload.replace("FILE", &a_file()));
    assert_eq!(ran.code, 0, "{ran:?}");
    eventually("the app has the file", || {
        std::fs::read_to_string(&log).unwrap() == "chosen elsewhere qt.py\n"
    });
}

/// On a private display, such a window cannot belong to another app.
#[test]
fn on_a_private_display_a_window_without_a_word_is_the_apps() {
    if desktop(&[PYTHON]).is_none() {
        return;
    }
    let world = World::new();
    let log = world.path().join("log");
    let wrote = || std::fs::read_to_string(&log).unwrap_or_default();
    world.ok(&format!("open '{}' --private", our_app("widgets", &format!("3 {} portal", log.display()))));
    world.ok("wait label=Attach");
    world.ok("press 'label=\"Attach without a word\"'");
    eventually("it is open", || world.run(&["press", "label=Nothing"]).code == 1);
    let before = wrote();
    for words in
        [&["press", "label=Nothing"][..], &["press", "label=Nothing", "--count", "2"], &["key", "Enter"]]
    {
        let ran = world.run(words);
        failed(&ran, "ELEMENT_COVERED", 1);
        assert!(ran.err.contains("the window \"Elsewhere\" of "), "{ran:?}");
    }
    assert_eq!(wrote(), before, "nothing arrived");
    assert_eq!(world.run(&["key", "Escape"]).code, 1);
    eventually("it is closed", || wrote() == format!("{before}chosen elsewhere -\n"));
    let upload = ["upload", "label=\"Attach without a word\"", &a_file()];
    eventually("the app has the file", || world.run(&upload).code == 0);
    eventually("the app has the file", || wrote().ends_with("chosen elsewhere qt.py\n"));
}

#[test]
fn of_two_instances_of_an_app_one_has_to_be_named() {
    let Some(mut on) = Shared::new(&["zenity"]) else { return };
    let pids = ["first", "second"].map(|text| {
        let mut zenity = on.desktop.command("zenity");
        zenity.args(["--info", "--text", text]);
        on.start(&mut zenity)
    });
    eventually("both register", || {
        let there = on.run(&["devices"]).out;
        pids.iter().all(|pid| there.contains(&format!("linux:{pid}")))
    });
    let ran = on.run(&["open", "--attach", "linux:zenity"]);
    failed(&ran, "AMBIGUOUS_MATCH", 1);
    assert!(pids.iter().all(|pid| ran.err.contains(&format!("linux:{pid}"))), "{ran:?}");
    for (pid, text) in pids.iter().zip(["first", "second"]) {
        let app = format!("linux:{pid}");
        on.ok(&["--session", text, "open", "--attach", &app]);
        assert!(on.ok(&["--session", text, "snapshot"]).contains(text));
    }
}

#[test]
fn in_a_wayland_session_what_needs_a_pointer_names_the_tool() {
    let Some(mut on) = Shared::new(&[PYTHON]) else { return };
    let (pid, log) = on.widgets("moves");
    let run = |args: &[&str]| -> Ran {
        let mut command = on.command(args);
        command.env_remove("DISPLAY").env("WAYLAND_DISPLAY", "wayland-0");
        command.output().unwrap().into()
    };
    let app = format!("linux:{pid}");
    eventually("the app registers", || run(&["devices"]).out.contains(&app));
    let ran = run(&["open", "--attach", &app, "-i"]);
    assert!(ran.code == 0 && ran.out.contains("button \"Card\""), "{ran:?}");
    let ran = run(&["press", "label=Card"]);
    assert_eq!(ran.code, 0, "its own action needs no pointer: {ran:?}");
    eventually("it arrives", || std::fs::read_to_string(&log).unwrap_or_default() == "clicked Card\n");
    for (words, tool) in [
        (&["press", "label=Card", "--count", "2"][..], "wtype"),
        (&["key", "Control+a"], "wtype"),
        (&["screenshot"], "grim"),
        (&["clipboard", "read"], "wl-clipboard"),
    ] {
        let ran = run(words);
        failed(&ran, "UNSUPPORTED", 1);
        assert!(ran.err.contains(tool) && ran.err.contains("--private"), "{ran:?}");
    }
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "clicked Card\n");
}
