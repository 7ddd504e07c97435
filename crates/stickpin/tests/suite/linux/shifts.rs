//! Apps that change just before or during an action: either the intended element receives the
//! input, or the answer says what received it. The app's own log is the proof.

use crate::support::shared::PYTHON;
use crate::support::{Ran, World, eventually};
use std::path::PathBuf;
use stickpin_testkit::{desktop, workspace_root};

const TOOLKITS: [&str; 3] = ["gtk3", "gtk4", "qt"];

struct App {
    world: World,
    log: PathBuf,
}

impl App {
    /// Opens an app of `fixtures/linux/shifts` on a private display. Returns `None` without
    /// displays.
    fn open(toolkit: &str, part: &str) -> Option<Self> {
        Self::start("shifts", toolkit, part)
    }

    /// Opens an app of `fixtures/linux/strange`, which acts once the file next to its log exists.
    fn strange(kind: &str) -> Option<Self> {
        Self::start("strange", kind, "flag")
    }

    fn trip(&self) {
        std::fs::write(self.world.path().join("flag"), "").unwrap();
    }

    fn start(app: &str, kind: &str, last: &str) -> Option<Self> {
        desktop(&[PYTHON])?;
        let world = World::new();
        let log = world.path().join("log");
        let script = workspace_root().join("fixtures/linux").join(app).join("app.py");
        let last =
            if last == "flag" { world.path().join(last).display().to_string() } else { last.to_owned() };
        let app = format!("linux:{PYTHON} -B {} {kind} {} {last}", script.display(), log.display());
        let read = world.run(&["open", &app, "--private", "-i"]);
        assert_eq!(read.code, 0, "{kind}: {read:?}");
        Some(Self { world, log })
    }

    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Returns the current state of a control.
    fn last(&self, name: &str) -> String {
        let log = self.log();
        let mut lines = log.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        lines.next_back().unwrap_or_default().to_owned()
    }
}

#[track_caller]
fn failed(ran: &Ran, code: &str) {
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.starts_with(&format!("{code}: ")), "{ran:?}");
    assert!(ran.err.lines().nth(1).is_some_and(|hint| !hint.is_empty()), "it has no hint: {ran:?}");
}

/// Returns where typing stopped: the numbers of characters in the first field, elsewhere, and not
/// sent.
fn told(ran: &Ran) -> [usize; 3] {
    let counts = ran.err.split("during typing: ").nth(1).unwrap_or_else(|| panic!("no counts: {ran:?}"));
    let number = |part: &str| part.trim().split(' ').next()?.parse().ok();
    let numbers: Vec<usize> = counts.lines().next().unwrap().split(',').filter_map(number).collect();
    numbers.try_into().unwrap_or_else(|_| panic!("no counts: {ran:?}"))
}

#[test]
fn focus_move_while_typing_is_an_error() {
    for toolkit in TOOLKITS {
        let Some(app) = App::open(toolkit, "jumps") else { return };
        let text = "x".repeat(200);
        let ran = app.world.run(&["type", &text, "--into", "label=First"]);
        failed(&ran, "FILL_MISMATCH");
        assert!(ran.err.contains("\"First\"") && ran.err.contains("\"Second\""), "{toolkit}: {ran:?}");
        let [first, elsewhere, left] = told(&ran);
        let received = (app.last("First").len(), app.last("Second").len());
        assert_eq!((first, elsewhere, first + elsewhere + left), (received.0, received.1, 200), "{toolkit}");
        assert!(first == 3 && left > 100, "{toolkit}: {ran:?}");
        // Few enough to be sent in one batch.
        let ran = app.world.run(&["type", "ab", "--into", "label=Second"]);
        assert_eq!(ran.code, 0, "{toolkit}: {ran:?}");
        app.world.ok("fill label=First ''");
        let ran = app.world.run(&["type", "abcde", "--into", "label=First"]);
        failed(&ran, "FILL_MISMATCH");
        assert_eq!(told(&ran), [3, 2, 0], "{toolkit}");
        // The last character may move the focus, as may the keys meant for that.
        app.world.ok("fill label=First ''");
        app.world.ok("type abc --into label=First");
        assert_eq!(app.last("First"), "abc", "{toolkit}");
        // The first character replaces the selection, and the third moves the focus.
        app.world.ok("fill label=First 'hello world'");
        app.world.ok("press label=First");
        app.world.ok("key Control+a");
        let ran = app.world.run(&["type", "abc", "--into", "label=First"]);
        assert_eq!(ran.code, 0, "{toolkit}: {ran:?}");
        assert_eq!(app.last("First"), "abc", "{toolkit}");
    }
}

