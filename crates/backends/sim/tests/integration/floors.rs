//! The layers of this crate. A file imports only from its own layer and lower ones; import cycles,
//! types and folders stay small.

#[path = "../../../../testkit/src/floors.rs"]
mod graph;

use graph::Imports;
use std::path::{Path, PathBuf};

/// The modules, lowest layer first.
const FLOORS: &[&str] = &[
    "format roles input_log",
    "app faults layout library options",
    "capture draw query",
    "aim shared_app",
    "guard",
    "input sequence",
    "act device provider",
];

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn imports_go_down() {
    let imports = Imports::of(&src(), &[]);
    assert_eq!(imports.upward(FLOORS), Vec::<String>::new());
    assert!(imports.contains("device", "capture"), "the search finds nothing");
}

#[test]
fn import_cycles_types_and_folders_stay_small() {
    graph::assert_small(&src(), &[], (20, 10));
}
