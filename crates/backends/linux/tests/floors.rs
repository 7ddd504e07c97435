//! The floors of this crate. A file imports from its own floor or from lower ones, and no circle of imports is larger than
//! [`LARGEST`] files. Code of tests is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Files of `src` and folders with their file, the lowest floor first; those of one floor may import each other.
const FLOORS: &[&[&str]] = &[
    &["at_once", "toolkit", "limits", "app_dirs", "names"],
    &["bus", "ids", "opening"],
    &["private", "states"],
    &["display", "roles"],
    &["extents", "model", "events"],
    &["capture", "tables"],
    &["screen"],
    &["app"],
    &["filled", "aim"],
    &["verify"],
    &["act", "ahead", "apps", "mouse", "screenshot"],
    &["query", "keyboard", "focus", "pressing", "select", "settle", "typed", "upload"],
    &["device"],
    &["desktop", "doctor", "launch", "provider"],
];

/// Files that may be in one circle of imports.
const LARGEST: usize = 6;

type Graph = BTreeMap<String, BTreeSet<String>>;

fn sources(dir: &Path, module: &str, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(dir).expect("a folder of ours").map(|e| e.expect("an entry").path()) {
        let stem = entry.file_stem().expect("a name").to_string_lossy().into_owned();
        let name = if module.is_empty() { stem.clone() } else { format!("{module}::{stem}") };
        if entry.is_dir() {
            if name != "tests" {
                sources(&entry, &name, found);
            }
        } else if stem != "lib" {
            let name = if stem == "mod" { module.to_owned() } else { name };
            found.insert(name, std::fs::read_to_string(&entry).expect("a source"));
        }
    }
}

/// The paths of a tree of imports: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn expand(tree: &str, out: &mut Vec<String>) {
    let Some((start, rest)) = tree.split_once('{') else {
        return out.push(tree.split(" as ").next().unwrap_or(tree).trim().to_owned());
    };
    let (mut depth, mut part) = (0, String::new());
    for c in rest[..rest.rfind('}').expect("a closed tree")].chars().chain([',']) {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if c == ',' && depth == 0 {
            let part = std::mem::take(&mut part);
            if !part.trim().is_empty() {
                expand(&format!("{}{}", start.trim(), part.trim()), out);
            }
        } else {
            part.push(c);
        }
    }
}

/// All paths that a source names by `use`, `crate::`, `self::` or `super::`, apart from those in its tests.
fn paths(source: &str) -> Vec<String> {
    let code: Vec<&str> = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let code = &code[..code.find("#[cfg(test)]\nmod tests {").unwrap_or(code.len())];
    let mut out = Vec::new();
    for statement in code.split("use ").skip(1) {
        if let Some((tree, _)) = statement.split_once(';') {
            expand(&tree.split_whitespace().collect::<Vec<_>>().join(" "), &mut out);
        }
    }
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let inline = code
        .split(|c| !word(c))
        .filter(|p| ["crate::", "self::", "super::"].iter().any(|s| p.starts_with(s)));
    out.extend(inline.map(str::to_owned));
    out
}

/// The file that a path in a file leads to, where it is another one of ours.
fn resolve(path: &str, from: &str, files: &BTreeMap<String, String>) -> Option<String> {
    let mut parts: Vec<&str> = path.split("::").filter(|part| !part.is_empty()).collect();
    let mut base: Vec<&str> = from.split("::").collect();
    match *parts.first()? {
        "crate" => base.clear(),
        "self" => {}
        "super" => {
            while parts.first() == Some(&"super") {
                base.pop();
                parts.remove(0);
            }
            parts.insert(0, "");
        }
        first if files.contains_key(&format!("{from}::{first}")) => parts.insert(0, ""),
        _ => return None,
    }
    base.extend(&parts[1..]);
    while !base.is_empty() && !files.contains_key(&base.join("::")) {
        base.pop();
    }
    Some(base.join("::")).filter(|to| !to.is_empty() && to != from)
}

fn graph() -> Graph {
    let mut files = BTreeMap::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut files);
    let arrows = |(name, source): (&String, &String)| {
        (name.clone(), paths(source).iter().filter_map(|path| resolve(path, name, &files)).collect())
    };
    files.iter().map(arrows).collect()
}

fn floor(file: &str) -> Option<usize> {
    let folder = file.split("::").next().unwrap_or(file);
    FLOORS.iter().position(|floor| floor.contains(&folder))
}

/// Imports from a higher floor, and files that are on none.
fn upward(graph: &Graph) -> Vec<String> {
    let lost = graph.keys().filter(|file| floor(file).is_none()).map(|file| format!("{file}: on no floor"));
    let arrows = graph.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to)));
    let up = arrows.filter(|(from, to)| floor(to) > floor(from)).map(|(from, to)| format!("{from} -> {to}"));
    lost.chain(up).collect()
}

fn reached<'a>(graph: &'a Graph, from: &'a str) -> BTreeSet<&'a str> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(file) = next.pop() {
        next.extend(graph.get(file).into_iter().flatten().map(String::as_str).filter(|to| seen.insert(*to)));
    }
    seen
}

/// Circles that are too large, each once.
fn circles(graph: &Graph) -> BTreeSet<Vec<&str>> {
    let all: BTreeMap<&str, _> = graph.keys().map(|file| (file.as_str(), reached(graph, file))).collect();
    let circle = |(file, to): (&&str, &BTreeSet<&str>)| -> Vec<&str> {
        all.keys().copied().filter(|other| to.contains(other) && all[other].contains(*file)).collect()
    };
    all.iter().map(|(file, to)| circle((file, to))).filter(|circle| circle.len() > LARGEST).collect()
}

#[test]
fn imports_go_down() {
    let graph = graph();
    assert!(graph.values().map(BTreeSet::len).sum::<usize>() > 300, "the search finds too little: {graph:?}");
    assert_eq!(upward(&graph), Vec::<String>::new());
}

#[test]
fn circles_are_small() {
    assert_eq!(circles(&graph()), BTreeSet::new());
}

#[test]
fn a_wrong_import_and_a_large_circle_are_named() {
    let mut graph = graph();
    graph.get_mut("toolkit").expect("a file").insert("device".to_owned());
    assert_eq!(upward(&graph), ["toolkit -> device"]);
    assert_eq!(circles(&graph).len(), 1);
}
