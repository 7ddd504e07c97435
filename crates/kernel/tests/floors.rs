//! The floors of this crate: folders are layers, and a module uses only what lies on its own floor or below it.

#[path = "../../testkit/src/floors.rs"]
mod floors;

use floors::Imports;
use std::path::Path;

/// Lowest first.
const FLOORS: &[&str] = &[
    "api",
    "host",
    "command",
    "observe",
    "picture",
    "recording",
    "act",
    "run",
    "commands",
    "registry",
    "targets",
    "dispatch",
];

/// What still points up: `batch` asks the list of commands for those of its steps.
const EXCEPTIONS: &[&str] = &["commands::batch -> registry"];

/// Files of the largest circle that is allowed.
const CIRCLE: usize = 6;

fn imports() -> Imports {
    Imports::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &["fake"])
}

#[test]
fn arrows_between_floors_point_down() {
    let imports = imports();
    assert!(imports.contains("act", "observe::resolve"), "the search finds nothing: {imports:?}");
    assert_eq!(imports.upward(FLOORS), EXCEPTIONS);
}

#[test]
fn circles_stay_small() {
    let imports = imports();
    let circles = imports.circles(CIRCLE);
    assert!(circles.is_empty(), "{circles:#?}");
}
