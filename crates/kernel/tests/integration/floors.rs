//! The layers of this crate: folders are layers, and a file imports only from its own layer and
//! lower ones. Types and folders stay small.

#[path = "../../../testkit/src/floors.rs"]
mod graph;

use graph::Imports;
use std::path::{Path, PathBuf};

/// The modules, lowest layer first.
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

/// The maximum number of methods of a command's context.
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
    assert_eq!(imports.upward(FLOORS), [""; 0]);
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
