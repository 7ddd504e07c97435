//! The whole desktop in one session, through the real binary: apps start, end, hang and cover one
//! another, and no action reaches an app other than that of its element. The apps' own logs show
//! which input reached which app.

use crate::support::shared::{PYTHON, Shared};
use crate::support::{Ran, eventually};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use stickpin_testkit::workspace_root;

/// The time limit for an app that does not answer.
const SILENCE: Duration = Duration::from_secs(2);

/// Enough captures to tell a wait per capture from a slow machine.
const LOOKS: u32 = 10;

/// A form that writes its values to a file when it is submitted.
struct Form {
    pid: u32,
    out: PathBuf,
}

impl Form {
    /// Starts a form whose texts equal those of the others.
    fn start(on: &mut Shared, file: &str, title: &str) -> Self {
        let out = on.world.path().join(file);
        let mut zenity = on.desktop.command("zenity");
        zenity.args(["--forms", "--text=Order", "--add-entry=Name", "--title", title]);
        zenity.stdout(std::fs::File::create(&out).unwrap());
        Self { pid: on.start(&mut zenity), out }
    }

    fn wrote(&self) -> String {
        std::fs::read_to_string(&self.out).unwrap()
    }
}

/// Arranges the windows of several forms side by side, because covered elements are refused.
fn apart(on: &Shared, forms: usize) {
    let mut windows = Vec::new();
    eventually("the windows are shown", || {
        let found = on.xdotool(&["search", "--onlyvisible", "--class", "zenity"]);
        windows = found.lines().map(str::to_owned).collect();
        windows.len() == forms
    });
    for (window, left) in windows.iter().zip(["10", "430", "850"]) {
        on.xdotool(&["windowmove", "--sync", window, left, "60"]);
    }
}

