//! The shape of the workspace. Dependencies between its crates point one way: the table is the
//! architecture, and the test names every edge outside it. Only one file reads the environment. In
//! every crate, types, folders and import cycles stay small.

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use stickpin_testkit::floors;

/// Each crate (without prefix) and its allowed dependencies, spelled out transitively: a layer may
/// use any layer below it.
const ALLOWED: &[(&str, &[&str])] = &[
    ("refs", &[]),
    ("tree", &["refs"]),
    ("session", &["refs", "tree"]),
    ("store", &["refs", "tree", "session"]),
    ("coordinator", &["refs", "tree", "session", "store", "device"]),
    ("process", &[]),
    ("device", &["refs", "tree"]),
    ("compose", &["refs", "tree", "device"]),
    ("kernel", &["refs", "tree", "session", "store", "coordinator", "process", "device"]),
    ("cmdline", &["refs", "tree", "session", "device", "kernel"]),
    ("wire", &["refs", "tree", "session", "device", "kernel"]),
    ("client", &["refs", "tree", "session", "device", "kernel", "wire"]),
    ("replay", &["refs", "tree", "session", "device", "kernel", "cmdline", "wire", "client"]),
    ("watch", &["refs", "tree", "session", "device", "kernel", "wire", "client"]),
    ("install", &["refs", "tree", "session", "process", "device", "kernel", "wire", "client"]),
    ("daemon", &["refs", "tree", "session", "store", "coordinator", "process", "device", "kernel", "wire"]),
    ("cli", &["refs", "tree", "session", "device", "kernel", "cmdline", "wire", "client"]),
    ("console", &["refs", "tree", "session", "device", "kernel", "cmdline", "wire", "client"]),
    ("mcp", &["refs", "tree", "session", "device", "kernel", "cmdline", "wire", "client"]),
    ("x11desk", &["refs", "tree", "device", "process"]),
    ("backend-linux", &["refs", "tree", "device", "compose", "process", "x11desk"]),
    ("backend-sim", &["refs", "tree", "device"]),
    ("devtools", &[]),
    ("webpage", &["refs", "tree", "device", "devtools"]),
    ("backend-web", &["refs", "tree", "device", "process", "devtools", "webpage"]),
];

/// Crates for development, and crates that may depend on everything.
const FREE: &[&str] = &["stickpin", "fuzz", "testkit", "xtask"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/stickpin lies two below")
}

/// Reads the metadata as if from the root: in a crate's folder, Cargo would select that crate.
fn metadata() -> Metadata {
    let metadata = MetadataCommand::new().manifest_path(root().join("Cargo.toml")).no_deps().exec();
    metadata.expect("cargo metadata answers")
}

fn edges() -> BTreeMap<String, BTreeSet<String>> {
    metadata()
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

/// Returns the edges that the table does not allow, as sentences.
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

/// The files that may read environment variables: one file of the binary, test-only code, and build
/// scripts, which receive their configuration from Cargo in variables.
const READS_ENVIRONMENT: &[&str] =
    &["crates/stickpin/src/env.rs", "crates/stickpin/build.rs", "crates/webpage/build.rs", "crates/testkit/"];

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a folder of ours").map(|e| e.expect("an entry").path()) {
        if entry.is_dir() {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|e| e == "rs") {
            found.push(entry);
        }
    }
}

#[test]
fn the_environment_is_read_in_one_file() {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    let name = |file: &PathBuf| file.strip_prefix(root()).expect("below the root").display().to_string();
    let reads =
        |file: &PathBuf| std::fs::read_to_string(file).expect("a source").contains(concat!("env::", "var"));
    let found: Vec<String> =
        files.iter().filter(|f| reads(f)).map(name).filter(|f| !f.contains("/tests/")).collect();
    assert!(found.contains(&READS_ENVIRONMENT[0].to_owned()), "the search finds nothing: {found:?}");
    let elsewhere = |f: &&String| !READS_ENVIRONMENT.iter().any(|allowed| f.starts_with(allowed));
    assert_eq!(found.iter().filter(elsewhere).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// Returns the types, folders and import cycles above the limits. A cycle is named by its first
/// module.
fn large(name: &str, src: &Path, (methods, files, modules): (usize, usize, usize)) -> Vec<String> {
    let types = floors::large_types(&floors::sources(src, &[]), methods);
    let types = types.into_iter().map(|(of, _)| format!("{name}: type {of}"));
    let folders = floors::full_folders(src, files).into_iter();
    let folders =
        folders.map(|(below, _)| format!("{name}: folder {}", Path::new("src").join(below).display()));
    let imports = floors::Imports::of(src, &[]);
    let circles = imports.circles(modules);
    let circles = circles.iter().map(|circle| format!("{name}: circle with {}", circle[0]));
    folders.chain(types).chain(circles).map(|found| found.trim_end_matches('/').to_owned()).collect()
}

fn large_in_workspace(most: (usize, usize, usize)) -> BTreeSet<String> {
    let crates = metadata().packages.into_iter().map(|package| package.manifest_path.with_file_name("src"));
    let of = |src: PathBuf| {
        let home = src.parent().and_then(|home| home.strip_prefix(root()).ok()).expect("a crate of ours");
        large(&home.strip_prefix("crates").unwrap_or(home).display().to_string(), &src, most)
    };
    crates.flat_map(|src| of(src.into_std_path_buf())).collect()
}

#[test]
fn nothing_grows_too_large_to_find_anything_in() {
    let large = large_in_workspace((floors::MOST_METHODS, floors::MOST_IN_FOLDER, floors::MOST_IN_CIRCLE));
    assert_eq!(large, BTreeSet::new());
    let found = large_in_workspace((20, 10, 1));
    assert!(found.len() > 20, "the search finds nothing: {found:?}");
}

/// Tests in separate programs, because each counts the allocations of its process.
const OWN_PROGRAM: [&str; 2] = ["stickpin-session::memory", "stickpin-tree::storage"];

/// Each test program is linked separately, so the integration tests of a crate are modules of one.
#[test]
fn integration_tests_of_a_crate_are_one_program() {
    let programs: Vec<Vec<String>> = metadata()
        .packages
        .iter()
        .map(|package| {
            let tests = package.targets.iter().filter(|target| target.is_test());
            tests.map(|target| format!("{}::{}", package.name, target.name)).collect()
        })
        .collect();
    let is_own = |program: &&String| OWN_PROGRAM.contains(&program.as_str());
    assert_eq!(programs.iter().flatten().filter(is_own).count(), OWN_PROGRAM.len(), "{programs:?}");
    let shared = |of: &&Vec<String>| of.iter().filter(|program| !is_own(program)).count();
    assert_eq!(programs.iter().filter(|of| shared(of) > 1).collect::<Vec<_>>(), Vec::<&Vec<String>>::new());
}

/// `cargo run -- demo` is the first command of the README. Cargo asks for a binary if it finds
/// several.
#[test]
fn what_cargo_runs_is_the_product() {
    let metadata = metadata();
    let packages = metadata.workspace_default_packages();
    let targets = packages.iter().flat_map(|package| &package.targets).filter(|target| target.is_bin());
    assert_eq!(targets.map(|target| target.name.as_str()).collect::<Vec<_>>(), ["stickpin"]);
}
