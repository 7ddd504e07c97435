//! The layers of this crate: folders are layers, and imports point only downward.

#[path = "../../../testkit/src/floors.rs"]
mod graph;

use graph::Imports;
use std::path::{Path, PathBuf};

/// The layers of the crate, lowest first.
const LAYERS: [&str; 12] = [
    "model",
    "identity::memo identity::step_count",
    "identity::fingerprint",
    "identity::rows",
    "identity::verdict identity::row_search identity::element_name identity::element_text",
    "identity::surroundings",
    "identity::evidence identity::record identity::opener identity::meaning",
    "identity::cache identity::candidates identity::records identity::element_reader identity::row_part identity::content_match identity::text_similarity",
    "identity::context",
    "selector",
    "outline markdown",
    "diff",
];

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Returns the imports. The root modules of folders define or re-export what the modules below them
/// share, so they belong to no layer.
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
fn import_cycles_types_and_folders_stay_small() {
    graph::assert_small(&src(), &["mod"], (20, 3));
}
