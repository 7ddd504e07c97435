//! The inside of the crate: modules of one floor use those below them only, circles stay small, and no type or folder
//! grows into a place where nobody finds anything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The modules of the crate, lowest first.
const FLOORS: &[&str] =
    &["text", "agent", "state", "events", "tab", "capture", "unseen", "read", "wait", "act"];
const MOST_IN_CIRCLE: usize = 6;
const MOST_METHODS: usize = 40;
const MOST_IN_FOLDER: usize = 20;

/// The sources by module path (`read::page`), without tests.
fn sources() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&root, &mut files);
    let module = |file: &PathBuf| {
        let path = file.strip_prefix(&root).unwrap().with_extension("");
        path.iter().map(|part| part.to_str().unwrap()).collect::<Vec<_>>().join("::")
    };
    let code = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
    };
    let all = files.iter().map(|file| (module(file), code(file)));
    all.filter(|(module, _)| module != "lib" && !module.ends_with("tests")).collect()
}

fn walk(dir: &Path, files: &mut Vec<PathBuf>) {
    let entries: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    let here = entries.iter().filter(|path| path.is_file()).count();
    assert!(here <= MOST_IN_FOLDER, "{} has {here} files", dir.display());
    for path in entries {
        if path.is_dir() {
            walk(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The modules that a source names.
fn named(module: &str, code: &str, all: &BTreeMap<String, String>) -> BTreeSet<String> {
    let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
    let mut found = BTreeSet::new();
    let mut add = |path: &str| {
        let mut path = path.trim_matches(':');
        while !path.is_empty() {
            if all.contains_key(path) {
                if path != module {
                    found.insert(path.to_owned());
                }
                return;
            }
            path = path.rsplit_once("::").map_or("", |(above, _)| above);
        }
    };
    for (start, base) in [("crate::", ""), ("super::", parent), ("self::", module)] {
        for (at, _) in code.match_indices(start) {
            let rest = &code[at + start.len()..];
            let end =
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(rest.len());
            let path = format!("{base}::{}", &rest[..end]);
            let path = path.trim_matches(':');
            match rest[end..].strip_prefix('{') {
                Some(group) => {
                    let group = group.split(['}', ';']).next().unwrap_or_default();
                    for name in group.split(',').map(|name| name.split_whitespace().next().unwrap_or("")) {
                        add(&format!("{path}::{}", name.trim_start_matches("self")));
                    }
                }
                None => add(path),
            }
        }
    }
    found
}

fn graph() -> BTreeMap<String, BTreeSet<String>> {
    let all = sources();
    assert!(all.len() > 25, "{} sources", all.len());
    all.iter().map(|(module, code)| (module.clone(), named(module, code, &all))).collect()
}

fn floor(module: &str) -> usize {
    let top = module.split("::").next().unwrap_or_default();
    FLOORS.iter().position(|name| *name == top).unwrap_or_else(|| panic!("{top} has no floor"))
}

#[test]
fn modules_use_what_is_below_them() {
    let graph = graph();
    let arrows = graph.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
    let upward: Vec<_> = arrows.filter(|(from, to)| floor(to) > floor(from)).collect();
    assert_eq!(upward, [], "these point upward");
    assert!(graph["act::mouse"].contains("read::page"), "the search finds nothing: {graph:?}");
}

#[test]
fn circles_are_small() {
    let graph = graph();
    let reached = |from: &String| {
        let mut seen = BTreeSet::new();
        let mut open = vec![from.clone()];
        while let Some(next) = open.pop() {
            open.extend(graph[&next].iter().filter(|to| seen.insert((*to).clone())).cloned());
        }
        seen
    };
    let reach: BTreeMap<_, _> = graph.keys().map(|module| (module, reached(module))).collect();
    for (module, ahead) in &reach {
        let circle: Vec<_> = ahead.iter().filter(|to| reach[to].contains(*module)).collect();
        assert!(circle.len() <= MOST_IN_CIRCLE, "a circle of {} files: {circle:?}", circle.len());
    }
}

#[test]
fn no_type_has_too_many_methods() {
    let mut methods: BTreeMap<String, usize> = BTreeMap::new();
    for code in sources().values() {
        let mut of = None;
        for line in code.lines() {
            if let Some(what) = line.strip_prefix("impl") {
                let what = what.rsplit(" for ").next().unwrap_or(what);
                let name = what.trim_start_matches(|c: char| !c.is_alphabetic());
                of = name.split(|c: char| !c.is_alphanumeric()).next().map(str::to_owned);
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
    assert!(methods["Tab"] > 20, "the search finds nothing: {methods:?}");
    let many: Vec<_> = methods.iter().filter(|(_, count)| **count > MOST_METHODS).collect();
    assert_eq!(many, []);
}
