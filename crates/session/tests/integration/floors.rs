//! The structure of the crate: its import cycles, types and folders stay small.

#[path = "../../../testkit/src/floors.rs"]
mod graph;

use graph::Imports;
use std::path::{Path, PathBuf};

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn import_cycles_types_and_folders_stay_small() {
    let imports = Imports::of(&src(), &[]);
    assert!(imports.contains("align", "table"), "the search finds nothing: {imports:?}");
    graph::assert_small(&src(), &[], (20, 3));
}
