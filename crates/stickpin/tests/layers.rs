//! Dependencies between our crates point one way. The table is the architecture; an edge outside it fails here by name.

use cargo_metadata::{DependencyKind, MetadataCommand};
use std::collections::{BTreeMap, BTreeSet};

/// Crate (without prefix) and what it may depend on, transitively spelled out: a layer may use any below it.
const ALLOWED: &[(&str, &[&str])] = &[
    ("refs", &[]),
    ("tree", &["refs"]),
    ("session", &["refs", "tree"]),
    ("kernel", &["refs", "tree", "session"]),
    ("wire", &["refs", "tree", "session", "kernel"]),
    ("daemon", &["refs", "tree", "session", "kernel", "wire"]),
    ("cli", &["refs", "tree", "session", "kernel", "wire"]),
    ("backend-sim", &["refs", "tree", "kernel"]),
    ("backend-web", &["refs", "tree", "kernel"]),
];

/// What is built for development, or knows everything by its purpose.
const FREE: &[&str] = &["stickpin", "testkit", "xtask"];

fn edges() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = MetadataCommand::new().no_deps().exec().expect("cargo metadata answers");
    metadata
        .packages
        .iter()
        .map(|package| {
            let below = package
                .dependencies
                .iter()
                .filter(|d| d.kind != DependencyKind::Development)
                .filter_map(|d| d.name.strip_prefix("stickpin-").map(str::to_owned))
                .collect();
            let name = package.name.as_str();
            (name.strip_prefix("stickpin-").unwrap_or(name).to_owned(), below)
        })
        .collect()
}

/// Edges that the table does not allow, as sentences.
fn violations(edges: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut out = Vec::new();
    for (name, below) in edges {
        if FREE.contains(&name.as_str()) {
            continue;
        }
        let Some((_, allowed)) = ALLOWED.iter().find(|(n, _)| n == name) else {
            out.push(format!("{name}: not in the table; say in docs/architecture.md what it does not know"));
            continue;
        };
        out.extend(
            below
                .iter()
                .filter(|b| !allowed.contains(&b.as_str()))
                .map(|b| format!("{name} -> {b}: that edge points the wrong way")),
        );
    }
    out
}

#[test]
fn dependencies_point_one_way() {
    let found = edges();
    assert!(found.len() > ALLOWED.len(), "cargo metadata named {} crates", found.len());
    assert_eq!(violations(&found), Vec::<String>::new());
}

#[test]
fn a_wrong_edge_is_named() {
    let mut found = edges();
    found.get_mut("tree").expect("a crate").insert("kernel".to_owned());
    assert_eq!(violations(&found), ["tree -> kernel: that edge points the wrong way"]);
}
