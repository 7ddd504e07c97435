//! The layers of this crate. A file imports only from its own layer and lower ones; import cycles,
//! types and folders stay small.

#[path = "../../../testkit/src/floors.rs"]
mod graph;

use graph::Imports;
use std::path::{Path, PathBuf};

/// The modules of the crate, lowest layer first.
const FLOORS: &[&str] =
    &["text", "agent", "state", "events", "tab", "capture", "debugger_probes", "read", "wait", "act"];

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn imports() -> Imports {
    Imports::of(&src(), &[])
}

#[test]
fn modules_use_what_is_below_them() {
    let imports = imports();
    assert_eq!(imports.upward(FLOORS), Vec::<String>::new());
    assert!(imports.contains("act::mouse", "read::page"), "the search finds nothing: {imports:?}");
}

#[test]
fn import_cycles_types_and_folders_stay_small() {
    graph::assert_small(&src(), &[], (20, 3));
}
