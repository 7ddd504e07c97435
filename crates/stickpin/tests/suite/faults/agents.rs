//! Commands of agents: in a process of their own, or in the shell of a harness.

use crate::mcp::Harness;
use crate::support::{Ran, World, words};
use serde_json::Value;
use std::process::Command;

pub(super) const ADA: &str = "claude:ada";
pub(super) const BOB: &str = "codex:bob";
/// A person.
pub(super) const PAT: &str = "human:pat";

/// Returns a command with `--json`.
pub(super) fn command(world: &World, agent: &str, line: &str) -> Command {
    let mut command = world.command(&[&words(line)[..], &["--json"]].concat());
    command.env("STICKPIN_AGENT_ID", agent).env("STICKPIN_SESSION", "shop");
    command
}

pub(super) fn run(world: &World, agent: &str, line: &str) -> Ran {
    command(world, agent, line).output().expect("the binary runs").into()
}

/// Returns the output of a command that exits with 0.
#[track_caller]
pub(super) fn ok(world: &World, agent: &str, line: &str) -> Value {
    let ran = run(world, agent, line);
    assert_eq!(ran.code, 0, "{agent} {line}: {ran:?}");
    ran.json()["output"].take()
}

/// Returns the error of a command that fails.
#[track_caller]
pub(super) fn refused(world: &World, agent: &str, line: &str) -> Value {
    let ran = run(world, agent, line);
    assert_ne!(ran.code, 0, "{agent} {line}: {ran:?}");
    ran.json()["error"].take()
}

/// Runs a command in the shell of a harness, which must succeed, and returns its output.
#[track_caller]
pub(super) fn shell(harness: &Harness, line: &str) -> Value {
    let mut answer = harness.shell(&format!("{line} --json"));
    assert_eq!(answer["ok"], true, "{line}: {answer}");
    answer["output"].take()
}