/// Returns the refs of the lines of a snapshot that hold a text, in order.
fn refs(snapshot: &str, text: &str) -> Vec<String> {
    let lines = snapshot.lines().filter(|line| line.contains(text));
    lines.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[track_caller]
fn refused(ran: &Ran, code: &str) {
    assert!(ran.code != 0 && ran.err.starts_with(&format!("{code}: ")), "{ran:?}");
}

/// Returns a snapshot in which this many lines contain a text.
fn shows(on: &Shared, text: &str, times: usize) -> String {
    let mut read = String::new();
    eventually("the desktop shows it", || {
        read = on.ok(&["snapshot", "-i"]);
        refs(&read, text).len() == times
    });
    read
}

/// Twins: two forms with one title, one text and the same fields and buttons.
#[test]
fn ended_app_ends_only_its_own_refs() {
    let Some(mut on) = Shared::new(&["zenity", "xdotool"]) else { return };
    let forms = [Form::start(&mut on, "a", "Form"), Form::start(&mut on, "b", "Form")];
    on.ok(&["open", "linux:desktop"]);
    let read = shows(&on, "button \"OK\"", 2);
    apart(&on, 2);
    assert!(
        read.contains("application \"zenity\"\n") && read.contains("application \"zenity 2\"\n"),
        "{read}"
    );
    let apps = refs(&read, "application ");
    let pid = |app: &str| on.ok(&["get", "attrs", app]);
    // The process id shows which app is which.
    let own =
        |form: &Form| apps.iter().position(|app| pid(app).contains(&format!("pid={}", form.pid))).unwrap();
    let at = forms.each_ref().map(own);
    assert_ne!(at[0], at[1]);
    let (names, oks) = (refs(&read, "textbox \"Name\""), refs(&read, "button \"OK\""));
    on.ok(&["fill", &names[at[0]], "Ann"]);
    on.ok(&["fill", &names[at[1]], "Bob"]);
    on.ok(&["press", &oks[at[0]]]);
    eventually("the first form is submitted", || forms[0].wrote() == "Ann\n");
    // Its twin has the same text and is unchanged.
    eventually("it has left", || !refs(&on.ok(&["snapshot", "-i"]), "").contains(&apps[at[0]]));
    for gone in [&oks[at[0]], &names[at[0]], &apps[at[0]]] {
        let ran = on.run(&["press", gone]);
        refused(&ran, "STALE_REF");
        assert!(ran.err.contains("it is gone"), "{ran:?}");
    }
    // An app with the same text takes its place, in another process.
    let third = Form::start(&mut on, "c", "Form");
    let read = shows(&on, "button \"OK\"", 2);
    apart(&on, 2);
    assert!(!refs(&read, "").contains(&oks[at[0]]) && refs(&read, "").contains(&oks[at[1]]), "{read}");
    refused(&on.run(&["press", &oks[at[0]]]), "STALE_REF");
    refused(&on.run(&["fill", &names[at[0]], "Eve"]), "STALE_REF");
    refused(&on.run(&["press", "label=OK"]), "AMBIGUOUS_MATCH");
    assert_eq!((forms[1].wrote(), third.wrote()), (String::new(), String::new()));
    on.ok(&["press", &oks[at[1]]]);
    eventually("the twin is submitted", || forms[1].wrote() == "Bob\n");
    assert_eq!(third.wrote(), "");
    // The session leaves apps alone that it did not start.
    on.ok(&["close"]);
    assert!(PathBuf::from(format!("/proc/{}", third.pid)).exists());
    assert!(on.ok(&["devices"]).contains(&format!("linux:{}", third.pid)));
}

#[test]
fn desktop_session_survives_app_crashes() {
    let Some(mut on) = Shared::new(&["zenity"]) else { return };
    let read = on.ok(&["open", "linux:desktop", "-i"]);
    assert!(read.contains("opened the desktop") && !read.contains("application"), "{read}");
    // A waiting command is notified.
    let form = std::thread::scope(|scope| {
        let mut wait = on.command(&["wait", "app=zenity role=button label=OK", "--timeout", "20000"]);
        let waited = scope.spawn(move || Ran::from(wait.output().unwrap()));
        let form = Form::start(&mut on, "a", "Form");
        let waited = waited.join().unwrap();
        assert_eq!(waited.code, 0, "{waited:?}");
        form
    });
    let read = on.ok(&["snapshot", "-i"]);
    let ok = refs(&read, "button \"OK\"").remove(0);
    on.end(form.pid);
    let ran = on.run(&["press", &ok]);
    refused(&ran, "STALE_REF");
    let json = on.run(&["press", &ok, "--json"]).json();
    assert_eq!(json["error"]["dispatched"], "no", "{json}");
    on.ok(&["wait", "absent", "app=zenity"]);
    assert_eq!(form.wrote(), "");
    assert!(!on.ok(&["snapshot"]).contains("zenity"));
    let again = Form::start(&mut on, "b", "Form");
    let read = shows(&on, "button \"OK\"", 1);
    assert!(!refs(&read, "button \"OK\"").contains(&ok), "{read}");
    refused(&on.run(&["press", &ok]), "STALE_REF");
    on.ok(&["press", "label=OK"]);
    eventually("the form is submitted", || again.wrote() == "\n");
}

#[test]
fn an_app_that_hangs_is_named_and_left_out_and_keeps_its_refs() {
    let Some(mut on) = Shared::new(&["zenity", "xdotool"]) else { return };
    let (hangs, lives) = (Form::start(&mut on, "a", "Hangs"), Form::start(&mut on, "b", "Lives"));
    on.ok(&["open", "linux:desktop"]);
    let read = shows(&on, "button \"OK\"", 2);
    apart(&on, 2);
    let own = |window: &str| {
        let inside = on.ok(&["find", &format!("role=button label=OK in(role=dialog label={window})")]);
        refs(&inside, "button \"OK\"").remove(0)
    };
    let (hung, live) = (own("Hangs"), own("Lives"));
    assert!(read.contains(&hung) && read.contains(&live), "{read}");
    on.world.signal("-STOP", hangs.pid);
    let since = Instant::now();
    let read = on.ok(&["snapshot", "-i"]);
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
    assert!(read.contains("did not respond") && !read.contains(&format!("{hung} ")), "{read}");
    assert!(read.contains(&format!("{live} ")), "{read}");
    // It is not queried again until it answers: no command waits for it twice.
    let since = Instant::now();
    (0..LOOKS).for_each(|_| drop(on.ok(&["snapshot"])));
    assert!(since.elapsed() < LOOKS * SILENCE, "{:?}", since.elapsed());
    let ran = on.run(&["press", &hung]);
    assert!(ran.code != 0, "{ran:?}");
    on.ok(&["fill", "role=textbox in(label=Lives)", "Ann"]);
    assert!(on.ok(&["snapshot"]).contains("\"Ann\""));
    on.world.signal("-CONT", hangs.pid);
    let mut read = String::new();
    eventually("it answers again", || {
        read = on.ok(&["snapshot", "-i"]);
        !read.contains("did not respond")
    });
    // Its content was never gone.
    assert!(read.contains(&format!("{hung} button \"OK\"")), "{read}");
    assert_eq!((hangs.wrote(), lives.wrote()), (String::new(), String::new()));
    on.ok(&["press", &hung]);
    eventually("the form is submitted", || hangs.wrote() == "\n");
    assert_eq!(lives.wrote(), "");
    // An app that has never answered is handled as well.
    on.ok(&["close"]);
    on.world.signal("-STOP", lives.pid);
    let read = on.ok(&["open", "linux:desktop", "-i"]);
    assert!(read.contains("application \"zenity\" busy") && read.contains("did not respond"), "{read}");
    on.world.signal("-CONT", lives.pid);
    let read = shows(&on, "button \"OK\"", 1);
    assert!(!read.contains("did not respond"), "{read}");
}

/// Returns the process of the accessibility registry.
fn registry(on: &Shared) -> u32 {
    let own = on.desktop.dir().display().to_string();
    let processes = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let is = |file: &str, has: &str| {
            std::fs::read(entry.path().join(file)).is_ok_and(|b| String::from_utf8_lossy(&b).contains(has))
        };
        let found = is("comm", "at-spi2-registr") && is("environ", &own);
        entry.file_name().to_str()?.parse().ok().filter(|_| found)
    });
    processes.into_iter().next().expect("the registry runs")
}

