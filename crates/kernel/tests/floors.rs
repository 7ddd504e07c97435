//! The floors of this crate: folders are layers, and a module uses only what lies on its own floor or below it.

use std::collections::{BTreeMap, BTreeSet};
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
const EXCEPTIONS: &[(&str, &str)] = &[("commands::batch", "registry")];

/// Files of the largest circle that is allowed.
const CIRCLE: usize = 6;

/// Modules by path, with their production code.
fn modules(dir: &Path, prefix: &str, found: &mut BTreeMap<String, String>) {
    for path in std::fs::read_dir(dir).expect("a folder").map(|e| e.expect("an entry").path()) {
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if ["lib", "tests", "fake"].contains(&stem.as_str()) {
            continue;
        }
        let name = if prefix.is_empty() { stem } else { format!("{prefix}::{stem}") };
        if path.is_dir() {
            modules(&path, &name, found);
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source");
        let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        found.insert(name, code.collect::<Vec<_>>().join("\n"));
    }
}

/// Reads one path, or a tree of paths in braces; answers how long it was.
fn expand(code: &str, prefix: &str, out: &mut Vec<String>) -> usize {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let end = code.find(|c| !word(c)).unwrap_or(code.len());
    let path = format!("{prefix}{}", &code[..end]);
    if !path.ends_with("::") || !code[end..].starts_with('{') {
        out.push(path);
        return end;
    }
    let mut at = end + 1;
    loop {
        at += code[at..].find(|c: char| !c.is_whitespace() && c != ',').expect("the end of a tree");
        match expand(&code[at..], &path, out) {
            0 => return at + 1,
            length => at += length,
        }
    }
}

/// The modules that each one names, behind `crate::` or `super::`.
fn arrows() -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    modules(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut found);
    let module_of = |path: &String| {
        let ends = path.match_indices("::").map(|(at, _)| at).chain([path.len()]);
        ends.map(|end| &path[..end]).filter(|start| found.contains_key(*start)).last().map(str::to_owned)
    };
    let named = |(name, code): (&String, &String)| {
        let above = name.rsplit_once("::").map_or(String::new(), |(above, _)| format!("{above}::"));
        let mut paths = Vec::new();
        for (start, base) in [("crate::", ""), ("super::", above.as_str())] {
            for (at, _) in code.match_indices(start) {
                let inside = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
                if !code[..at].ends_with(inside) {
                    expand(&code[at + start.len()..], base, &mut paths);
                }
            }
        }
        (name.clone(), paths.iter().filter_map(module_of).filter(|to| to != name).collect())
    };
    found.iter().map(named).collect()
}

fn floor(module: &str) -> usize {
    let folder = module.split("::").next().unwrap_or_default();
    FLOORS.iter().position(|f| *f == folder).unwrap_or_else(|| panic!("{module} is on no floor"))
}

#[test]
fn arrows_between_floors_point_down() {
    let arrows = arrows();
    assert!(arrows["act"].contains("observe::resolve"), "the search finds nothing: {arrows:?}");
    let all = arrows.iter().flat_map(|(from, below)| below.iter().map(|to| (from.as_str(), to.as_str())));
    let up: Vec<_> = all.filter(|(from, to)| floor(to) > floor(from)).collect();
    assert_eq!(up, EXCEPTIONS);
}

#[test]
fn circles_stay_small() {
    let arrows = arrows();
    let reach = |from: &String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(at) = open.pop() {
            open.extend(arrows[at].iter().filter(|to| seen.insert((*to).clone())));
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> = arrows.keys().map(|m| (m, reach(m))).collect();
    for (module, seen) in &reached {
        let circle: Vec<&String> = seen.iter().filter(|to| reached[to].contains(*module)).collect();
        assert!(circle.len() <= CIRCLE, "a circle of {}: {circle:?}", circle.len());
    }
}
