//! The floors of this crate: folders are layers, imports point down only.

// The parser of the testkit by its path: a dependency on it would build every crate for these tests.
#[path = "../../testkit/src/floors.rs"]
mod floors;

use std::path::{Path, PathBuf};

/// Layers of the crate, the lowest first.
const LAYERS: [&str; 14] = [
    "model",
    "identity/step_count identity/switches",
    "identity/fingerprint",
    "identity/rows",
    "identity/verdict identity/row_label identity/element_name identity/element_text",
    "identity/surroundings",
    "identity/evidence",
    "identity/opener",
    "identity/meaning",
    "identity/cache identity/compare identity/enclosing identity/live_context identity/rematch identity/resemblance",
    "identity/context",
    "selector",
    "outline markdown",
    "diff",
];

/// Files that import one another in one circle, at most.
const MOST_IN_CIRCLE: usize = 6;

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn imports_between_layers_point_down() {
    let up = floors::upward(&src(), &LAYERS);
    assert!(up.is_empty(), "{up:#?}");
}

#[test]
fn circles_of_imports_are_small() {
    let circles = floors::circles(&src());
    let large: Vec<_> = circles.iter().filter(|c| c.len() > MOST_IN_CIRCLE).collect();
    assert!(large.is_empty(), "{large:#?}");
}
