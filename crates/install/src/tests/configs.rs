//! Entries in the configurations of all harnesses.

use super::machine::{CONFIGURED, Machine, statuses};
use crate::cleanup::first_run;
use crate::commands::examine;
use crate::disk::RealDisk;
use crate::edit::lookup;
use crate::harness::{CLAUDE_CODE, CODEX, Config, GEMINI, Harness, OPENCODE, SERVER_NAME, Slot};
use crate::manifest::TargetKind::Mcp;
use crate::outcome::Status;
use crate::shape::{Server, Shape};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const IDS: [&str; 4] = ["claude-code", "codex", "gemini", "opencode"];

#[test]
fn uninstall_restores_every_byte_that_install_found() {
    let machine = Machine::new();
    assert_eq!(statuses(&machine.install(&[]), Mcp), [Status::Added; 4]);
    let installed = machine.texts();
    assert_eq!(statuses(&machine.install(&[]), Mcp), [Status::AlreadyPresent; 4]);
    assert_eq!(machine.texts(), installed, "a second installation changes nothing");
    assert_eq!(statuses(&machine.uninstall(&IDS, false), Mcp), [Status::Removed; 4]);
    assert_eq!(machine.texts(), machine.files());
    assert_eq!(statuses(&machine.uninstall(&IDS, false), Mcp), [Status::AlreadyAbsent; 4]);
    assert_eq!(machine.texts(), machine.files());
    let manifest = fs::read_to_string(machine.setup.folder().join("manifest.json")).expect("a manifest");
    assert_eq!(manifest, "[]\n");
}

#[test]
fn entries_have_the_canonical_shapes() {
    let machine = Machine::new();
    machine.install(&[]);
    let entry = |harness: &Harness| {
        let config = harness.config.expect("a configuration");
        let root = config.format.read(&machine.text(harness)).expect("a document");
        lookup(&root, config.slot(&root).expect("a slot").pointer).cloned()
    };
    let typed = json!({ "type": "stdio", "command": "stickpin", "args": ["mcp"], "env": {} });
    assert_eq!(entry(&CLAUDE_CODE), Some(typed));
    let command = json!({ "command": "stickpin", "args": ["mcp"] });
    assert_eq!((entry(&CODEX), entry(&GEMINI)), (Some(command.clone()), Some(command)));
    let local = json!({ "type": "local", "command": ["stickpin", "mcp"], "enabled": true });
    assert_eq!(entry(&OPENCODE), Some(local));
    let toml = "\n[mcp_servers.stickpin]\ncommand = \"stickpin\"\nargs = [\"mcp\"]\n";
    assert_eq!(machine.text(&CODEX), machine.files()[1].to_owned() + toml);
}

#[test]
fn manifest_records_what_was_written() {
    let machine = Machine::new();
    machine.install(&["codex"]);
    let text = fs::read_to_string(machine.setup.folder().join("manifest.json")).expect("a manifest");
    let mut manifest: Value = serde_json::from_str(&text).expect("a manifest");
    assert!(manifest[0]["installedAt"].take().is_string());
    let expected = json!([{
        "harness": "codex", "target": "mcp", "path": machine.config(&CODEX),
        "pointer": "mcp_servers/stickpin", "shapeId": "command",
        "value": { "command": "stickpin", "args": ["mcp"] }, "cmd": "stickpin",
        "version": crate::setup::VERSION, "installedAt": null,
    }]);
    assert_eq!(manifest, expected);
}

#[test]
fn other_state_dir_and_program_are_part_of_the_entry() {
    let mut machine = Machine::new();
    machine.setup.state_dir = machine.home("other");
    machine.setup.program = machine.program("stickpin-2", "exit 0");
    assert_eq!(statuses(&machine.install(&[]), Mcp), [Status::Added; 4]);
    let (program, state_dir) = (machine.home("bin/stickpin-2"), machine.home("other"));
    for harness in CONFIGURED {
        let text = machine.text(&harness);
        assert!(text.contains(program.to_str().expect("a path")), "{text}");
        assert!(text.contains(state_dir.to_str().expect("a path")), "{text}");
    }
    assert_eq!(statuses(&machine.uninstall(&IDS, false), Mcp), [Status::Removed; 4]);
    assert_eq!(machine.texts(), machine.files());
}

