//! Debian apps that no other test uses, each driven through a short task by the binary on a private
//! display. The app's own output proves success, never an answer of stickpin. An app that cannot be
//! read is refused by name.

use crate::support::{Ran, World, eventually, words};
use std::path::{Path, PathBuf};
use stickpin_testkit::installed_desktop;

/// A world with one app.
struct Task {
    world: World,
}

impl Task {
    /// Starts a task. Returns `None`, with a message on stderr, if the app is not installed.
    fn new(programs: &[&str]) -> Option<Self> {
        installed_desktop(programs)?;
        Some(Self { world: World::new() })
    }

    /// Returns the working directory of the commands, and therefore of the app.
    fn folder(&self) -> PathBuf {
        self.world.path().join("shop")
    }

    fn run(&self, line: &str) -> Ran {
        self.world.run(&words(line))
    }

    #[track_caller]
    fn does(&self, lines: &[&str]) {
        for line in lines {
            let ran = self.run(line);
            assert_eq!(ran.code, 0, "{line}: {ran:?}");
        }
    }

    /// Waits for a text in a file that the app writes.
    #[track_caller]
    fn wrote(&self, file: &str, text: &str) {
        let mut there = String::new();
        eventually(&format!("{file} has {text:?}"), || {
            there = std::fs::read_to_string(self.world.path().join(file)).unwrap_or_default();
            there.contains(text)
        });
    }

    /// Opens an editor on a new file, types, and saves.
    #[track_caller]
    fn edits(&self, editor: &str, save: &str) {
        let open = format!("open 'linux:{editor} notes.txt' --private");
        let typed = format!("type --into 'role=textbox focused' 'Hello {editor}'");
        self.does(&[&open, "wait 'role=textbox focused'", &typed, save]);
        self.wrote("shop/notes.txt", &format!("Hello {editor}"));
        // The home folder belongs to the app: `close` removes nothing from it.
        self.does(&["close"]);
        self.wrote("shop/notes.txt", &format!("Hello {editor}"));
    }
}

/// Returns whether a text is in any file of a folder or its subfolders.
fn is_in(folder: &Path, text: &str) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| {
        if path.is_dir() {
            return is_in(&path, text);
        }
        std::fs::read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(text))
    })
}

macro_rules! task {
    ($programs:expr) => {
        match Task::new($programs) {
            Some(task) => task,
            None => return,
        }
    };
}

#[test]
fn mousepad_saves_a_file_in_the_callers_folder() {
    task!(&["mousepad"]).edits("mousepad", "key Control+s");
}

#[test]
fn l3afpad_saves_a_file() {
    task!(&["l3afpad"]).edits("l3afpad", "key Control+s");
}

#[test]
fn pluma_saves_a_file_by_its_button() {
    task!(&["pluma"]).edits("pluma", "press 'role=button label=Save' --settle");
}

#[test]
fn geany_saves_a_file_by_its_button() {
    task!(&["geany"]).edits("geany", "press 'role=button label=Save' --settle");
}

#[test]
fn juffed_saves_a_file_by_its_button() {
    let task = task!(&["juffed"]);
    std::fs::write(task.folder().join("notes.txt"), "").unwrap();
    task.edits("juffed", "press 'role=button label=Save' --settle");
}

#[test]
fn gnote_keeps_a_note() {
    let task = task!(&["gnote"]);
    task.does(&[
        "open linux:gnote --private",
        "press 'role=button label=Add' --settle",
        "wait 'role=textbox focused'",
        "type --into 'role=textbox focused' 'Hello gnote'",
        "key Control+q",
    ]);
    eventually("the note is written", || is_in(&task.world.path().join(".local/share/gnote"), "Hello gnote"));
}

#[test]
fn galculator_remembers_its_mode() {
    let task = task!(&["galculator"]);
    task.does(&[
        "open linux:galculator --private",
        "press 'role=menuitem label=View' --settle",
        "press 'role=menuitemradio label=\"Scientific Mode\"' --settle",
        "key Control+q",
    ]);
    task.wrote(".config/galculator/galculator.conf", "\nmode=1\n");
}

#[test]
fn kcalc_remembers_its_mode() {
    let task = task!(&["kcalc"]);
    task.does(&[
        "open linux:kcalc --private",
        "press 'role=menuitem label=Settings' --settle",
        "press 'role=menuitem label=\"Science Mode\"' --settle",
        "key Control+q",
    ]);
    task.wrote(".config/kcalcrc", "CalculatorMode=science");
}

#[test]
fn speedcrunch_keeps_its_history() {
    let task = task!(&["speedcrunch"]);
    task.does(&["open linux:speedcrunch --private", "fill role=textbox '6*7'", "key Enter", "key Control+q"]);
    task.wrote(".local/share/SpeedCrunch/history.json", "6*7");
}

#[test]
fn gnumeric_saves_a_cell_in_a_new_file() {
    let task = task!(&["gnumeric", "zcat"]);
    let file = task.folder().join("sheet.gnumeric");
    task.does(&[
        "open linux:gnumeric --private",
        "type 'forty-two'",
        "key Enter",
        "key Control+s",
        "wait 'role=textbox label=\"Name:\" focused'",
        &format!("fill 'role=textbox label=\"Name:\"' {}", file.display()),
        "press 'role=button label=Save in(role=dialog)' --settle",
    ]);
    eventually("the cell is in the file", || {
        let text = std::process::Command::new("zcat").arg(&file).output().unwrap().stdout;
        String::from_utf8_lossy(&text).contains("forty-two")
    });
}

