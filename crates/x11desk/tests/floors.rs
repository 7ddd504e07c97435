//! The layers of this crate. A file imports only from its own layer and lower ones; import cycles,
//! types and folders stay small.

#[path = "../../testkit/src/floors.rs"]
mod floors;

use floors::Imports;
use std::path::{Path, PathBuf};

/// The modules of the crate, lowest layer first; modules of one layer may import each other.
const FLOORS: &[&str] = &[
    "address atoms error keymap window",
    "display clipboard",
    "screenshot pings seat windows",
    "window_manager",
    "pointer",
    "keyboard",
    "focus",
    "x11",
    "held_input private",
];

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
    assert!(imports.contains("focus", "keyboard"), "the search finds nothing: {imports:?}");
}

#[test]
fn import_cycles_types_and_folders_stay_small() {
    floors::assert_small(&src(), &[], (10, 3));
}
