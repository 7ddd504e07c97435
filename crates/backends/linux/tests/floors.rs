//! The layers of this crate. A file imports only from its own layer and lower ones; import cycles,
//! types and folders stay small. Test code is excluded.

#[path = "../../../testkit/src/floors.rs"]
mod floors;

use floors::Imports;
use std::path::{Path, PathBuf};

/// The modules of `src`, the lowest layer first. Modules of one layer may import each other.
const FLOORS: &[&str] = &[
    "toolkit limits",
    "bus opening",
    "model events fuzzing",
    "capture",
    "screen",
    "app",
    "aim",
    "verify",
    "act",
    "device",
    "provider::app_dirs provider::config provider::installed",
    "provider::launch",
    "provider::desktop provider::doctor",
    "provider",
];

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn imports() -> Imports {
    Imports::of(&src(), &[])
}

#[test]
fn imports_go_down() {
    let imports = imports();
    assert!(imports.count() > 300, "the search finds too little: {imports:?}");
    assert_eq!(imports.upward(FLOORS), Vec::<String>::new());
}

#[test]
fn a_wrong_import_and_a_large_circle_are_named() {
    let mut imports = imports();
    imports.add("toolkit", "device");
    assert_eq!(imports.upward(FLOORS), ["toolkit -> device"]);
    assert_eq!(imports.circles(floors::MOST_IN_CIRCLE).len(), 1);
}

/// Toolkit-specific code belongs in `toolkit/`: a toolkit's name elsewhere is a decision by
/// toolkit.
#[test]
fn toolkits_are_named_in_one_folder() {
    let mut sources = floors::sources(&src(), &[]);
    let named = |sources: &floors::Sources| -> Vec<String> {
        let decides = |code: &str| {
            let code = code.split("mod tests {").next().unwrap_or_default();
            code.match_indices("Toolkit::")
                .any(|(at, _)| code[at + 9..].starts_with(|c: char| c.is_uppercase()))
        };
        let elsewhere = |module: &str| module != "toolkit" && !module.starts_with("toolkit::");
        sources.iter().filter(|(m, code)| elsewhere(m) && decides(code)).map(|(m, _)| m.clone()).collect()
    };
    assert_eq!(named(&sources), Vec::<String>::new());
    sources.insert("act".to_owned(), "if link.toolkit == Toolkit::Gtk3 {".to_owned());
    assert_eq!(named(&sources), ["act"]);
}

/// The window and the element at a point are each determined in one place. Captures also ask for
/// the objects at points, but not for an input.
#[test]
fn what_an_input_reaches_is_resolved_in_one_place() {
    let sources = floors::sources(&src(), &[]);
    let asking = |call: &str| -> Vec<&str> {
        let asks = |(module, code): &(&String, &String)| {
            !module.starts_with("capture") && !module.starts_with("toolkit") && code.contains(call)
        };
        sources.iter().filter(asks).map(|(module, _)| module.as_str()).collect()
    };
    assert_eq!(asking("::toplevel_at("), ["app::window_stack"]);
    assert_eq!(asking("::at_point("), ["aim::hit::named"]);
}

#[test]
fn import_cycles_types_and_folders_stay_small() {
    floors::assert_small(&src(), &[], (20, 10));
}