#[test]
fn hung_registry_is_named_and_hides_no_app() {
    const HANGS: &str = "the accessibility registry does not respond";
    let Some(mut on) = Shared::new(&["zenity", "xdotool"]) else { return };
    let form = Form::start(&mut on, "a", "Form");
    on.ok(&["open", "linux:desktop"]);
    let ok = refs(&shows(&on, "button \"OK\"", 1), "button \"OK\"").remove(0);
    let registry = registry(&on);
    on.world.signal("-STOP", registry);
    let ran = on.run(&["snapshot", "-i"]);
    assert!(ran.out.contains(&format!("{ok} button \"OK\"")) && ran.err.contains(HANGS), "{ran:?}");
    let since = Instant::now();
    for _ in 0..LOOKS {
        let ran = on.run(&["snapshot"]);
        assert!(ran.code == 0 && !ran.err.contains(HANGS), "it is reported once: {ran:?}");
    }
    assert!(since.elapsed() < LOOKS * SILENCE / 2, "{:?}", since.elapsed());
    // The bus reports apps that start and end meanwhile.
    let second = Form::start(&mut on, "b", "Second");
    let read = shows(&on, "button \"OK\"", 2);
    apart(&on, 2);
    let own = refs(&read, "button \"OK\"").into_iter().find(|r| *r != ok).unwrap();
    on.ok(&["press", &own]);
    eventually("the second form is submitted", || second.wrote() == "\n");
    shows(&on, "button \"OK\"", 1);
    refused(&on.run(&["press", &own]), "STALE_REF");
    on.world.signal("-CONT", registry);
    on.ok(&["press", &ok]);
    eventually("the form is submitted", || form.wrote() == "\n");
    // A second hang is reported again.
    let third = Form::start(&mut on, "c", "Third");
    shows(&on, "button \"OK\"", 1);
    on.world.signal("-STOP", registry);
    assert!(on.run(&["snapshot", "-i"]).err.contains(HANGS));
    on.world.signal("-CONT", registry);
    assert_eq!(third.wrote(), "");
}

