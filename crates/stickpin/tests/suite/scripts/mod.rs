//! Scripts through the real binary: recorded, replayed, repaired, run as suites, stopped, and
//! invalid. The app's log shows which element received the input.

mod bad;
#[cfg(all(feature = "web", target_os = "linux"))]
mod canteen;
#[cfg(all(feature = "web", target_os = "linux"))]
mod late;
#[cfg(all(feature = "web", target_os = "linux"))]
mod maestro;
mod repair;
mod reports;
#[cfg(all(feature = "web", target_os = "linux"))]
mod secrets;
mod suites;
mod tools;

use crate::support::{Ran, World, words};
use std::path::PathBuf;

/// A shop of two rows with configurable labels: `{add}` and `{stew}` are placeholders for them.
const APP: &str = r#"
title = "Canteen"
about = "Lunch"
start = "/"
[state]
name = ""
[screens.menu]
url = "/"
title = "Menu"
view = '''
h1 "Menu"
list
  li
    p "Soup"
    button "{add}" press=toast('Soup is added')
  li
    p "{stew}"
    button "{add}" press=toast('Stew is added')
textbox "Name" bind=name
button "{order}" press=goto('/done')
'''
[screens.done]
url = "/done"
title = "Done"
view = '''
h1 "Thank you, {name}"
'''
"#;

/// A world with its own app and scripts.
struct Desk {
    world: World,
}

impl Desk {
    fn new() -> Self {
        let desk = Self { world: World::new() };
        desk.app("Add", "Stew", "Order");
        desk
    }

    /// Writes the app with these names of its buttons and its second row.
    fn app(&self, add: &str, stew: &str, order: &str) {
        let app = APP.replace("{add}", add).replace("{stew}", stew).replace("{order}", order);
        self.write("app.toml", &app);
    }

    /// Returns the argument of `open` for the app.
    fn address(&self) -> String {
        format!(
            "sim:{}?clock=virtual&log={}",
            self.path("app.toml").display(),
            self.path("app.log").display()
        )
    }

    fn path(&self, name: &str) -> PathBuf {
        self.world.path().join("shop").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("it can be written");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Runs a command. Progress lines, which appear only on a slow machine, are removed from its
    /// output.
    fn run(&self, line: &str) -> Ran {
        let mut ran = self.world.run(&words(line));
        ran.err = ran.err.split_inclusive('\n').filter(|line| !is_progress(line)).collect();
        ran
    }

    fn ok(&self, line: &str) -> String {
        self.world.ok(line)
    }

    /// Returns the input that the app received since the last call: `press Add`.
    fn received(&self) -> Vec<String> {
        let path = self.path("app.log");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        // The device appends to the file by its name.
        if path.exists() {
            std::fs::write(&path, "").expect("it can be emptied");
        }
        let line = |line: &str| {
            let entry: serde_json::Value = serde_json::from_str(line).expect("a line of the log");
            let words =
                ["event", "element", "detail"].map(|key| entry[key].as_str().unwrap_or("").to_owned());
            words.join(" ").trim_end().to_owned()
        };
        text.lines().map(line).filter(|l| l.starts_with("press") || l.starts_with("fill")).collect()
    }
}

/// Returns the ref of the line that ends with this text.
fn ref_of(text: &str, rest: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| line.starts_with("@e") && line.ends_with(rest));
    let line = line.unwrap_or_else(|| panic!("no {rest:?} in\n{text}"));
    line.split(' ').next().unwrap_or_default().to_owned()
}

/// Returns whether a line shows a running step: `5/7 flow.ad:10 press @e1`.
fn is_progress(line: &str) -> bool {
    let counts = line.split(' ').next().and_then(|counts| counts.split_once('/'));
    counts.is_some_and(|(done, all)| [done, all].iter().all(|n| n.parse::<usize>().is_ok()))
}

/// Returns the command in a hint, without the program.
fn said(err: &str, begins: &str) -> String {
    let at = err.find(begins).unwrap_or_else(|| panic!("no {begins:?} in {err}"));
    let rest = &err[at..];
    let end = rest.find(['\n', ';', '`']).unwrap_or(rest.len());
    rest[..end].trim_start_matches("stickpin ").trim().to_owned()
}
