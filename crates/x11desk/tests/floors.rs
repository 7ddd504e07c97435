//! The inside of the crate: modules of one floor use those below them only, circles stay small, and no type or folder
//! grows into a place where nobody finds anything.

#[path = "../../testkit/src/floors.rs"]
mod floors;

use floors::Imports;
use std::path::{Path, PathBuf};

/// The modules of the crate, lowest first; those of one floor may import each other.
const FLOORS: &[&str] = &[
    "address atoms fault keymap window",
    "display clipboard",
    "picture pings seat spares windows",
    "window_manager",
    "pointer",
    "keyboard",
    "focus",
    "x11",
    "held private",
];
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
    assert!(imports.contains("focus", "keyboard"), "the search finds nothing: {imports:?}");
}

#[test]
fn circles_are_small() {
    let imports = imports();
    let circles = imports.circles(MOST_IN_CIRCLE);
    assert!(circles.is_empty(), "{circles:#?}");
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
