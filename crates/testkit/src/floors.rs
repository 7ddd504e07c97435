//! The imports between the modules of one crate, for tests that hold its floors.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Files of a crate, each with the files that it imports from. Tests and roots of modules are left out.
type Imports = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// Returns the groups of files below `src` that import one another in a circle.
pub fn circles(src: &Path) -> Vec<Vec<PathBuf>> {
    let imports = imports(src);
    let reach: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        imports.keys().map(|file| (file, reachable(&imports, file))).collect();
    let mut found: BTreeSet<Vec<PathBuf>> = BTreeSet::new();
    for (file, below) in &reach {
        if below.contains(*file) {
            let circle = below.iter().filter(|other| reach[*other].contains(*file));
            found.insert(circle.map(|other| (*other).clone()).collect());
        }
    }
    found.into_iter().collect()
}

/// Returns the imports from a layer into one above it. `layers` are folders or files below `src`, the lowest first, those
/// of one layer separated by spaces. A file that belongs to no layer is reported, too.
pub fn upward(src: &Path, layers: &[&str]) -> Vec<String> {
    let layer_of = |file: &Path| {
        let file = file.with_extension("");
        layers.iter().position(|layer| layer.split(' ').any(|part| file.starts_with(part)))
    };
    let mut found = Vec::new();
    for (file, used) in imports(src) {
        let Some(at) = layer_of(&file) else {
            found.push(format!("{} is in no layer", file.display()));
            continue;
        };
        let above = used.iter().filter(|other| layer_of(other).is_some_and(|other| other > at));
        found.extend(above.map(|other| format!("{} -> {}", file.display(), other.display())));
    }
    found
}

fn reachable<'i>(imports: &'i Imports, from: &Path) -> BTreeSet<&'i PathBuf> {
    let mut found = BTreeSet::new();
    let mut next: Vec<&PathBuf> = imports[from].iter().collect();
    while let Some(file) = next.pop() {
        if found.insert(file) {
            next.extend(imports.get(file).into_iter().flatten());
        }
    }
    found
}

fn imports(src: &Path) -> Imports {
    let mut files = Vec::new();
    list(src, src, &mut files);
    let modules: BTreeMap<Vec<String>, PathBuf> = files.iter().map(|f| (module_of(f), f.clone())).collect();
    let paths: BTreeMap<&PathBuf, Vec<Vec<String>>> =
        files.iter().map(|f| (f, paths_in(&src.join(f), &module_of(f)))).collect();
    let mut found = Imports::new();
    for file in files.iter().filter(|f| !is_root(f)) {
        let used = paths[file].iter().filter_map(|path| resolve(path, &modules, &paths, 0));
        found.insert(file.clone(), used.filter(|other| other != file && !is_root(other)).collect());
    }
    found
}

fn list(src: &Path, folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for path in entries.map(|e| e.expect("an entry").path()) {
        let stem = path.file_stem().unwrap_or_default();
        if stem == "tests" || stem == "testing" {
            continue;
        }
        if path.is_dir() {
            list(src, &path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path.strip_prefix(src).expect("below the folder").to_owned());
        }
    }
}

fn is_root(file: &Path) -> bool {
    file.ends_with("mod.rs") || file == Path::new("lib.rs")
}

fn module_of(file: &Path) -> Vec<String> {
    let path = if is_root(file) { file.parent().unwrap_or(file).to_owned() } else { file.with_extension("") };
    path.iter().map(|part| part.to_string_lossy().into_owned()).collect()
}

/// Follows re-exports in roots of modules to the file that defines a name.
fn resolve(
    path: &[String],
    modules: &BTreeMap<Vec<String>, PathBuf>,
    paths: &BTreeMap<&PathBuf, Vec<Vec<String>>>,
    depth: usize,
) -> Option<PathBuf> {
    let (length, file) = (0..=path.len()).rev().find_map(|n| Some((n, modules.get(&path[..n])?)))?;
    if let Some(name) = path.get(length)
        && is_root(file)
        && depth < 8
        && let Some(exported) = paths[file].iter().find(|p| p.last() == Some(name) && p.as_slice() != path)
    {
        return resolve(exported, modules, paths, depth + 1);
    }
    Some(file.clone())
}

/// All paths from the root of the crate that the code of a file names, its unit tests left out.
fn paths_in(file: &Path, module: &[String]) -> Vec<Vec<String>> {
    let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let product = text.find("\n#[cfg(test)]\nmod tests {").map_or(text.as_str(), |at| &text[..at]);
    let code: String =
        product.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut found = Vec::new();
    for (at, _) in code.match_indices("::").filter(|(at, _)| code[..*at].ends_with(['e', 'r'])) {
        let start = match &code[..at] {
            c if c.ends_with("crate") => Vec::new(),
            c if c.ends_with("super") => module[..module.len().saturating_sub(1)].to_vec(),
            _ => continue,
        };
        expand(&start, &code[at + 2..], &mut found);
    }
    let is_root = file.ends_with("mod.rs") || file.ends_with("lib.rs");
    for part in code.split(';').map(str::trim_start).filter(|_| is_root) {
        if let Some(at) = part.find("use ").filter(|_| part.contains("pub")) {
            expand(module, &part[at + 4..], &mut found);
        }
    }
    found
}

/// Reads `a::{b, c::d}` behind a prefix; returns what follows.
fn expand<'c>(prefix: &[String], text: &'c str, found: &mut Vec<Vec<String>>) -> &'c str {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = rest.trim_start().trim_start_matches(',').trim_start();
            if let Some(after) = rest.strip_prefix('}') {
                return after;
            }
            let after = expand(prefix, rest, found);
            if after.len() == rest.len() {
                return after;
            }
            rest = after;
        }
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let mut path = prefix.to_vec();
    if end > 0 && &text[..end] != "self" {
        path.push(text[..end].to_owned());
    }
    match text[end..].strip_prefix("::") {
        Some(rest) if end > 0 => expand(&path, rest, found),
        _ => {
            found.push(path);
            &text[end..]
        }
    }
}
