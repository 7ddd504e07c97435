//! The layers of this crate. A file imports only from its own layer and lower ones; import cycles,
//! types and folders stay small. Test code is excluded.

#[path = "../../../testkit/src/floors.rs"]
mod floors;

use floors::Imports;
use std::path::{Path, PathBuf};

/// The modules of `src`, the lowest layer first. Modules of one layer may import each other.
const FLOORS: &[&str] = &[
    "toolkit::profile limits",
    "bus",
    "model events fuzzing",
    "capture::question",
    "toolkit",
    "capture",
    "screen",
    "app",
    "aim",
    "verify",
    "act",
    "device",
    "provider::config provider::installed",
    "provider::opening",
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
    imports.add("model", "device");
    assert_eq!(imports.upward(FLOORS), ["model -> device"]);
    assert_eq!(imports.circles(floors::MOST_IN_CIRCLE).len(), 1);
}

/// Words that name a toolkit, its libraries or its classes.
const TOOLKITS: &[&str] = &[
    "gtk",
    "gdk",
    "adw",
    "hdy",
    "qt",
    "gecko",
    "firefox",
    "chromium",
    "electron",
    "office",
    "vcl",
    "accesskit",
    "webkit",
    "java",
];

/// Toolkit-specific code belongs in `toolkit/`: a toolkit's name elsewhere means a decision that
/// depends on the toolkit. Only the provider names some, in messages and as settings of the
/// person's session.
#[test]
fn toolkits_are_named_in_one_folder() {
    let mut sources = floors::sources(&src(), &[]);
    assert!(sources.keys().any(|module| module == "toolkit::profile"), "{:?}", sources.keys());
    let enumerated: Vec<&str> = sources["toolkit::profile"]
        .split("pub(crate) enum Toolkit {")
        .nth(1)
        .and_then(|rest| rest.split('}').next())
        .map(|variants| variants.split([',', '\n', ' ']).filter(|word| !word.is_empty()).collect())
        .unwrap_or_default();
    let variants = enumerated.iter().filter(|word| word.chars().all(char::is_alphanumeric));
    let unnamed = |word: &&&str| !TOOLKITS.iter().any(|toolkit| word.to_lowercase().starts_with(toolkit));
    assert_eq!(variants.filter(unnamed).collect::<Vec<_>>(), [&"Other"], "a toolkit without a word");
    let named = |sources: &floors::Sources| -> Vec<String> {
        let decides = |code: &str| {
            let code = code.split("mod tests {").next().unwrap_or_default();
            let mut words = code.split(|c: char| !c.is_alphanumeric());
            // The start of a word, as in `GtkMenuButton`, or a whole one, as in `act_in_qt`.
            let names = |word: &str| {
                let lower = word.to_lowercase();
                TOOLKITS.iter().any(|toolkit| {
                    lower.strip_prefix(toolkit).is_some_and(|rest| {
                        rest.is_empty() || toolkit.len() > 2 || rest.starts_with(|c: char| c.is_numeric())
                    })
                })
            };
            words.any(names)
        };
        let exempt = ["toolkit", "provider"];
        let elsewhere = |module: &str| !exempt.contains(&module.split("::").next().unwrap_or_default());
        sources.iter().filter(|(m, code)| elsewhere(m) && decides(code)).map(|(m, _)| m.clone()).collect()
    };
    assert_eq!(named(&sources), Vec::<String>::new());
    for code in [
        "if link.toolkit == Toolkit::Gtk3 {",
        "object.name == \"AdwGizmo\"",
        "capture::qt::read(link)",
        "is_qt5()",
    ] {
        sources.insert("act".to_owned(), code.to_owned());
        assert_eq!(named(&sources), ["act"], "{code}");
    }
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
