//! The imports between the modules of one crate, for tests that check its layers.
//!
//! Tests include this file by path, because a dependency on this crate would build all others.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

/// The production code of each module by path (`act::mouse`), without comments and unit tests.
pub type Sources = BTreeMap<String, String>;

/// Reads the modules below `src`. Omits files and folders named in `without` or called `tests`, and
/// the root of the crate. A `mod.rs` is the module of its folder.
///
/// # Panics
/// Panics if a file cannot be read.
#[must_use]
pub fn sources(src: &Path, without: &[&str]) -> Sources {
    let mut found = Sources::new();
    read(src, "", &mut |module, stem, code| {
        if !without.contains(&stem) {
            found.insert(module, code);
        }
    });
    let is_inside = |module: &str| module.split("::").any(|part| without.contains(&part));
    found.retain(|module, _| !is_inside(module));
    found
}

/// The maximum number of modules in an import cycle.
pub const MOST_IN_CIRCLE: usize = 6;
/// The maximum number of methods of a type.
pub const MOST_METHODS: usize = 40;
/// The maximum number of files directly in a folder.
pub const MOST_IN_FOLDER: usize = 20;

/// Fails on a cycle, type or folder above the limits. `busiest` has counts that the crate is known
/// to exceed, for methods of a type and files of a folder. A search that finds nothing therefore
/// fails too.
///
/// # Panics
/// Panics if a limit is exceeded, or if a file cannot be read.
pub fn assert_small(src: &Path, without: &[&str], busiest: (usize, usize)) {
    let imports = Imports::of(src, without);
    let circles = imports.circles(MOST_IN_CIRCLE);
    assert!(circles.is_empty(), "{circles:#?}");
    let modules = sources(src, &[]);
    assert_eq!(large_types(&modules, MOST_METHODS), []);
    assert!(!large_types(&modules, busiest.0).is_empty(), "the search finds no types");
    assert_eq!(full_folders(src, MOST_IN_FOLDER), []);
    assert!(!full_folders(src, busiest.1).is_empty(), "the search finds no folders");
}

/// Returns the types with more than `max` methods over all modules of a crate. Inherent and trait
/// methods are counted together.
#[must_use]
pub fn large_types(sources: &Sources, max: usize) -> Vec<(String, usize)> {
    let mut methods: BTreeMap<String, usize> = BTreeMap::new();
    for code in sources.values() {
        let mut of = None;
        for line in code.lines() {
            if let Some(what) = line.strip_prefix("impl") {
                let what = what.rsplit(" for ").next().unwrap_or(what);
                let what =
                    if what.starts_with('<') { what.split_once("> ").map_or(what, |(_, t)| t) } else { what };
                let name = what.trim_start_matches(|c: char| !c.is_alphabetic());
                of = name.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().map(str::to_owned);
            } else if line.starts_with('}') {
                of = None;
            } else if line.starts_with("    ")
                && !line.starts_with("     ")
                && line.contains("fn ")
                && let Some(name) = &of
            {
                *methods.entry(name.clone()).or_default() += 1;
            }
        }
    }
    methods.into_iter().filter(|(_, count)| *count > max).collect()
}

/// Returns the folders that directly contain more than `max` files; `src` itself is the empty name.
///
/// # Panics
/// Panics if a folder cannot be read.
#[must_use]
pub fn full_folders(src: &Path, max: usize) -> Vec<(String, usize)> {
    let (mut found, mut next) = (Vec::new(), vec![src.to_owned()]);
    while let Some(folder) = next.pop() {
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let (below, files): (Vec<_>, Vec<_>) =
            entries.map(|entry| entry.expect("an entry").path()).partition(|path| path.is_dir());
        if files.len() > max {
            let name = folder.strip_prefix(src).unwrap_or(&folder).display().to_string();
            found.push((name, files.len()));
        }
        next.extend(below);
    }
    found
}

/// The imports of each module of a crate.
#[derive(Clone)]
pub struct Imports(BTreeMap<String, BTreeSet<String>>);

impl Imports {
    /// Finds all paths that start with `crate`, `self` or `super`, and those in `use`, in the
    /// modules of [`sources`]. A path to an omitted module is followed to the module that it
    /// re-exports the name from.
    ///
    /// # Panics
    /// Panics if a file cannot be read.
    #[must_use]
    pub fn of(src: &Path, without: &[&str]) -> Self {
        let mut all: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
        read(src, "", &mut |module, _, code| {
            let paths = paths(&code).iter().filter_map(|path| absolute(path, &module, src)).collect();
            all.insert(module, paths);
        });
        let kept = sources(src, without);
        let imports_of = |module: &String| {
            let found = all[module].iter().filter_map(|path| resolve(path, &all, &kept, 0));
            found.filter(|other| other != module).collect()
        };
        Self(kept.keys().map(|module| (module.clone(), imports_of(module))).collect())
    }

    /// Returns whether a module imports another one.
    #[must_use]
    pub fn contains(&self, from: &str, to: &str) -> bool {
        self.0.get(from).is_some_and(|imports| imports.contains(to))
    }

