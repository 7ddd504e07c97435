//! The inside of the crate: modules of one floor use those below them only, circles stay small, and no type or folder
//! grows into a place where nobody finds anything.

#[path = "../../testkit/src/floors.rs"]
mod floors;

use floors::Imports;
use std::path::{Path, PathBuf};

/// The modules of the crate, lowest first.
const FLOORS: &[&str] = &["handles", "merge", "parts", "ground", "route", "act device read"];
const MOST_IN_CIRCLE: usize = 6;
const MOST_METHODS: usize = 40;
const MOST_IN_FOLDER: usize = 20;

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn modules_use_what_is_below_them() {
    let imports = Imports::of(&src(), &[]);
    assert_eq!(imports.upward(FLOORS), Vec::<String>::new());
    assert!(imports.contains("act", "route"), "the search finds nothing: {imports:?}");
    assert!(imports.circles(MOST_IN_CIRCLE).is_empty(), "{:?}", imports.circles(MOST_IN_CIRCLE));
}

#[test]
fn folders_and_types_stay_small() {
    assert_eq!(floors::full_folders(&src(), MOST_IN_FOLDER), []);
    assert_eq!(floors::large_types(&floors::sources(&src(), &[]), MOST_METHODS), []);
    assert!(!floors::large_types(&floors::sources(&src(), &[]), 30).is_empty(), "the search finds nothing");
}
