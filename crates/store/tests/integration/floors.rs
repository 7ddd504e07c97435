//! The inside of the crate: circles of imports stay small, and no type or folder grows into a place
//! where nobody finds anything.

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