#[test]
fn hand_edited_entry_survives_everything() {
    let machine = Machine::new();
    machine.install(&[]);
    for harness in CONFIGURED {
        let text = machine.text(&harness);
        fs::write(machine.config(&harness), text.replacen("\"mcp\"", "\"mcp\", \"--read-only\"", 1))
            .expect("a file");
    }
    // The first `"mcp"` in OpenCode's configuration is the name of its table.
    let text = machine.text(&OPENCODE).replace("\"mcp\", \"--read-only\": {", "\"mcp\": {");
    fs::write(machine.config(&OPENCODE), text.replace("true\r\n", "false\r\n")).expect("a file");
    let edited = machine.texts();
    assert_eq!(statuses(&machine.uninstall(&IDS, false), Mcp), [Status::Preserved; 4]);
    assert_eq!(statuses(&machine.install(&[]), Mcp), [Status::Preserved; 4]);
    assert_eq!(machine.clean(&CONFIGURED), None);
    assert_eq!(machine.texts(), edited);
    let preserved = machine.actions().iter().filter(|action| *action == "preserved").count();
    // Uninstall also cleans up: every run examines each harness.
    assert_eq!(preserved, 16, "{:?}", machine.actions());
}

#[test]
fn absolute_path_that_is_not_recorded_is_hand_edited() {
    let machine = Machine::new();
    let text =
        machine.text(&CODEX) + "\n[mcp_servers.stickpin]\ncommand = \"/gone/stickpin\"\nargs = [\"mcp\"]\n";
    fs::write(machine.config(&CODEX), &text).expect("a file");
    assert_eq!(machine.clean(&CONFIGURED), None);
    assert_eq!(statuses(&machine.uninstall(&["codex"], false), Mcp), [Status::Preserved]);
    assert_eq!(machine.text(&CODEX), text);
}

/// A shape that no release ever wrote.
const ANCIENT: Shape =
    Shape { id: "ancient", build: |server| json!({ "command": server.command, "args": ["serve"] }) };

/// Returns the harnesses as if an earlier version had written [`ANCIENT`].
fn with_legacy() -> Vec<Harness> {
    let slots = |config: &Config| -> &'static [Slot] {
        let slots = config.slots.iter().map(|slot| Slot { legacy: &[ANCIENT], ..*slot });
        slots.collect::<Vec<_>>().leak()
    };
    let config = |config: Config| Config { slots: slots(&config), ..config };
    CONFIGURED.iter().map(|harness| Harness { config: harness.config.map(config), ..*harness }).collect()
}

#[test]
fn legacy_shape_is_removed_by_a_cleanup_and_updated_by_install() {
    let (machine, table) = (Machine::new(), with_legacy());
    let write_legacy = || {
        for (harness, text) in table.iter().zip(machine.files()) {
            let config = harness.config.expect("a configuration");
            let pointer = config.slots.last().expect("a slot").pointer;
            let entry = (ANCIENT.build)(&Server { command: "stickpin", state_dir: None });
            let text = config.format.set(text, pointer, &entry).expect("a document");
            fs::write(machine.config(harness), text).expect("a file");
        }
    };
    write_legacy();
    let summary = machine.clean(&table).expect("a summary");
    assert_eq!(summary, "removed stale registrations of stickpin from claude-code, codex, gemini, opencode");
    assert_eq!(machine.texts(), machine.files());
    assert_eq!(machine.clean(&table), None, "a second run finds nothing");
    assert_eq!(machine.actions(), ["removing", "removed"].repeat(4));
    assert_eq!(machine.audit()[0]["shapeId"], "ancient");
    write_legacy();
    let updated = machine.install_on(&crate::disk::RealDisk, &table, &[]);
    assert_eq!(statuses(&updated, Mcp), [Status::Updated; 4]);
    assert_eq!(statuses(&machine.uninstall(&IDS, false), Mcp), [Status::Removed; 4]);
    assert_eq!(machine.texts(), machine.files());
}

#[test]
fn entry_of_a_program_that_is_gone_is_stale() {
    let mut machine = Machine::new();
    machine.setup.program = machine.program("stickpin-old", "exit 0");
    machine.install(&[]);
    assert_eq!(machine.clean(&CONFIGURED), None, "the program is still there");
    fs::remove_file(&machine.setup.program).expect("a program");
    assert!(machine.clean(&CONFIGURED).is_some());
    assert_eq!(machine.texts(), machine.files());
}

#[test]
fn new_version_elsewhere_updates_the_entry() {
    let mut machine = Machine::new();
    machine.setup.program = machine.program("stickpin-old", "exit 0");
    machine.install(&[]);
    machine.setup.program = machine.home("bin/stickpin");
    assert_eq!(statuses(&machine.install(&[]), Mcp), [Status::Updated; 4]);
    assert!(
        machine.texts().iter().all(|text| text.contains("\"stickpin\"") && !text.contains("stickpin-old"))
    );
    assert_eq!(statuses(&machine.uninstall(&IDS, false), Mcp), [Status::Removed; 4]);
    assert_eq!(machine.texts(), machine.files());
}

