//! The floors of this crate: folders are layers, and a module uses only what lies on its own floor
//! or below it. No type and no folder grows into a place where nobody finds anything.

#[path = "../../../testkit/src/floors.rs"]
mod graph;

use graph::Imports;
use std::path::{Path, PathBuf};

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
    "embed",
];

/// What still points up: `batch` asks the list of commands for those of its steps.
const EXCEPTIONS: &[&str] = &["commands::session::batch -> registry"];

/// Methods of the context of a command.
const CONTEXT: usize = 20;

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn imports() -> Imports {
    Imports::of(&src(), &[])
}

#[test]
fn arrows_between_floors_point_down() {
    let imports = imports();
    assert!(imports.contains("act", "observe::resolve"), "the search finds nothing: {imports:?}");
    assert_eq!(imports.upward(FLOORS), EXCEPTIONS);
}

#[test]
fn the_context_of_a_command_stays_small() {
    let sources = graph::sources(&src(), &[]);
    let context: Vec<_> =
        graph::large_types(&sources, 0).into_iter().filter(|(name, _)| name == "Cx").collect();
    assert!(matches!(context[..], [(_, methods)] if methods <= CONTEXT), "{context:?}");
}

#[test]
fn the_context_of_a_command_is_extended_nowhere() {
    let sources = graph::sources(&src(), &[]);
    let with_methods =
        sources.iter().filter(|(_, code)| code.lines().any(|line| line.starts_with("impl Cx")));
    assert_eq!(with_methods.map(|(module, _)| module.as_str()).collect::<Vec<_>>(), ["command::context"]);
}

#[test]
fn import_cycles_types_and_folders_stay_small() {
    graph::assert_small(&src(), &[], (10, 3));
}