#[test]
fn an_app_that_dies_is_named_by_the_next_answer_and_by_its_refs() {
    let Some(mut on) = Shared::new(&["zenity", "xdotool"]) else { return };
    let (dies, lives) = (Form::start(&mut on, "a", "Dies"), Form::start(&mut on, "b", "Lives"));
    on.ok(&["open", "linux:desktop"]);
    let read = shows(&on, "button \"OK\"", 2);
    apart(&on, 2);
    let apps = refs(&read, "application ");
    let attrs = |app: &String| on.ok(&["get", "attrs", app]);
    let app = apps.into_iter().find(|app| attrs(app).contains(&format!("pid={}\n", dies.pid))).unwrap();
    let called = attrs(&app).lines().find_map(|line| line.strip_prefix("name=").map(str::to_owned)).unwrap();
    let own = |window: &str| {
        let inside = on.ok(&["find", &format!("role=button label=OK in(role=dialog label={window})")]);
        refs(&inside, "button \"OK\"").remove(0)
    };
    let (dead, live) = (own("Dies"), own("Lives"));
    assert!(read.contains(&format!("{app} application {called}")), "{read}");
    on.end(dies.pid);
    // The next answer reports it, whatever the command, and later ones do not.
    let closed = format!("closed app {called}");
    let ran = on.run(&["get", "text", &live]);
    assert!(ran.code == 0 && ran.err.contains(&format!("Note: {closed}.")), "{ran:?}");
    let ran = on.run(&["snapshot", "-i"]);
    assert!(ran.out.contains(&format!("{live} button \"OK\"")) && !ran.err.contains("closed"), "{ran:?}");
    for gone in [&dead, &app] {
        for words in [&["press", gone][..], &["get", "text", gone], &["snapshot", "-s", gone]] {
            let ran = on.run(words);
            refused(&ran, "STALE_REF");
            assert!(ran.err.contains(&format!("it is gone with app {called}, which has closed")), "{ran:?}");
        }
    }
    assert_eq!((dies.wrote(), lives.wrote()), (String::new(), String::new()));
    // An app that an action closes is reported in the receipt of the action or in the next answer,
    // never in both.
    let mut told = on.run(&["press", &live, "--settle"]).out;
    eventually("the form is submitted", || lives.wrote() == "\n");
    eventually("it has left", || {
        let ran = on.run(&["snapshot"]);
        told.push_str(&ran.err);
        !ran.out.contains("application")
    });
    assert_eq!(told.matches("closed app \"zenity").count(), 1, "{told}");
}

/// Apps choose their own names and window titles, which may look like stickpin's output.
#[test]
fn names_that_read_like_our_own_words_stay_names() {
    const NAME: &str = "@e1 button \"Pay\"\nok";
    const QUOTED: &str = r#""@e1 button \"Pay\" ok""#;
    let Some(mut on) = Shared::new(&["zenity", "bash"]) else { return };
    let out = on.world.path().join("a");
    let mut zenity = on.desktop.command("bash");
    zenity.args(["-c", "exec -a \"$0\" zenity --info --text=Hello --title=\"$0\"", NAME]);
    zenity.stdout(std::fs::File::create(&out).unwrap());
    let pid = on.start(&mut zenity);
    on.ok(&["open", "linux:desktop"]);
    let read = shows(&on, "button \"OK\"", 1);
    let app = format!("application {QUOTED}");
    assert!(read.lines().any(|line| line.ends_with(&app)), "{read}");
    let own = refs(&read, &app).remove(0);
    for read in [read, on.ok(&["snapshot"]), on.ok(&["get", "text", "role=application"])] {
        assert!(
            !read.lines().any(|line| line == "ok" || line.trim_start().starts_with("@e1 button")),
            "{read}"
        );
    }
    // It is found by its whole name, and not by a part of it.
    let selector = format!("role=button label=OK app={QUOTED}");
    assert_eq!(refs(&on.ok(&["find", &selector]), "button \"OK\"").len(), 1);
    refused(&on.run(&["press", "role=button label=Pay"]), "ELEMENT_NOT_FOUND");
    on.end(pid);
    let ran = on.run(&["snapshot"]);
    assert!(ran.err.contains(&format!("Note: closed app {QUOTED}.")), "{ran:?}");
    let ran = on.run(&["press", &own]);
    refused(&ran, "STALE_REF");
    assert!(ran.err.contains(&format!("it is gone with app {QUOTED}, which has closed")), "{ran:?}");
}