#[test]
fn broken_manifest_stops_an_installation() {
    use crate::commands::{InstallOptions, install_into};
    let machine = Machine::new();
    machine.write(".local/state/stickpin/install/manifest.json", "[{");
    let options = InstallOptions { harnesses: Vec::new(), mcp: true, skill: None, dry: false };
    let error =
        install_into(&crate::disk::RealDisk, &machine.setup, &CONFIGURED, &options).expect_err("broken");
    assert!(error.message.contains("manifest.json` cannot be parsed"), "{error}");
    assert_eq!(machine.texts(), machine.files());
    assert!(first_run(&machine.setup, false).is_err());
}

#[test]
fn harness_that_is_not_installed_is_skipped_or_fails_by_name() {
    let machine = Machine::new();
    fs::remove_dir_all(machine.home(".codex")).expect("a folder");
    let ids: Vec<&str> = machine.install(&[]).iter().map(|outcome| outcome.harness).collect();
    assert_eq!(ids, ["claude-code", "gemini", "opencode"]);
    let named = machine.install(&["codex", "gemini"]);
    assert_eq!(statuses(&named, Mcp), [Status::Failed, Status::AlreadyPresent]);
    assert!(named[0].message.starts_with("the harness is not installed: there is no program `codex`"));
    assert!(!machine.home(".codex").exists(), "no folder is made for it");
    machine.program("codex", "exit 0");
    assert_eq!(statuses(&machine.install(&["codex"]), Mcp), [Status::Added]);
}

#[test]
fn broken_and_read_only_files_stay_as_they_are() {
    for (spoil, expected) in [("{ \"a\": [", "cannot be parsed"), ("\u{0}= x", "cannot be parsed")] {
        let machine = Machine::new();
        for harness in CONFIGURED {
            fs::write(machine.config(&harness), spoil).expect("a file");
        }
        let mut results = machine.install(&[]);
        results.extend(machine.uninstall(&IDS, false));
        assert_eq!(statuses(&results, Mcp), [Status::Failed; 8]);
        let mut failed = results.iter().filter(|outcome| outcome.status == Status::Failed);
        assert!(failed.all(|outcome| outcome.message.contains(expected)), "{results:?}");
        assert_eq!(machine.texts(), [spoil; 4]);
    }
    let machine = Machine::new();
    for harness in CONFIGURED {
        let read_only = fs::Permissions::from_mode(0o444);
        fs::set_permissions(machine.config(&harness), read_only).expect("a file");
    }
    let results = machine.install(&[]);
    assert_eq!(statuses(&results, Mcp), [Status::Failed; 4]);
    assert!(results.iter().all(|outcome| outcome.message == "the file is read-only"), "{results:?}");
    assert_eq!(machine.texts(), machine.files());
}

#[test]
fn configuration_is_written_through_a_link_and_keeps_its_mode() {
    let machine = Machine::new();
    for harness in CONFIGURED {
        let path = machine.config(&harness);
        let target = machine.home(&format!("dotfiles-{}", harness.id));
        fs::rename(&path, &target).expect("a file");
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).expect("a file");
        std::os::unix::fs::symlink(&target, &path).expect("a link");
    }
    assert_eq!(statuses(&machine.install(&[]), Mcp), [Status::Added; 4]);
    for harness in CONFIGURED {
        let found = fs::symlink_metadata(machine.config(&harness)).expect("a file");
        assert!(found.is_symlink(), "{} is still a link", harness.id);
        let target = fs::metadata(machine.config(&harness)).expect("a file");
        assert_eq!(target.permissions().mode() & 0o777, 0o640);
    }
    machine.uninstall(&IDS, false);
    assert_eq!(machine.texts(), machine.files());
    fs::remove_file(machine.home("dotfiles-codex")).expect("a file");
    let dangling = machine.install(&["codex"]);
    assert_eq!(statuses(&dangling, Mcp), [Status::Failed]);
    assert!(dangling[0].message.contains("which does not exist"), "{}", dangling[0].message);
}

#[test]
fn owner_of_a_configuration_stays() {
    use std::os::unix::fs::{MetadataExt, chown};
    let machine = Machine::new();
    let path = machine.config(&CODEX);
    if chown(&path, Some(12345), Some(54321)).is_err() {
        // Only root can change the owner of files.
        return;
    }
    assert_eq!(statuses(&machine.install(&["codex"]), Mcp), [Status::Added]);
    let found = fs::metadata(&path).expect("a file");
    assert_eq!((found.uid(), found.gid()), (12345, 54321));
}