#[test]
fn a_tab_takes_the_rest_of_a_text_to_the_next_field() {
    for toolkit in TOOLKITS {
        let Some(app) = App::open(toolkit, "plain") else { return };
        let ran = app.world.run(&["type", "one\ttwo\n", "--into", "label=First"]);
        assert_eq!(ran.code, 0, "{toolkit}: {ran:?}");
        assert_eq!((app.last("First").as_str(), app.last("Second").as_str()), ("one", "two"), "{toolkit}");
    }
}

#[test]
fn text_stops_at_a_dialog_that_opens_in_the_middle() {
    for toolkit in TOOLKITS {
        let Some(app) = App::open(toolkit, "asks") else { return };
        let ran = app.world.run(&["type", &"x".repeat(200), "--into", "label=First"]);
        failed(&ran, "FILL_MISMATCH");
        let [first, elsewhere, left] = told(&ran);
        assert_eq!((first, first + elsewhere + left), (app.last("First").len(), 200), "{toolkit}: {ran:?}");
        assert!(app.last("Asked").len() <= elsewhere && left > 100, "{toolkit}: {ran:?}");
    }
}

/// The app handles the keys for longer than the answer takes.
#[test]
fn type_returns_after_a_slow_app_handled_all_keys() {
    for toolkit in TOOLKITS {
        let Some(app) = App::open(toolkit, "slow") else { return };
        let text = "The quick brown fox jumps over the lazy dog";
        app.world.ok(&format!("type '{text}' --into label=First"));
        assert_eq!(app.last("First"), text, "{toolkit}");
    }
}

/// An option is chosen by its position in the list.
#[test]
fn option_is_selected_by_text_after_insertions_above() {
    for toolkit in TOOLKITS {
        let Some(app) = App::open(toolkit, "grows") else { return };
        let all = [("Choice", "Beta"), ("Rows", "Gamma"), ("Choice", "Alpha"), ("Rows", "Beta")];
        // GTK 4 reports no options of such combo boxes, and Qt cannot choose one by action.
        for (list, option) in all.into_iter().filter(|(list, _)| toolkit == "gtk3" || *list == "Rows") {
            app.world.ok("press label=More");
            let ran = app.world.run(&["select", &format!("label={list}"), option]);
            assert_eq!(ran.code, 0, "{toolkit}: {ran:?}");
            assert_eq!(app.last(list), option, "{toolkit}: {}", app.log());
        }
    }
}

#[test]
fn a_press_that_fails_behind_what_it_did_is_done_once_and_told() {
    let Some(app) = App::strange("errs") else { return };
    app.world.ok("press label=One");
    app.trip();
    let ran = app.world.run(&["--json", "press", "label=One"]);
    assert_eq!(app.log(), "did One\ndid One\n");
    let error = &ran.json()["error"];
    assert_eq!(error["dispatched"], "unknown", "{ran:?}");
    assert!(error["message"].as_str().unwrap().contains("behind it"), "{ran:?}");
}

/// As in browsers with page content: the field reports success but keeps its old text.
#[test]
fn field_that_ignores_set_text_is_filled_by_keys() {
    let Some(app) = App::strange("keeps") else { return };
    // The characters of a password field can only be counted.
    for (field, texts) in [("Name", ["one", "two"]), ("Secret", ["five!", "six!!!"])] {
        for text in texts {
            let ran = app.world.run(&["fill", &format!("label={field}"), text]);
            assert_eq!(ran.code, 0, "{field}: {ran:?}");
            assert!(app.log().contains(&format!("wrote {text}\n")), "{field}");
            assert_eq!(app.last(field), text);
        }
    }
}

