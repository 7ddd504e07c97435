//! The layers of this crate. A file imports only from its own layer and lower ones; import cycles,
//! types and folders stay small.

#[path = "../../testkit/src/floors.rs"]
mod floors;

use floors::Imports;
use std::path::{Path, PathBuf};

/// The modules of the crate, lowest first.
const FLOORS: &[&str] = &["handles", "merge", "members", "environment", "route", "act device read"];

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn modules_use_what_is_below_them() {
    let imports = Imports::of(&src(), &[]);
    assert_eq!(imports.upward(FLOORS), Vec::<String>::new());
    assert!(imports.contains("act", "route"), "the search finds nothing: {imports:?}");
}

#[test]
fn import_cycles_types_and_folders_stay_small() {
    floors::assert_small(&src(), &[], (30, 3));
}
