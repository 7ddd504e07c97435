//! The commands and options that hints of the product name.

use std::path::{Path, PathBuf};

/// Values for the parts of a hint that are known only at run time.
const FILLED: &[(&str, &str)] = &[
    ("{dialog}", "@e1"),
    ("{id}", "t2"),
    ("{what}", "sim:shop"),
    ("{name}", "main"),
    ("{command}", "press"),
    ("{private}", ""),
    ("{line}", "2"),
    ("{harness}", "codex"),
    ("{}", "press"),
];

/// Crates whose messages name options that no command of the registry has.
const FRONT_ENDS: &[&str] = &[
    "crates/cli",
    "crates/cmdline",
    "crates/console",
    "crates/install",
    "crates/mcp",
    "crates/stickpin",
    "crates/replay",
];

/// Returns each command line and each option that the string literals of all product sources name,
/// in backticks and preceded by its file and line. A formatted literal may be a command line as a
/// whole; inside a sentence, a command line has backticks.
///
/// # Panics
/// Panics when the sources cannot be read, or when a sentence names a command without backticks.
#[must_use]
pub fn hint_mentions() -> Vec<(String, String)> {
    let root = crate::workspace_root();
    let mut files = Vec::new();
    sources(&root.join("crates"), &mut files);
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a source can be read");
        let product = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let shown = file.strip_prefix(&root).unwrap_or(&file).display();
        for (at, line) in product.lines().enumerate() {
            let code = line.trim_start();
            if code.starts_with("//") || code.starts_with('#') {
                continue;
            }
            let place = format!("{shown}:{}", at + 1);
            for outside in code.split('`').step_by(2) {
                let is_bare = ["run stickpin ", "with stickpin "];
                assert!(!is_bare.iter().any(|bare| outside.contains(bare)), "{place}: {outside}");
            }
            // The name and the version of the program are not a command line.
            let is_command =
                |literal: &&str| literal.starts_with("stickpin ") && !literal.starts_with("stickpin {");
            let whole = code.split("format!(\"").skip(1).filter_map(|rest| rest.split('"').next());
            let whole = whole.filter(is_command);
            for part in code.split('`').skip(1).step_by(2).chain(whole) {
                // Front ends also have their own options.
                let is_option = part.starts_with("--")
                    && !FRONT_ENDS.iter().any(|crate_| file.starts_with(root.join(crate_)));
                if part.starts_with("stickpin ") || is_option {
                    let part = FILLED
                        .iter()
                        .fold(part.replace("\\\"", "\""), |part, (hole, value)| part.replace(hole, value));
                    // "did you mean `stickpin {near}`?" contains nothing but a name.
                    if !part.contains('{') || part.contains("[{") {
                        found.push((place.clone(), format!("`{part}`")));
                    }
                }
            }
        }
    }
    found
}

/// Collects the product's sources below a folder.
fn sources(dir: &Path, files: &mut Vec<PathBuf>) {
    const NOT_PRODUCT: &[&str] =
        &["tests", "tests.rs", "test_data", "testkit", "fake", "fake.rs", "target", "benches"];
    for entry in std::fs::read_dir(dir).expect("a folder can be read") {
        let path = entry.expect("an entry can be read").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if NOT_PRODUCT.contains(&name) {
            continue;
        }
        if path.is_dir() {
            sources(&path, files);
        } else if name.ends_with(".rs") {
            files.push(path);
        }
    }
}