/// Two files fill less than one row of four columns, so Dolphin reports no rows.
#[test]
fn dolphin_lists_fewer_files_than_columns_and_makes_a_folder() {
    let task = task!(&["dolphin"]);
    let files = task.folder().join("files");
    std::fs::create_dir(&files).unwrap();
    for name in ["one.txt", "two.txt"] {
        std::fs::write(files.join(name), name).unwrap();
    }
    task.does(&["open 'linux:dolphin files' --private", "wait 'role=cell label=two.txt'"]);
    let read = task.world.ok("snapshot -i");
    assert!(read.contains("cell \"one.txt\"") && read.contains("cell \"two.txt\""), "{read}");
    task.does(&["key F10 --settle", "fill 'role=textbox focused' made", "key Enter"]);
    eventually("the folder is made", || files.join("made").is_dir());
}

#[test]
fn gnome_clocks_keeps_an_alarm() {
    let task = task!(&["gnome-clocks"]);
    task.does(&[
        "open linux:gnome-clocks --private",
        "press 'role=tab label=Alarms' --settle",
        "press 'role=button label=\"New Alarm\"' --settle",
        "fill 'role=textbox label=Name' 'Tea is ready'",
        "press 'role=button label=Add in(role=dialog)' --settle",
    ]);
    task.wrote(".config/glib-2.0/settings/keyfile", "Tea is ready");
}

#[test]
fn gnome_clocks_adds_a_city_on_the_page_of_its_tab() {
    let task = task!(&["gnome-clocks"]);
    task.does(&["open linux:gnome-clocks --private", "press 'role=tab label=Timer' --settle"]);
    let shown = |line: &str, there: &str, behind: &str| {
        let ran = task.run(line);
        assert!(ran.out.contains(there) && !ran.out.contains(behind), "{line}: {ran:?}");
    };
    shown("snapshot -i", "\"30 m\"", "\"Add World Clock\"");
    task.does(&["press 'role=tab label=World' --settle"]);
    shown("snapshot -i", "\"Add World Clock\"", "\"30 m\"");
    task.does(&[
        "press 'role=button label=\"Add World Clock\"' --settle",
        "fill role=textbox London --settle",
        "press 'role=listitem label~=\"United Kingdom\"' --settle",
        "press 'role=button label=Add' --settle",
    ]);
    task.wrote(".config/glib-2.0/settings/keyfile", "London");
}

const TK: &str = r#"
wm title . "Tk Notes"
wm geometry . 300x200+100+100
entry .entry
place .entry -x 10 -y 10 -width 200 -height 30
button .save -text Save -command {write saved.txt [.entry get]}
place .save -x 10 -y 60 -width 100 -height 40
proc write {name text} {
  set file [open $name w]
  puts -nonewline $file $text
  close $file
}
proc at {widget} { return [expr {[winfo rootx $widget] + 9}],[expr {[winfo rooty $widget] + 9}] }
after 300 {write places.txt "[at .entry] [at .save] there"}
puts stderr "the notes are up"
"#;

#[test]
fn an_app_of_tk_is_refused_with_what_drives_it_and_driven_so() {
    let task = task!(&["wish"]);
    std::fs::write(task.folder().join("notes.tcl"), TK).unwrap();
    let ran = task.run("open 'linux:wish notes.tcl' --private");
    assert!(ran.code != 0 && ran.err.starts_with("UNSUPPORTED: "), "{ran:?}");
    for word in [
        "the window \"Tk Notes\"",
        "not on the accessibility bus",
        "the notes are up",
        "linux:desktop --private",
    ] {
        assert!(ran.err.contains(word), "{word:?} is not in {ran:?}");
    }
    std::fs::remove_file(task.folder().join("places.txt")).unwrap();
    task.does(&["open linux:desktop --private"]);
    let ran = task.run("open 'linux:wish notes.tcl'");
    assert!(ran.code == 0 && ran.err.contains("use `screenshot`, `press X,Y`, `type` and `key`"), "{ran:?}");
    task.wrote("shop/places.txt", "there");
    let places = std::fs::read_to_string(task.folder().join("places.txt")).unwrap();
    let [entry, button, _] = places.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{places}") };
    task.does(&[&format!("press {entry}"), "type 'Hello Tk'", &format!("press {button}")]);
    task.wrote("shop/saved.txt", "Hello Tk");
}

#[test]
fn apps_without_accessibility_are_refused_by_name() {
    for (program, words) in [
        ("xterm", &["the window \"", "not on the accessibility bus", "stickpin open linux:desktop"][..]),
        ("pcmanfm", &["GTK 2", "apt install libatk-adaptor"][..]),
    ] {
        let Some(task) = Task::new(&[program]) else { continue };
        let ran = task.run(&format!("open linux:{program} --private"));
        assert!(ran.code != 0 && ran.err.starts_with("UNSUPPORTED: "), "{ran:?}");
        for word in words {
            assert!(ran.err.contains(word), "{word:?} is not in {ran:?}");
        }
    }
}