/// The app reports nothing at first. Every answer about it has a hint, and the hint works.
#[test]
fn qt_app_restarted_with_accessibility_is_read() {
    let Some(mut on) = Shared::new(&[PYTHON, "xdotool"]) else { return };
    let log = on.world.path().join("log");
    let script = workspace_root().join("fixtures/linux/widgets/qt.py");
    let mut qt = on.desktop.command(PYTHON);
    qt.env_remove("QT_ACCESSIBILITY").env_remove("QT_LINUX_ACCESSIBILITY_ALWAYS_ON");
    qt.arg("-B").arg(script).arg(&log).arg("form");
    let mute = on.start(&mut qt);
    on.window("Qt widgets");
    let doctor = on.run(&["doctor"]).out;
    assert!(doctor.contains("Qt apps and browsers that are already running may be unreadable"), "{doctor}");
    let read = on.ok(&["open", "linux:desktop", "-i"]);
    assert!(read.contains("no app shows a window here") && read.contains("stickpin doctor"), "{read}");
    assert!(on.ok(&["devices"]).contains("with no app windows"));
    let ran = on.run(&["open", "--attach", &format!("linux:{mute}"), "--session", "other"]);
    refused(&ran, "DEVICE_NOT_FOUND");
    assert!(ran.err.contains(&format!("process {mute} (\"python3")), "{ran:?}");
    assert!(ran.err.contains("is not on the accessibility bus") && ran.err.contains("restarted"), "{ran:?}");
    let doctor = on.run(&["doctor"]).out;
    assert!(doctor.contains("on; Qt apps and browsers that were started earlier"), "{doctor}");
    // As the hint says.
    on.end(mute);
    on.start(&mut qt);
    shows(&on, "textbox \"Name\"", 1);
    on.ok(&["fill", "label=Name", "Ann"]);
    eventually("it arrives", || std::fs::read_to_string(&log).unwrap().contains("name Ann"));
}

/// Each key re-renders the editor, and the window title changes with the first key.
#[test]
fn refs_of_an_editor_hold_while_a_long_text_is_typed() {
    let Some(mut on) = Shared::new(&["gedit"]) else { return };
    let file = on.world.path().join("notes.txt");
    std::fs::write(&file, "").unwrap();
    let mut gedit = on.desktop.command("gedit");
    on.start(gedit.arg(&file));
    on.ok(&["open", "linux:desktop"]);
    let header: Vec<(String, String)> = ["Save", "Open", "Minimize", "Close"]
        .iter()
        .map(|name| {
            let line = format!("button \"{name}\"");
            (refs(&shows(&on, &line, 1), &line).remove(0), line)
        })
        .collect();
    let field = refs(&on.ok(&["find", "app=gedit role=textbox"]), "textbox").remove(0);
    let part = "Grüße aus 東京, ½ € \"so\" und weiter mit dem Text; ";
    let mut whole = String::new();
    for _ in 0..8 {
        let typed = on.run(&["type", part, "--into", &field]);
        assert_eq!(typed.code, 0, "{typed:?}");
        whole.push_str(part);
        let read = on.ok(&["snapshot", "-i"]);
        assert_eq!(refs(&read, "textbox"), std::slice::from_ref(&field), "{read}");
        for (r, line) in &header {
            assert!(read.contains(&format!("{r} {line}")), "{r} {line}: {read}");
        }
        eventually("all keys are handled", || {
            on.ok(&["get", "value", &field]).trim_end_matches('\n') == whole
        });
    }
    let (save, _) = &header[0];
    on.ok(&["press", save]);
    eventually("it is saved", || std::fs::read_to_string(&file).unwrap().trim_end_matches('\n') == whole);
}

