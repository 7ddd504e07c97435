//! Folders are layers: the state imports neither the code that draws nor the code that waits.

#[path = "../../../testkit/src/floors.rs"]
mod graph;

use graph::Imports;
use std::path::Path;

/// The layers, lowest first.
const FLOORS: &[&str] = &["context", "model", "setup view", "run"];

#[test]
fn imports_point_down() {
    let imports = Imports::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &[]);
    assert!(imports.contains("run::screen", "model::app"), "the search finds nothing: {imports:?}");
    assert_eq!(imports.upward(FLOORS), Vec::<String>::new());
}
