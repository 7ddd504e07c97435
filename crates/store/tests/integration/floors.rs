//! The structure of the crate: import cycles, types and folders stay small.

#[path = "../../../testkit/src/floors.rs"]
mod graph;

use std::path::Path;

#[test]
fn import_cycles_types_and_folders_stay_small() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let imports = graph::Imports::of(&src, &[]);
    assert!(imports.contains("store", "recover"), "the search finds nothing: {imports:?}");
    graph::assert_small(&src, &[], (10, 3));
}
