//! Scenarios on real Chromium, with pages of ours: in process for all of them, through the real binary for some. What
//! received the input is what the page reports.

#![cfg(feature = "web")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use stickpin_testkit::{
    InProcess, Mcp, McpClient, ProcessJson, ProcessText, Surface, chromium, npm, run_file, scenario_files,
    workspace_root,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_stickpin");

/// In process, all of them.
const NAMES: &[&str] = &[
    "web-files",
    "web-orders",
    "web-reach",
    "web-read",
    "web-signin",
    "web-tabs",
    "web-traffic",
    "web-widgets",
];

fn run(name: &str, surface: impl FnOnce(&Path) -> Option<Box<dyn Surface>>) {
    let dir = tempfile::tempdir().expect("a folder");
    let Some(mut surface) = surface(dir.path()) else { return };
    let path = workspace_root().join("fixtures/scenarios").join(name).with_extension("toml");
    if let Err(e) = run_file(&path, dir.path(), surface.as_mut()) {
        panic!("{e}");
    }
}

fn in_process(name: &str) {
    run(name, |dir| Some(Box::new(InProcess::new(dir, vec![Arc::new(chromium()?)]))));
}

#[test]
fn files() {
    in_process("web-files");
}

#[test]
fn orders() {
    in_process("web-orders");
}

#[test]
fn reach() {
    in_process("web-reach");
}

#[test]
fn read() {
    in_process("web-read");
}

#[test]
fn traffic() {
    in_process("web-traffic");
}

#[test]
fn traffic_through_the_binary_as_text() {
    run("web-traffic", |dir| {
        chromium()?;
        Some(Box::new(ProcessText::new(dir, Path::new(PROGRAM))))
    });
}

#[test]
fn signin() {
    in_process("web-signin");
}

#[test]
fn tabs() {
    in_process("web-tabs");
}

#[test]
fn widgets() {
    in_process("web-widgets");
}

#[test]
fn signin_through_the_binary_as_text() {
    run("web-signin", |dir| {
        chromium()?;
        Some(Box::new(ProcessText::new(dir, Path::new(PROGRAM))))
    });
}

#[test]
fn orders_through_the_binary_as_json() {
    run("web-orders", |dir| {
        chromium()?;
        Some(Box::new(ProcessJson::new(dir, Path::new(PROGRAM))))
    });
}

#[test]
fn signin_through_mcp() {
    run("web-signin", |dir| {
        chromium()?;
        Some(Box::new(Mcp::new(dir, Path::new(PROGRAM), McpClient::Rust)))
    });
}

#[test]
fn orders_through_mcp_of_typescript() {
    run("web-orders", |dir| {
        chromium()?;
        Some(Box::new(Mcp::new(dir, Path::new(PROGRAM), McpClient::TypeScript(npm()?))))
    });
}

#[test]
fn every_file_runs() {
    let files = scenario_files("web").expect("the scenarios");
    let there: BTreeSet<&str> = files.iter().filter_map(|path| path.file_stem()?.to_str()).collect();
    assert_eq!(there, NAMES.iter().copied().collect(), "the files of fixtures/scenarios and the tests above");
}
