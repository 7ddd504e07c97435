//! The floors of this crate. A file imports from its own floor or from lower ones, and no circle of imports is larger than
//! [`LARGEST`] files. Code of tests is left out.

#[path = "../../../testkit/src/floors.rs"]
mod floors;

use floors::Imports;
use std::path::{Path, PathBuf};

/// Files of `src` and folders with their file, the lowest floor first; those of one floor may import each other.
const FLOORS: &[&str] = &[
    "toolkit limits",
    "bus opening",
    "model events",
    "capture",
    "screen",
    "app",
    "aim",
    "verify",
    "act",
    "device",
    "provider::app_dirs provider::config provider::installed",
    "provider::launch",
    "provider::desktop provider::doctor",
    "provider",
];

/// Files that may be in one circle of imports.
const LARGEST: usize = 6;

/// Methods that a type may have, its own and those of traits.
const METHODS: usize = 40;

/// Files that a folder may have.
const FILES: usize = 20;

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn imports() -> Imports {
    Imports::of(&src(), &[])
}

#[test]
fn imports_go_down() {
    let imports = imports();
    assert!(imports.count() > 300, "the search finds too little: {imports:?}");
    assert_eq!(imports.upward(FLOORS), Vec::<String>::new());
}

#[test]
fn circles_are_small() {
    let imports = imports();
    let circles = imports.circles(LARGEST);
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn a_wrong_import_and_a_large_circle_are_named() {
    let mut imports = imports();
    imports.add("toolkit", "device");
    assert_eq!(imports.upward(FLOORS), ["toolkit -> device"]);
    assert_eq!(imports.circles(LARGEST).len(), 1);
}

#[test]
fn no_folder_has_too_many_files() {
    assert_eq!(floors::full_folders(&src(), FILES), []);
    assert!(!floors::full_folders(&src(), 10).is_empty(), "the search finds nothing");
}

#[test]
fn no_type_has_too_many_methods() {
    let sources = floors::sources(&src(), &[]);
    assert_eq!(floors::large_types(&sources, METHODS), []);
    assert!(!floors::large_types(&sources, 20).is_empty(), "the search finds nothing");
}

/// What is true of one toolkit stands in `toolkit/`: who names one elsewhere decides by it.
#[test]
fn toolkits_are_named_in_one_folder() {
    let mut sources = floors::sources(&src(), &[]);
    let named = |sources: &floors::Sources| -> Vec<String> {
        let decides = |code: &str| {
            let code = code.split("mod tests {").next().unwrap_or_default();
            code.match_indices("Toolkit::")
                .any(|(at, _)| code[at + 9..].starts_with(|c: char| c.is_uppercase()))
        };
        let elsewhere = |module: &str| module != "toolkit" && !module.starts_with("toolkit::");
        sources.iter().filter(|(m, code)| elsewhere(m) && decides(code)).map(|(m, _)| m.clone()).collect()
    };
    assert_eq!(named(&sources), Vec::<String>::new());
    sources.insert("act".to_owned(), "if link.toolkit == Toolkit::Gtk3 {".to_owned());
    assert_eq!(named(&sources), ["act"]);
}