    /// Returns the number of imports.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.values().map(BTreeSet::len).sum()
    }

    /// Adds an import.
    ///
    /// # Panics
    /// Panics if there is no module `from`.
    pub fn add(&mut self, from: &str, to: &str) {
        self.0.get_mut(from).expect("a module").insert(to.to_owned());
    }

    /// Returns the imports from a layer into one above it, as `from -> to`. `layers` are module
    /// paths including everything below them, the lowest first; modules of one layer are separated
    /// by spaces. A module that belongs to no layer is reported too.
    #[must_use]
    pub fn upward(&self, layers: &[&str]) -> Vec<String> {
        let is_below = |module: &str, part: &str| {
            module.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        let layer_of = |module: &str| {
            layers.iter().position(|layer| layer.split(' ').any(|part| is_below(module, part)))
        };
        let mut found = Vec::new();
        for (module, used) in &self.0 {
            let Some(at) = layer_of(module) else {
                found.push(format!("{module} is in no layer"));
                continue;
            };
            let above = used.iter().filter(|other| layer_of(other).is_some_and(|other| other > at));
            found.extend(above.map(|other| format!("{module} -> {other}")));
        }
        found
    }

    /// Returns the import cycles with more than `max` modules.
    #[must_use]
    pub fn circles(&self, max: usize) -> BTreeSet<Vec<&str>> {
        let reach: BTreeMap<&str, _> =
            self.0.keys().map(|module| (module.as_str(), self.reachable(module))).collect();
        let mut found = BTreeSet::new();
        for (module, below) in &reach {
            let circle = below.iter().copied().filter(|other| reach[other].contains(module));
            found.insert(circle.collect::<Vec<_>>());
        }
        found.retain(|circle| circle.len() > max);
        found
    }

    fn reachable<'m>(&'m self, from: &'m str) -> BTreeSet<&'m str> {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(module) = next.pop() {
            next.extend(self.0[module].iter().map(String::as_str).filter(|other| seen.insert(*other)));
        }
        seen
    }
}

impl fmt::Debug for Imports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Calls `each` with the module, stem and code of every file below a folder.
fn read(folder: &Path, module: &str, each: &mut dyn FnMut(String, &str, String)) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for path in entries.map(|e| e.expect("an entry").path()) {
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if stem == "tests" || (module.is_empty() && stem == "lib") {
            continue;
        }
        let name = if module.is_empty() { stem.clone() } else { format!("{module}::{stem}") };
        if path.is_dir() {
            read(&path, &name, each);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            let code = code.collect::<Vec<_>>().join("\n");
            let end = code.find("#[cfg(test)]\nmod tests {").unwrap_or(code.len());
            let name = if stem == "mod" { module.to_owned() } else { name };
            each(name, &stem, code[..end].to_owned());
        }
    }
}

/// Returns all paths in the code: those of `use`, and others that start with `crate`, `self` or
/// `super`.
fn paths(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    for line in code.lines() {
        let words = line.trim_start();
        let is_use = words.starts_with("use ") || (words.starts_with("pub") && words.contains(" use "));
        if open.is_none() && is_use {
            open = Some(String::new());
        }
        let Some(statement) = &mut open else { continue };
        statement.push_str(words);
        statement.push(' ');
        if words.ends_with(';') {
            let whole = open.take().unwrap_or_default();
            let tree = whole.split_once("use ").map_or("", |(_, tree)| tree.trim_end_matches([' ', ';']));
            expand(tree, &mut found);
        }
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let starts = ["crate::", "self::", "super::"];
    let inline =
        code.split(|c| !is_word(c)).filter(|path| starts.iter().any(|start| path.starts_with(start)));
    found.extend(inline.map(str::to_owned));
    found
}

/// Expands an import tree into paths: `a::{b, c::d}` into `a::b` and `a::c::d`.
fn expand(tree: &str, found: &mut Vec<String>) {
    let Some((start, rest)) = tree.split_once('{') else {
        return found.push(tree.split(" as ").next().unwrap_or(tree).trim().to_owned());
    };
    let (mut depth, mut part) = (0, String::new());
    for c in rest[..rest.rfind('}').expect("a closed tree")].chars().chain([',']) {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if c == ',' && depth == 0 {
            let part = std::mem::take(&mut part);
            if !part.trim().is_empty() {
                expand(&format!("{}{}", start.trim(), part.trim()), found);
            }
        } else {
            part.push(c);
        }
    }
}

/// Converts a path in a module to one from the crate root. Returns `None` if it leads out of the
/// crate.
fn absolute(path: &str, module: &str, src: &Path) -> Option<Vec<String>> {
    let mut parts: Vec<&str> = path.split("::").filter(|part| !part.is_empty()).collect();
    let mut base: Vec<&str> = module.split("::").filter(|part| !part.is_empty()).collect();
    match *parts.first()? {
        "crate" => base.clear(),
        "self" => {}
        "super" => {
            while parts.get(1) == Some(&"super") {
                base.pop();
                parts.remove(0);
            }
            base.pop();
        }
        // A module below this one.
        first => {
            let child = src.join(base.join("/")).join(first);
            if !child.is_dir() && !child.with_extension("rs").is_file() {
                return None;
            }
            parts.insert(0, "self");
        }
    }
    Some(base.into_iter().chain(parts.into_iter().skip(1)).map(str::to_owned).collect())
}

/// Returns the module that a path leads to. An omitted module is followed to the one that it
/// re-exports the name from.
fn resolve(
    path: &[String],
    all: &BTreeMap<String, Vec<Vec<String>>>,
    kept: &Sources,
    depth: usize,
) -> Option<String> {
    let length = (1..=path.len()).rev().find(|&n| all.contains_key(&path[..n].join("::")))?;
    let module = path[..length].join("::");
    if kept.contains_key(&module) {
        return Some(module);
    }
    let name = path.get(length).filter(|_| depth < 8)?;
    let exported = all[&module].iter().find(|p| p.last() == Some(name) && p.as_slice() != path)?;
    resolve(exported, all, kept, depth + 1)
}