#[test]
fn missing_configuration_is_made() {
    let machine = Machine::new();
    for harness in CONFIGURED {
        fs::remove_file(machine.config(&harness)).expect("a file");
    }
    assert_eq!(statuses(&machine.install(&[]), Mcp), [Status::Added; 4]);
    assert_eq!(machine.text(&CODEX), "[mcp_servers.stickpin]\ncommand = \"stickpin\"\nargs = [\"mcp\"]\n");
    let gemini = "{\n  \"mcpServers\": {\n    \"stickpin\": {\n      \"command\": \"stickpin\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}\n";
    assert_eq!(machine.text(&GEMINI), gemini);
    assert_eq!(statuses(&machine.uninstall(&IDS, false), Mcp), [Status::Removed; 4]);
    assert_eq!(machine.text(&GEMINI), "{\n  \"mcpServers\": {}\n}\n");
}

#[test]
fn opencode_prefers_its_jsonc_file_and_native_servers() {
    let machine = Machine::new();
    let text = "{ // mine\n  \"mcp\": {\n    \"servers\": {\n      \"a\": {}\n    }\n  }\n}\n";
    machine.write(".config/opencode/opencode.jsonc", text);
    assert_eq!(statuses(&machine.install(&["opencode"]), Mcp), [Status::Added]);
    let installed = machine.text(&OPENCODE);
    let entry = "\"stickpin\": {\n        \"type\": \"local\",\n        \"command\": [\n          \"stickpin\",\n          \"mcp\"\n        ]\n      }";
    assert!(installed.contains(entry), "{installed}");
    machine.uninstall(&["opencode"], false);
    assert_eq!(machine.text(&OPENCODE), text);
    let untouched = fs::read_to_string(machine.home(".config/opencode/opencode.json")).expect("a file");
    assert_eq!(untouched, machine.files()[3]);
}

#[test]
fn audit_lines_have_exactly_the_documented_fields() {
    let machine = Machine::new();
    machine.install(&["gemini"]);
    machine.uninstall(&["gemini"], false);
    let lines = machine.audit();
    let digest = |text: &str| crate::audit::digest(text.as_bytes());
    let before = digest(machine.files()[2]);
    let after = lines[0]["sha256After"].clone();
    let common = |line: &Value, reason: &str, action: &str| {
        json!({
            "ts": line["ts"], "runId": line["runId"], "reason": reason, "versionFrom": null,
            "versionTo": crate::setup::VERSION, "harness": "gemini", "configPath": machine.config(&GEMINI),
            "target": "mcp", "action": action, "serverName": SERVER_NAME, "shapeId": "command",
            "sha256Before": before, "sha256After": after,
        })
    };
    let mut removing = common(&lines[1], "uninstall", "removing");
    (removing["sha256Before"], removing["sha256After"]) = (after.clone(), before.clone().into());
    let mut removed = removing.clone();
    (removed["ts"], removed["action"]) = (lines[2]["ts"].clone(), "removed".into());
    assert_eq!(lines, [common(&lines[0], "install", "added"), removing, removed]);
    let order: Vec<&String> = lines[0].as_object().expect("a line").keys().collect();
    let expected = [
        "ts",
        "runId",
        "reason",
        "versionFrom",
        "versionTo",
        "harness",
        "configPath",
        "target",
        "action",
        "serverName",
        "shapeId",
        "sha256Before",
        "sha256After",
    ];
    assert_eq!(order, expected);
    let is_hex = |text: &str, len: usize| text.len() == len && text.bytes().all(|b| b.is_ascii_hexdigit());
    assert!(is_hex(lines[0]["runId"].as_str().expect("an id"), 32));
    assert!(is_hex(after.as_str().expect("a digest"), 64));
    assert_ne!(lines[0]["runId"], lines[1]["runId"]);
    let mode =
        fs::metadata(machine.setup.folder().join("install-audit.jsonl")).expect("a file").permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
}

#[test]
fn doctor_finds_what_was_removed_and_nothing_else() {
    let machine = Machine::new();
    let checks = || {
        let checks = examine(&RealDisk, &machine.setup, &CONFIGURED).expect("checks");
        let bad = checks.iter().filter(|check| !check.ok);
        let bad: Vec<_> = bad.map(|check| (check.name.clone(), check.fix.clone())).collect();
        (checks.len(), bad)
    };
    let before = machine.texts();
    assert_eq!(checks(), (8, vec![]), "nothing was ever installed");
    assert_eq!(machine.texts(), before, "it changes nothing");
    machine.install(&[]);
    assert_eq!(checks(), (8, vec![]));
    fs::write(machine.config(&CODEX), machine.files()[1]).expect("a file");
    fs::write(machine.config(&GEMINI), "{ broken").expect("a file");
    let missing = ("codex mcp".to_owned(), "stickpin install codex".to_owned());
    assert_eq!(checks(), (8, vec![missing, ("gemini mcp".to_owned(), String::new())]));
}
