//! The floors of this crate: folders are layers, imports point down only.

#[path = "../../testkit/src/floors.rs"]
mod floors;

use floors::Imports;
use std::path::Path;

/// Layers of the crate, the lowest first.
const LAYERS: [&str; 14] = [
    "model",
    "identity::step_count",
    "identity::fingerprint",
    "identity::rows",
    "identity::verdict identity::row_label identity::element_name identity::element_text",
    "identity::surroundings",
    "identity::element_context identity::evidence",
    "identity::opener",
    "identity::meaning",
    "identity::cache identity::compare identity::element_reader identity::enclosing identity::rematch identity::resemblance",
    "identity::context",
    "selector",
    "outline markdown",
    "diff",
];

/// Files that import one another in one circle, at most.
const MOST_IN_CIRCLE: usize = 6;

/// The roots of folders define what all below them share, or re-export it: they belong to no layer.
fn imports() -> Imports {
    Imports::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &["mod", "testing"])
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