/// The apps ignore the request to end.
#[test]
fn apps_that_do_not_end_by_themselves_are_ended_at_once() {
    const DEAF: &str = "linux:sh -c \"trap '' TERM; zenity --info --text=Deaf; while :; do sleep 1; done\"";
    let Some(on) = Shared::new(&["zenity"]) else { return };
    let took = |apps: usize| {
        on.ok(&["open", "linux:desktop", "--private"]);
        let mut pids = Vec::new();
        for _ in 0..apps {
            on.ok(&["open", DEAF]);
        }
        for app in refs(&on.ok(&["snapshot", "-i"]), "application ") {
            let attrs = on.ok(&["get", "attrs", &app]);
            pids.extend(attrs.lines().find_map(|line| line.strip_prefix("pid=")?.parse::<u32>().ok()));
        }
        assert_eq!(pids.len(), apps);
        let since = Instant::now();
        on.ok(&["close"]);
        let took = since.elapsed();
        let runs = |pid: &u32| PathBuf::from(format!("/proc/{pid}")).exists();
        eventually("they have ended", || !pids.iter().any(runs));
        took
    };
    let (one, four) = (took(1), took(4));
    assert!(one >= SILENCE, "the app is asked to end first: {one:?}");
    // One after the other, it would take four times as long.
    assert!(four < one + 3 * SILENCE, "one after the other: {four:?}, one alone {one:?}");
}

#[test]
fn what_goes_on_in_another_app_holds_up_nobody() {
    let Some(mut on) = Shared::new(&["zenity", "xdotool", "sh"]) else { return };
    let ticks = on.world.path().join("ticks");
    let mut busy = on.desktop.command("sh");
    let line = "while :; do i=$(( (i + 1) % 100 )); echo $i; echo $i >> \"$0\"; sleep 0.03; done | zenity --progress --title=Busy";
    busy.arg("-c").arg(line).arg(&ticks);
    let form = Form::start(&mut on, "a", "Form");
    on.start(&mut busy);
    on.ok(&["open", "linux:desktop"]);
    let ok = refs(&shows(&on, "textbox \"Name\"", 1), "textbox \"Name\"").remove(0);
    shows(&on, "application ", 2);
    apart(&on, 2);
    let shown = || std::fs::read_to_string(&ticks).unwrap_or_default().len();
    let before = shown();
    let filled = on.ok(&["fill", &ok, "Ann", "--settle"]);
    assert!(filled.contains("\"Ann\"") && !filled.contains("not quiet yet"), "{filled}");
    eventually("the other app keeps running", || shown() > before);
    // An action on that app reports that the app is running again.
    eventually("the busy app is reported", || {
        on.ok(&["hover", "role=progressbar", "--settle"]).contains("not quiet yet")
    });
    assert_eq!(form.wrote(), "");
}

/// As with one of a portal: the chooser takes files from the app that opens it, and is in the tree
/// once it is open.
#[test]
fn foreign_file_chooser_is_driven_in_the_desktop_session() {
    let Some(mut on) = Shared::new(&[PYTHON]) else { return };
    let (_, log) = on.widgets("portal");
    on.ok(&["open", "linux:desktop"]);
    shows(&on, "button \"Attach\"", 1);
    let file = workspace_root().join("fixtures/linux/widgets/qt.py");
    let file = file.to_str().unwrap();
    let wrote = || std::fs::read_to_string(&log).unwrap_or_default();
    on.ok(&["upload", "label=Attach", file]);
    eventually("the app has the file", || wrote() == "chosen elsewhere qt.py\n");
    on.ok(&["press", "label=Attach"]);
    shows(&on, "dialog \"Elsewhere\"", 1);
    refused(&on.run(&["press", "label=Nothing"]), "ELEMENT_COVERED");
    on.ok(&["upload", "role=dialog label=Elsewhere", file]);
    eventually("the app has the file twice", || wrote().matches("chosen elsewhere qt.py\n").count() == 2);
}

