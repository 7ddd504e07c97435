//! The first command of another version, and plans.

use super::machine::{CONFIGURED, HookedDisk, Machine, Step};
use crate::cleanup::first_run_on;
use crate::commands::{InstallOptions, UninstallOptions, install_into, uninstall_from};
use crate::disk::RealDisk;
use crate::harness::{CLAUDE_CODE, CODEX, HARNESSES};
use crate::outcome::Status;
use crate::setup::VERSION;
use crate::skill::{SkillOptions, TEXT};
use serde_json::Value;
use std::fs;
use std::io;
use std::path::Path;

const LEGACY: &str = "{\"mcpServers\": {\"stickpin\": {\"command\": \"stickpin\", \"args\": [\"mcp\"]}}}";

fn state(machine: &Machine) -> Value {
    let text = fs::read_to_string(machine.setup.folder().join("cleanup-state.json")).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn set_version(machine: &Machine, version: &str) {
    let folder = machine.setup.folder();
    fs::create_dir_all(&folder).expect("a folder");
    let state = format!("{{\"cleanupVersion\": {version:?}, \"updatedAt\": \"2026-01-01T00:00:00.000Z\"}}");
    fs::write(folder.join("cleanup-state.json"), state).expect("a file");
}

fn first_run(machine: &Machine) -> Option<String> {
    first_run_on(&RealDisk, &machine.setup, false).expect("a run")
}

#[test]
fn first_run_after_a_version_change_cleans_once() {
    let machine = Machine::new();
    set_version(&machine, "0.0.1");
    fs::write(machine.config(&CLAUDE_CODE), LEGACY).expect("a file");
    assert!(first_run(&machine).is_some_and(|summary| summary.contains("claude-code")));
    assert_eq!(machine.text(&CLAUDE_CODE), "{\"mcpServers\": {}}");
    assert_eq!(state(&machine)["cleanupVersion"], VERSION);
    let line = machine.audit().remove(0);
    assert_eq!((&line["reason"], &line["versionFrom"]), (&"first-run".into(), &"0.0.1".into()));
    fs::write(machine.config(&CLAUDE_CODE), LEGACY).expect("a file");
    assert_eq!(first_run(&machine), None, "this version has cleaned up");
    assert_eq!(machine.text(&CLAUDE_CODE), LEGACY);
}

#[test]
fn current_version_reads_one_small_file() {
    let machine = Machine::new();
    first_run(&machine);
    let reads_only = HookedDisk(|_: Step, path: &Path| Err(io::Error::other(path.display().to_string())));
    assert_eq!(first_run_on(&reads_only, &machine.setup, false).expect("a run"), None);
}

#[test]
fn failure_is_tried_again_some_minutes_later() {
    let machine = Machine::new();
    fs::write(machine.config(&CODEX), "a = ").expect("a file");
    assert_eq!(first_run(&machine).as_deref(), Some("could not clean up the registration in codex"));
    assert_eq!(state(&machine)["cleanupVersion"], Value::Null);
    fs::write(machine.config(&CODEX), "a = 1").expect("a file");
    assert_eq!(first_run(&machine), None);
    assert_eq!(state(&machine)["cleanupVersion"], Value::Null, "not yet");
    for elsewhen in ["2026-01-01T00:00:00.000Z", "9999-01-01T00:00:00.000Z"] {
        let past = format!("{{\"retryAfter\": {elsewhen:?}, \"updatedAt\": \"2026-01-01T00:00:00.000Z\"}}");
        fs::write(machine.setup.folder().join("cleanup-state.json"), past).expect("a file");
        assert_eq!(first_run(&machine), None);
        assert_eq!(state(&machine)["cleanupVersion"], VERSION, "{elsewhen}");
        assert_eq!(state(&machine)["retryAfter"], Value::Null);
    }
}

#[test]
fn only_a_person_refreshes_an_unedited_skill() {
    let machine = Machine::new();
    let options = SkillOptions::default();
    machine.install_skill(&["codex", "claude-code"], options);
    // The skill as an earlier version wrote it: the manifest contains its digest.
    let bundle = machine.setup.bundle().join("SKILL.md");
    let manifest = machine.setup.folder().join("manifest.json");
    let digest = |text: &str| crate::audit::digest(text.as_bytes());
    fs::write(&bundle, "former").expect("a skill");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    fs::write(&manifest, text.replace(&digest(TEXT), &digest("former"))).expect("a manifest");
    set_version(&machine, "0.0.1");
    first_run(&machine);
    assert_eq!(fs::read_to_string(&bundle).expect("a skill"), "former", "an agent's command");
    assert_eq!(first_run_on(&RealDisk, &machine.setup, true).expect("a run"), None);
    assert_eq!(fs::read_to_string(&bundle).expect("a skill"), TEXT);
    assert_eq!(state(&machine)["skillVersion"], VERSION);
    fs::write(&bundle, "edited").expect("a skill");
    set_version(&machine, "0.0.1");
    first_run_on(&RealDisk, &machine.setup, true).expect("a run");
    assert_eq!(fs::read_to_string(&bundle).expect("a skill"), "edited");
}

#[test]
fn run_in_progress_is_not_waited_for() {
    use crate::audit::Reason;
    use crate::run::Run;
    let machine = Machine::new();
    let other = Run::begin(&machine.setup, &RealDisk, Reason::Install, false).expect("a run");
    assert_eq!(first_run(&machine), None);
    assert_eq!(state(&machine), Value::Null);
    drop(other);
    first_run(&machine);
    assert_eq!(state(&machine)["cleanupVersion"], VERSION);
}

#[test]
fn plan_writes_nothing() {
    let machine = Machine::new();
    let all: Vec<&str> = HARNESSES.iter().map(|harness| harness.id).collect();
    let plan =
        InstallOptions { harnesses: Vec::new(), mcp: true, skill: Some(SkillOptions::default()), dry: true };
    let results = install_into(&RealDisk, &machine.setup, HARNESSES, &plan).expect("a plan");
    assert!(results.iter().all(|outcome| outcome.status == Status::Added), "{results:?}");
    assert_eq!(results.iter().filter(|outcome| outcome.entry.is_some()).count(), CONFIGURED.len());
    assert_eq!(machine.texts(), machine.files());
    assert!(!machine.home(".local").exists() && !machine.home(".agents").exists());
    machine.install(&[]);
    let installed = machine.texts();
    let plan = UninstallOptions { harnesses: all, shared: true, dry: true };
    let results = uninstall_from(&RealDisk, &machine.setup, HARNESSES, &plan).expect("a plan");
    let removed = results.iter().filter(|outcome| outcome.status == Status::Removed).count();
    assert_eq!(removed, CONFIGURED.len());
    assert_eq!((machine.texts(), machine.actions().len()), (installed, CONFIGURED.len()));
}