/// Like the address bar of a browser: it reports its length before its text.
#[test]
fn field_that_reads_empty_is_read_until_stable() {
    let Some(app) = App::strange("late") else { return };
    for text in ["about:support", "x"] {
        let ran = app.world.run(&["fill", "label=Name", text]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(app.last("Name"), text);
    }
}

#[test]
fn an_end_that_a_field_adds_and_selects_is_told() {
    let Some(app) = App::strange("completes") else { return };
    let ran = app.world.run(&["fill", "label=Name", "exam"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("value \"example.org\"\nthe app added \"ple.org\""), "{ran:?}");
}

#[test]
fn a_field_that_completes_what_is_filled_in_is_filled() {
    for toolkit in TOOLKITS {
        let Some(app) = App::open(toolkit, "completes") else { return };
        for text in ["about:sup", "zebra", "about:support"] {
            let ran = app.world.run(&["fill", "label=First", text]);
            assert_eq!(ran.code, 0, "{toolkit}: {ran:?}");
            assert!(app.last("First").starts_with(text), "{toolkit}: {}", app.log());
        }
    }
}

/// An option is chosen by position, and another option may have taken that position by then.
#[test]
fn replaced_option_is_not_reported_as_selected() {
    let Some(app) = App::strange("inserts") else { return };
    app.world.ok("select label=Fruit Apple");
    app.trip();
    let ran = app.world.run(&["select", "label=Fruit", "Banana"]);
    failed(&ran, "FILL_MISMATCH");
    assert!(ran.err.contains("chose \"Pear\" instead of \"Banana\""), "{ran:?}");
    assert!(ran.err.contains("the previous choice is selected again"), "{ran:?}");
    assert_eq!(app.log(), "chose Apple\nchose Pear\nchose Apple\n");
    app.world.ok("select label=Fruit Banana");
    assert_eq!(app.last("chose"), "Banana");
}

/// Qt and GTK 3 return the bottommost element at a point.
#[test]
fn a_press_at_a_point_names_what_receives_it() {
    for (script, part) in [("qt.py", "covers"), ("app.py 3", "overlay"), ("app.py 4", "overlay")] {
        if desktop(&[PYTHON]).is_none() {
            return;
        }
        let world = World::new();
        let log = world.path().join("log");
        let (script, version) = script.split_once(' ').unwrap_or((script, ""));
        let path = workspace_root().join("fixtures/linux/widgets").join(script);
        let app = format!("linux:{PYTHON} -B {} {version} {} {part}", path.display(), log.display());
        let read = world.run(&["open", &app, "--private", "-i"]);
        assert_eq!(read.code, 0, "{part}: {read:?}");
        let [under, over, free] = ["Under", "Over", "Free"].map(|name| {
            let ran = world.run(&["get", "box", &format!("label={name}"), "--json"]);
            let json = ran.json();
            let number =
                |key: &str| json["output"]["value"][key].as_f64().unwrap_or_else(|| panic!("{ran:?}"));
            ["x", "y", "width", "height"].map(number)
        });
        // Near the end of the lower element, below the upper one.
        let end = |b: [f64; 4]| (b[0] + b[2], b[1] + b[3]);
        let both = (end(under).0 - 8.0, end(under).1.min(end(over).1) - 8.0);
        let ran = world.run(&["press", &format!("{},{}", both.0, both.1)]);
        assert_eq!(ran.code, 0, "{script} {version}: {ran:?}");
        assert!(ran.out.contains("button \"Over\""), "{script} {version}: {ran:?}");
        eventually("it is received", || std::fs::read_to_string(&log).is_ok_and(|log| !log.is_empty()));
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "clicked Over\n", "{script} {version}");
        let ran = world.run(&["press", &format!("{},{}", free[0] + 4.0, free[1] + 4.0)]);
        assert!(ran.out.contains("button \"Free\""), "{script} {version}: {ran:?}");
    }
}

/// A wheel over a number field changes the number. That also applies when an element is scrolled
/// into view.
#[test]
fn wheel_scrolls_the_container_and_changes_no_number() {
    for toolkit in TOOLKITS {
        let Some(app) = App::open(toolkit, "numbers") else { return };
        let ran = app.world.run(&["scroll", "down", "120"]);
        assert_eq!(ran.code, 0, "{toolkit}: {ran:?}");
        eventually("it is scrolled", || app.log().contains("scrolled"));
        // The wheel would change the number: the field is scrolled with the scroll bar around it,
        // or not at all.
        let ran = app.world.run(&["scroll", "down", "120", "--in", "label=\"Number 4\""]);
        match toolkit {
            "gtk3" => assert_eq!(ran.code, 0, "{toolkit}: {ran:?}"),
            _ => failed(&ran, "ELEMENT_COVERED"),
        }
        if toolkit == "qt" {
            // The field does not report its scrolling container.
            app.world.ok("scroll down 10000");
        }
        let ran = app.world.run(&["press", "label=Last"]);
        assert_eq!(ran.code, 0, "{toolkit}: {ran:?}");
        eventually("it is pressed", || app.log().contains("Last pressed"));
        assert!(!app.log().contains("Number"), "{toolkit}: {}", app.log());
    }
}