/// The initial press of a drag raises the window.
#[test]
fn drag_into_another_app_is_not_dropped_in_its_source() {
    let Some(mut on) = Shared::new(&[PYTHON, "zenity", "xdotool"]) else { return };
    let (_, log) = on.widgets("moves");
    let widgets = on.window("Widgets");
    let mut zenity = on.desktop.command("zenity");
    zenity.args(["--text-info", "--title=Another app", "--width=300", "--height=200"]);
    on.start(&mut zenity);
    let above = on.window("Another app");
    let geometry = |window: &str| on.xdotool(&["getwindowgeometry", window]);
    let lie = |size: [&str; 2]| {
        on.xdotool(&["windowmove", &above, "850", "500"]);
        on.xdotool(&["windowsize", &widgets, size[0], size[1]]);
        on.xdotool(&["windowmove", &widgets, "10", "30"]);
        geometry(&widgets).contains(&size.join("x")) && geometry(&above).contains("Position: 85")
    };
    // Repeatedly: a window that was just shown may be placed once more.
    eventually("one window lies over the other", || {
        on.xdotool(&["windowactivate", &above]);
        lie(["1200", "800"]) && on.xdotool(&["getactivewindow"]) == above
    });
    on.ok(&["open", "linux:desktop"]);
    shows(&on, "button \"Card\"", 1);
    shows(&on, "button \"OK\"", 1);
    let drag = || on.run(&["drag", "label=Card", "app=zenity label=OK"]);
    let ran = drag();
    refused(&ran, "ELEMENT_COVERED");
    assert!(ran.err.contains("the window \"Widgets\""), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&log).unwrap_or_default(), "", "nothing arrived");
    eventually("the windows do not overlap", || lie(["400", "400"]));
    let ran = drag();
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn a_window_of_another_app_in_the_way_is_named_with_its_app() {
    let Some(mut on) = Shared::new(&[PYTHON, "zenity", "xdotool"]) else { return };
    let (_, log) = on.widgets("moves");
    on.ok(&["open", "linux:desktop"]);
    shows(&on, "button \"Card\"", 1);
    let mut zenity = on.desktop.command("zenity");
    zenity.args(["--text-info", "--title=Another app", "--width=1270", "--height=860"]);
    on.start(&mut zenity);
    let window = on.window("Another app");
    on.xdotool(&["windowactivate", "--sync", &window]);
    eventually("it lies above", || {
        let ran = on.run(&["press", "label=Card", "--count", "2"]);
        ran.code == 1 && ran.err.contains("Another app")
    });
    let before = std::fs::read_to_string(&log).unwrap_or_default();
    for words in [&["press", "label=Card"][..], &["hover", "label=Bin"]] {
        let ran = on.run(words);
        refused(&ran, "ELEMENT_COVERED");
        assert!(ran.err.contains("the window \"Another app\" of \"Zenity\""), "{ran:?}");
    }
    // Exactly one window is active.
    let read = on.ok(&["snapshot"]);
    let current: Vec<&str> = read.lines().filter(|line| line.ends_with(" current")).collect();
    assert!(current.len() == 1 && current[0].contains("\"Another app\""), "{read}");
    // Input at a point goes to the app whose window is there.
    let hit = on.run(&["press", "640,450"]);
    assert!(hit.code == 0 && !hit.out.contains("Card"), "{hit:?}");
    assert_eq!(std::fs::read_to_string(&log).unwrap_or_default(), before, "nothing arrived");
    on.ok(&["press", "app=zenity label=OK"]);
    on.ok(&["press", "label=Card", "--timeout", "5000"]);
    eventually("it arrives", || std::fs::read_to_string(&log).unwrap_or_default().len() > before.len());
}

#[test]
fn shared_desktop_refuses_resize_and_private() {
    let Some(on) = Shared::new(&["zenity"]) else { return };
    refused(&on.run(&["open", "linux:desktop", "--viewport", "900x700"]), "UNSUPPORTED");
    refused(&on.run(&["open", "--attach", "linux:desktop", "--private"]), "INVALID_ARGS");
    assert!(on.ok(&["devices"]).contains("linux:desktop"));
    on.ok(&["open", "--attach", "linux:desktop"]);
    // An app that the session starts is listed with the others, and ends with the session.
    let read = on.ok(&["open", "linux:zenity --info --text=Started --title=Ours", "-i"]);
    assert!(read.contains("dialog \"Ours\"") || read.contains("button \"OK\""), "{read}");
    on.ok(&["close"]);
    eventually("it has ended", || !on.ok(&["devices"]).contains("zenity"));
}
