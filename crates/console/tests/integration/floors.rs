//! Folders are layers: what is drawn and what waits never reaches into the state from below.

#[path = "../../../testkit/src/floors.rs"]
mod graph;

use graph::Imports;
use std::path::Path;

/// Lowest first.
const FLOORS: &[&str] = &["context", "model", "setup view", "run"];

#[test]
fn imports_point_down() {
    let imports = Imports::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &[]);
    assert!(imports.contains("run::screen", "model::app"), "the search finds nothing: {imports:?}");
    assert_eq!(imports.upward(FLOORS), Vec::<String>::new());
}
