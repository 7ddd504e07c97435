//! `install`, `uninstall` and the cleanup after an update, through the real binary.

use crate::support::{Ran, World, words};
use serde_json::{Value, json};
use std::fs;

const CODEX: &str = "# mine\nmodel = \"o3\"\n\n[mcp_servers.docs] # theirs\ncommand = \"docs\"\n";
const GEMINI: &str =
    "{\n  \"theme\": \"dark\", // mine\n  \"mcpServers\": {\n    \"docs\": {\"command\": \"docs\"}\n  }\n}\n";
/// The output of an earlier version.
const LEGACY: &str =
    "{\n  \"mcpServers\": {\n    \"stickpin\": { \"command\": \"stickpin\", \"args\": [\"mcp\"] }\n  }\n}\n";

/// Returns a world whose home has configurations of two agents, and no programs on its path.
fn world() -> World {
    let world = World::new();
    for (file, text) in [(".codex/config.toml", CODEX), (".gemini/settings.json", GEMINI)] {
        let path = world.path().join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    world
}

fn text(world: &World, file: &str) -> String {
    fs::read_to_string(world.path().join(file)).expect("a file")
}

fn run(world: &World, line: &str) -> Ran {
    world.command(&words(line)).env("PATH", "/nowhere").output().expect("the program").into()
}

fn statuses(ran: &Ran) -> Vec<(String, String, String)> {
    let json = ran.json();
    let results = json["output"]["results"].as_array().expect("results").clone();
    let word = |result: &Value, name: &str| result[name].as_str().expect("a word").to_owned();
    results.iter().map(|r| (word(r, "harness"), word(r, "target"), word(r, "status"))).collect()
}

fn expected(words: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    words.iter().map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned())).collect()
}

#[test]
fn install_registers_and_uninstall_restores() {
    let world = world();
    let ran = run(&world, "install --all --json");
    let added = [
        ("codex", "mcp", "added"),
        ("codex", "skill", "added"),
        ("gemini", "mcp", "added"),
        ("gemini", "skill", "already_present"),
    ];
    assert_eq!((ran.code, statuses(&ran)), (0, expected(&added)));
    let program = json!(env!("CARGO_BIN_EXE_stickpin"));
    let state_dir = json!(fs::canonicalize(world.state_dir()).expect("a folder"));
    let entry = format!(
        "\n[mcp_servers.stickpin]\ncommand = {program}\nargs = [\"mcp\"]\nenv = {{ STICKPIN_STATE_DIR = {state_dir} }}\n"
    );
    assert_eq!(text(&world, ".codex/config.toml"), CODEX.to_owned() + &entry);
    assert!(text(&world, ".agents/skills/stickpin/SKILL.md").starts_with("---\nname: stickpin\n"));
    let ran = run(&world, "install codex");
    assert!(ran.out.starts_with("codex mcp: already present ("), "{ran:?}");
    let ran = run(&world, "uninstall --all");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(text(&world, ".codex/config.toml"), CODEX);
    assert_eq!(text(&world, ".gemini/settings.json"), GEMINI);
    assert!(!world.path().join(".agents/skills/stickpin").is_symlink());
    assert!(!world.socket().exists(), "no daemon was started");
}

/// Groups of commands that the skill may name before this build has them. If this build has one
/// command of a group, it must have all that are named.
const LATER: &[&str] = &["turn", "events", "msg", "notes"];

#[test]
fn skill_names_commands_that_exist() {
    let world = world();
    run(&world, "install codex --skill-only");
    let skill = text(&world, ".agents/skills/stickpin/SKILL.md");
    let is_word =
        |word: &&str| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') && !word.starts_with('-');
    let mut named: Vec<String> = Vec::new();
    for span in skill.split('`').skip(1).step_by(2) {
        let line = span.strip_prefix("stickpin ").unwrap_or(span);
        let words: Vec<&str> = line.split_whitespace().take_while(is_word).take(2).collect();
        let is_group = words.first().is_some_and(|first| LATER.contains(first));
        if line != span || is_group {
            named.push(words.join(" "));
        }
    }
    assert!(named.iter().any(|name| name == "turn release"), "no commands are found: {named:?}");
    let exists = |name: &str| run(&world, &format!("help {}", name.trim_start_matches("help "))).code == 0;
    // The second word of `is visible` is an argument, that of `turn wait` a command. A group that
    // this build does not have is not checked.
    let is_known = |name: &str| match name.split(' ').next().unwrap_or_default() {
        group if LATER.contains(&group) => exists(name) || !exists(group),
        first => exists(name) || exists(first),
    };
    let missing: Vec<&String> = named.iter().filter(|name| !is_known(name)).collect();
    assert_eq!(missing, Vec::<&String>::new());
}

