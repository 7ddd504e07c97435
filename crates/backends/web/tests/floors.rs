//! The floors of this crate: a module uses only what lies on its own floor or below it; circles of imports stay small, and
//! no type or folder grows into a place where nobody finds anything.

#[path = "../../../testkit/src/floors.rs"]
mod floors;

use floors::Imports;
use std::path::{Path, PathBuf};

/// Lowest first.
const FLOORS: &[&str] = &[
    "address downloads find",
    "around launch",
    "driven",
    "gate",
    "events",
    "hang navigate tabs",
    "act facets",
    "fold",
    "device provider",
];
const MOST_IN_CIRCLE: usize = 6;
const MOST_METHODS: usize = 40;
const MOST_IN_FOLDER: usize = 20;

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn imports_go_down() {
    let imports = Imports::of(&src(), &[]);
    assert_eq!(imports.upward(FLOORS), Vec::<String>::new());
}

#[test]
fn circles_are_small() {
    let imports = Imports::of(&src(), &[]);
    assert_eq!(imports.circles(MOST_IN_CIRCLE).into_iter().collect::<Vec<_>>(), Vec::<Vec<&str>>::new());
    assert!(imports.contains("device", "driven"), "the search finds nothing");
}

#[test]
fn no_folder_has_too_many_files() {
    assert_eq!(floors::full_folders(&src(), MOST_IN_FOLDER), []);
    assert!(!floors::full_folders(&src(), 3).is_empty(), "the search finds nothing");
}

#[test]
fn no_type_has_too_many_methods() {
    let sources = floors::sources(&src(), &[]);
    assert_eq!(floors::large_types(&sources, MOST_METHODS), []);
    assert!(!floors::large_types(&sources, 10).is_empty(), "the search finds nothing");
}
