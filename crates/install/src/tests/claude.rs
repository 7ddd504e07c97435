//! Claude Code, whose own command changes its configuration.

use super::machine::{Machine, statuses};
use crate::edit::Format;
use crate::harness::CLAUDE_CODE;
use crate::manifest::TargetKind::Mcp;
use crate::outcome::Status;
use serde_json::json;
use std::fs;

const POINTER: &[&str] = &["mcpServers", "stickpin"];

/// A `claude` that logs its arguments and stores what the real one stores.
const SCRIPT: &str = r#"
printf '%s\n' "$*" >> "$HOME/calls"
[ -z "$STICKPIN_SECRET_X" ] || exit 7
case "$2" in
  add) cp "$HOME/with" "$HOME/.claude.json" ;;
  remove) cp "$HOME/without" "$HOME/.claude.json" ;;
esac
"#;

/// Returns a machine on which `claude` runs this script and stores this entry.
fn machine(script: &str, entry: &serde_json::Value) -> Machine {
    let machine = Machine::new();
    machine.program("claude", script);
    // The script needs the system's programs.
    let path = format!("{}:/usr/bin:/bin", machine.home("bin").display());
    let mut setup = machine.setup.clone();
    setup.variables.insert("PATH".to_owned(), path.into());
    let text = machine.files()[0];
    machine.write("without", text);
    machine.write("with", &Format::Json.set(text, POINTER, entry).expect("a document"));
    Machine { setup, ..machine }
}

fn calls(machine: &Machine) -> Vec<String> {
    let calls = fs::read_to_string(machine.home("calls")).unwrap_or_default();
    calls.lines().map(str::to_owned).collect()
}

#[test]
fn own_command_adds_and_removes_the_entry() {
    let entry = json!({ "type": "stdio", "command": "stickpin", "args": ["mcp"], "env": {} });
    let machine = machine(SCRIPT, &entry);
    assert_eq!(statuses(&machine.install(&["claude-code"]), Mcp), [Status::Added]);
    assert_eq!(statuses(&machine.install(&["claude-code"]), Mcp), [Status::AlreadyPresent]);
    assert_eq!(calls(&machine), ["mcp add -s user stickpin -- stickpin mcp"]);
    assert_eq!(statuses(&machine.uninstall(&["claude-code"], false), Mcp), [Status::Removed]);
    assert_eq!(calls(&machine)[1..], ["mcp remove -s user stickpin"]);
    assert_eq!(machine.texts(), machine.files());
    assert_eq!(machine.actions(), ["added", "removing", "removed"]);
}

#[test]
fn hand_edited_entry_is_not_removed_by_name() {
    let entry = json!({ "type": "stdio", "command": "stickpin", "args": ["mcp"], "env": { "A": "b" } });
    let machine = machine(SCRIPT, &entry);
    fs::copy(machine.home("with"), machine.config(&CLAUDE_CODE)).expect("a file");
    assert_eq!(statuses(&machine.uninstall(&["claude-code"], false), Mcp), [Status::Preserved]);
    assert_eq!(calls(&machine), Vec::<String>::new());
}

#[test]
fn legacy_entry_is_removed_and_added_anew() {
    let entry = json!({ "type": "stdio", "command": "stickpin", "args": ["mcp"] });
    let machine = machine(SCRIPT, &entry);
    let legacy =
        Format::Json.set(machine.files()[0], POINTER, &json!({ "command": "stickpin", "args": ["mcp"] }));
    fs::write(machine.config(&CLAUDE_CODE), legacy.expect("a document")).expect("a file");
    assert_eq!(statuses(&machine.install(&["claude-code"]), Mcp), [Status::Updated]);
    assert_eq!(calls(&machine), ["mcp remove -s user stickpin", "mcp add -s user stickpin -- stickpin mcp"]);
    assert_eq!(machine.actions(), ["removing", "updated"]);
}

#[test]
fn other_state_dir_is_passed_as_a_variable() {
    let machine = machine(SCRIPT, &json!({}));
    let state_dir = machine.home("other").display().to_string();
    let mut setup = machine.setup.clone();
    setup.state_dir = machine.home("other");
    let env = json!({ "STICKPIN_STATE_DIR": state_dir });
    let entry = json!({ "type": "stdio", "command": "stickpin", "args": ["mcp"], "env": env });
    machine.write("with", &Format::Json.set(machine.files()[0], POINTER, &entry).expect("a document"));
    let machine = Machine { setup, ..machine };
    assert_eq!(statuses(&machine.install(&["claude-code"]), Mcp), [Status::Added]);
    let expected = format!("mcp add -s user stickpin -e STICKPIN_STATE_DIR={state_dir} -- stickpin mcp");
    assert_eq!(calls(&machine), [expected]);
}

#[test]
fn command_that_fails_or_stores_something_else_is_reported() {
    let refusing = machine("echo 'no\u{1b}[31m' >&2; exit 3", &json!({}));
    let results = refusing.install(&["claude-code"]);
    assert_eq!(statuses(&results, Mcp), [Status::Failed]);
    assert!(results[0].message.ends_with(r#"mcp` failed (exit status: 3): "no\u{1b}[31m""#), "{results:?}");
    assert_eq!(refusing.texts(), refusing.files());
    let other = machine(SCRIPT, &json!({ "command": "another" }));
    let results = other.install(&["claude-code"]);
    assert_eq!(statuses(&results, Mcp), [Status::Failed]);
    assert!(results[0].message.ends_with("did not store the requested entry"), "{results:?}");
}
