//! The floors of this crate: folders are layers, imports point down only.

#[path = "../../testkit/src/floors.rs"]
mod floors;

use floors::Imports;
use std::path::{Path, PathBuf};

/// Layers of the crate, the lowest first.
const LAYERS: [&str; 14] = [
    "model",
    "identity::memo identity::step_count",
    "identity::fingerprint",
    "identity::rows",
    "identity::verdict identity::row_label identity::element_name identity::element_text",
    "identity::surroundings",
    "identity::element_context identity::evidence",
    "identity::opener",
    "identity::meaning",
    "identity::cache identity::candidates identity::compare identity::element_reader identity::enclosing identity::rematch identity::resemblance",
    "identity::context",
    "selector",
    "outline markdown",
    "diff",
];

/// Files that import one another in one circle, at most.
const MOST_IN_CIRCLE: usize = 6;

const MOST_METHODS: usize = 40;
const MOST_IN_FOLDER: usize = 20;

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The roots of folders define what all below them share, or re-export it: they belong to no layer.
fn imports() -> Imports {
    Imports::of(&src(), &["mod"])
}

#[test]
fn imports_between_layers_point_down() {
    let imports = imports();
    assert!(imports.count() > 100, "the search finds too little: {imports:#?}");
    assert_eq!(imports.upward(&LAYERS), Vec::<String>::new());
}

#[test]
fn circles_of_imports_are_small() {
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
    assert!(!floors::large_types(&sources, 20).is_empty(), "the search finds nothing");
}
