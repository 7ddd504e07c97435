//! Bundles the agent's modules into one script, in plain Rust. The modules are joined in the order
//! in which the entry imports them, without their `import` and `export` statements, inside one
//! function. Cycles among functions are allowed, as in modules. Code that runs while a module is
//! being loaded may use only earlier modules.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// The beginning of the script, which does nothing if the script is already installed.
const BEGIN: &str = "(() => {\n\"use strict\";\nif (Object.hasOwn(globalThis, \"__stickpin\")) return;\n";
const END: &str = "})();";

/// A parsed module.
struct Module {
    /// The code without imports and exports.
    body: String,
    /// The imported modules, each with the names imported from it. Without names, the module is
    /// only loaded.
    imports: Vec<(PathBuf, Vec<String>)>,
    /// The declared names, and whether they are exported.
    declares: Vec<(String, bool)>,
}

/// Bundles `entry` and the modules that it imports into one script. `read` reads a module.
///
/// # Errors
/// Returns a message that names a missing module, a name that is not exported, or one that is
/// declared twice.
pub fn bundle(entry: &Path, read: impl Fn(&Path) -> Result<String, String>) -> Result<String, String> {
    let load = |path: &Path| take_apart(path, &read(path)?);
    let last = load(entry)?;
    let mut modules = Vec::new();
    for (path, _) in last.imports.iter().filter(|(_, names)| names.is_empty()) {
        modules.push((path.clone(), load(path)?));
    }
    modules.push((entry.to_owned(), last));
    let mut declared: BTreeMap<&str, (&Path, bool)> = BTreeMap::new();
    for (path, module) in &modules {
        for (name, exported) in &module.declares {
            if let Some((other, _)) = declared.insert(name, (path, *exported)) {
                return Err(format!("{name} is declared in {} and in {}", other.display(), path.display()));
            }
        }
    }
    for (path, module) in &modules {
        for (from, names) in &module.imports {
            for name in names {
                if declared.get(name.as_str()) != Some(&(from, true)) {
                    return Err(format!(
                        "{} does not export {name}, which {} imports",
                        from.display(),
                        path.display()
                    ));
                }
            }
            if !modules.iter().any(|(other, _)| other == from) {
                return Err(format!("{} is not imported by {}", from.display(), entry.display()));
            }
        }
    }
    let bodies: String = modules.iter().map(|(_, module)| module.body.as_str()).collect();
    Ok(format!("{BEGIN}{bodies}{END}"))
}

fn take_apart(path: &Path, text: &str) -> Result<Module, String> {
    let mut module = Module { body: String::new(), imports: Vec::new(), declares: Vec::new() };
    let mut lines = text.lines();
    // Inside a list of names: whether they are exported.
    let mut listing = None;
    while let Some(line) = lines.next() {
        if line.starts_with("import ") {
            let mut statement = line.to_owned();
            while !statement.ends_with(';') {
                let next = lines.next().ok_or_else(|| format!("{}: an import has no end", path.display()))?;
                statement.push_str(next);
            }
            let quoted = statement.split('\'').nth(1);
            let from = quoted.ok_or_else(|| format!("{}: {statement}", path.display()))?;
            let names = statement.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
            let names = names.map_or("", |(names, _)| names).split(',').map(str::trim);
            let names = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
            module.imports.push((beside(path, from), names));
            continue;
        }
        let plain = line.strip_prefix("export ").unwrap_or(line);
        let exported = plain != line;
        if listing.is_some() || plain.starts_with("const [") {
            // Read the list of names up to its end.
            let exported = *listing.get_or_insert(exported);
            let names = plain.trim_start_matches("const [").split(']').next().unwrap_or_default();
            let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
            module.declares.extend(names.map(|name| (name.to_owned(), exported)));
            listing = listing.filter(|_| !plain.contains(']'));
        } else {
            module.declares.extend(declared(plain).map(|name| (name.to_owned(), exported)));
        }
        module.body.push_str(plain);
        module.body.push('\n');
    }
    Ok(module)
}

/// Returns the name that a line at the top level of a module declares.
fn declared(line: &str) -> Option<&str> {
    let line = line.strip_prefix("async ").unwrap_or(line);
    let rest = ["function ", "function* ", "const ", "let ", "class "]
        .iter()
        .find_map(|word| line.strip_prefix(word))?;
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len());
    Some(&rest[..end]).filter(|name| !name.is_empty())
}

/// Resolves the path of an import in a module.
fn beside(module: &Path, from: &str) -> PathBuf {
    let mut path = module.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(from).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path
}
