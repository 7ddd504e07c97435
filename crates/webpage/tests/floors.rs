//! The inside of the crate: modules of one floor use those below them only, circles stay small, and no type or folder
//! grows into a place where nobody finds anything.

#[path = "../../testkit/src/floors.rs"]
mod floors;

use floors::Imports;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The modules of the crate, lowest first.
const FLOORS: &[&str] =
    &["text", "agent", "state", "events", "tab", "capture", "unseen", "read", "wait", "act"];
const MOST_IN_CIRCLE: usize = 6;
const MOST_METHODS: usize = 40;
const MOST_IN_FOLDER: usize = 20;

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn imports() -> Imports {
    Imports::of(&src(), &[])
}

#[test]
fn modules_use_what_is_below_them() {
    let imports = imports();
    assert_eq!(imports.upward(FLOORS), Vec::<String>::new());
    assert!(imports.contains("act::mouse", "read::page"), "the search finds nothing: {imports:?}");
}

#[test]
fn circles_are_small() {
    let imports = imports();
    let circles = imports.circles(MOST_IN_CIRCLE);
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn no_folder_has_too_many_files() {
    let mut folders = vec![src()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let (below, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
        assert!(files.len() <= MOST_IN_FOLDER, "{} has {} files", folder.display(), files.len());
        folders.extend(below);
    }
}

#[test]
fn no_type_has_too_many_methods() {
    let mut methods: BTreeMap<String, usize> = BTreeMap::new();
    let sources = floors::sources(&src(), &[]);
    assert!(sources.len() > 25, "{} sources", sources.len());
    for code in sources.values() {
        let mut of = None;
        for line in code.lines() {
            if let Some(what) = line.strip_prefix("impl") {
                let what = what.rsplit(" for ").next().unwrap_or(what);
                let name = what.trim_start_matches(|c: char| !c.is_alphabetic());
                of = name.split(|c: char| !c.is_alphanumeric()).next().map(str::to_owned);
            } else if line.starts_with('}') {
                of = None;
            } else if line.starts_with("    ")
                && !line.starts_with("     ")
                && line.contains("fn ")
                && let Some(name) = &of
            {
                *methods.entry(name.clone()).or_default() += 1;
            }
        }
    }
    assert!(methods["Tab"] > 20, "the search finds nothing: {methods:?}");
    let many: Vec<_> = methods.iter().filter(|(_, count)| **count > MOST_METHODS).collect();
    assert_eq!(many, []);
}