#[test]
fn refusals_name_what_is_wrong() {
    let world = world();
    for (line, code, error) in [
        ("install", 2, "INVALID_ARGS: name a harness, or use `--all`\nrun `stickpin install --all`"),
        ("uninstall --all codex", 2, "INVALID_ARGS: `--all` includes every harness that is named"),
        ("install codex --copy --link", 2, "INVALID_ARGS: `--copy` and `--link` cannot be combined"),
        ("install emacs", 2, "INVALID_ARGS: "),
        ("install opencode", 9, "IO: 1 of 1 targets failed: opencode\n"),
    ] {
        let ran = run(&world, line);
        assert_eq!(ran.code, code, "{line}: {ran:?}");
        assert!(ran.err.starts_with(error), "{line}: {}", ran.err);
    }
    let ran = run(&world, "install opencode");
    assert!(ran.out.contains("the harness is not installed: there is no program `opencode`"), "{ran:?}");
    assert!(!world.path().join(".config").exists());
}

#[test]
fn plan_shows_the_entry_and_changes_nothing() {
    let world = world();
    let ran = run(&world, "install codex --mcp-only --print");
    assert!(ran.out.starts_with("plan (nothing was changed):\ncodex mcp: added ("), "{ran:?}");
    assert!(ran.out.contains("\"args\":[\"mcp\"]"), "{ran:?}");
    assert_eq!(text(&world, ".codex/config.toml"), CODEX);
}

#[test]
fn first_command_of_another_version_cleans_up_and_prints_nothing_more() {
    let world = world();
    let reference = run(&world, "session list --json");
    assert_eq!(reference.code, 0, "{reference:?}");
    let state = world.state_dir().join("install/cleanup-state.json");
    let cleaned: Value = serde_json::from_slice(&fs::read(&state).expect("a file")).expect("a value");
    assert_eq!(cleaned["cleanupVersion"], env!("CARGO_PKG_VERSION"));
    fs::write(&state, "{\"cleanupVersion\":\"0.0.1\",\"updatedAt\":\"2026-01-01T00:00:00.000Z\"}")
        .expect("a file");
    let claude = world.path().join(".claude.json");
    fs::write(&claude, LEGACY).expect("a file");
    let first = run(&world, "session list --json");
    assert_eq!((first.code, &first.out, &*first.err), (0, &reference.out, ""));
    assert_eq!(fs::read_to_string(&claude).expect("a file"), "{\n  \"mcpServers\": {}\n}\n");
    fs::write(&claude, LEGACY).expect("a file");
    let second = run(&world, "session list --json");
    assert_eq!((&second.out, &*second.err), (&reference.out, ""));
    assert_eq!(fs::read_to_string(&claude).expect("a file"), LEGACY, "one cleanup per version");
    let audit = fs::read_to_string(world.state_dir().join("install/install-audit.jsonl")).expect("a file");
    let actions: Vec<Value> = audit.lines().map(|line| serde_json::from_str(line).expect("a line")).collect();
    let actions: Vec<&Value> = actions.iter().map(|line| &line["action"]).collect();
    assert_eq!(actions, ["removing", "removed"]);
}

#[test]
fn package_hook_cleans_up_without_a_word() {
    let world = World::new();
    fs::write(world.path().join(".claude.json"), LEGACY).expect("a file");
    let ran = run(&world, "maintenance cleanup --reason update");
    assert_eq!((ran.code, &*ran.out, &*ran.err), (0, "", ""));
    assert_eq!(text(&world, ".claude.json"), "{\n  \"mcpServers\": {}\n}\n");
    assert!(!world.socket().exists(), "no daemon was started");
    assert!(!run(&world, "help").out.contains("maintenance"), "help does not list it");
}
