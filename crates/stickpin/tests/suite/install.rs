//! `install`, `uninstall` and the cleanup after an update, through the real binary.

use crate::support::{Ran, World, words};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

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
        ("install", 2, "INVALID_ARGS: no harness is named\nname a harness, or run `stickpin install --all`"),
        ("uninstall --all codex", 2, "INVALID_ARGS: `--all` cannot be combined with harness names"),
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

/// The configurations of four harnesses, each with a comment or an unusual layout, the server of
/// somebody else, and an entry of this program that a person wrote.
const BY_HAND: [(&str, &str, &str); 4] = [
    (
        "claude-code",
        ".claude.json",
        "{\n  \"mcpServers\": {\n\
         \x20   \"stickpin\": { \"command\": \"stickpin\", \"args\": [\"mcp\", \"--read-only\"] },\n\
         \x20   \"docs\": {\"type\": \"http\", \"url\": \"https://example.org/mcp\"}\n  }\n}\n",
    ),
    (
        "codex",
        ".codex/config.toml",
        "# mine\nmodel = \"o3\" # fast\n\n[mcp_servers.docs] # theirs\ncommand = 'docs'\n\n\
         [mcp_servers.stickpin]\ncommand = \"stickpin\"\nargs = [\"mcp\", \"--read-only\"] # by hand\n",
    ),
    (
        "gemini",
        ".gemini/settings.json",
        "{\n\t\"theme\": \"Default\", // mine\n\t\"mcpServers\": {\n\t\t/* theirs */\n\
         \t\t\"stickpin\": { \"command\": \"stickpin\", \"args\": [\"mcp\"], \"trust\": true }, // by hand\n\
         \t\t\"docs\": { \"command\": \"docs\" } // mine\n\t}\n}",
    ),
    (
        "opencode",
        ".config/opencode/opencode.json",
        "{\r\n  // servers\r\n  \"mcp\": {\r\n    \"docs\": {\"type\": \"local\", \"command\": [\"docs\"]},\r\n\
         \x20   \"stickpin\": {\"type\": \"local\", \"command\": [\"stickpin\", \"mcp\"], \"enabled\": false},\r\n  },\r\n}\r\n",
    ),
];

/// Returns a world with a configuration of each harness, given by its text and its name.
fn configured(text_of: impl Fn(&str) -> String) -> World {
    let world = World::new();
    fs::create_dir(world.path().join(".claude")).expect("a folder");
    for (_, file, text) in BY_HAND {
        let path = world.path().join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text_of(text)).expect("a file");
    }
    world
}

/// Runs a command that examines every configuration. Returns its exit code, the status of each
/// harness, and the messages.
fn examined(world: &World, line: &str) -> (i32, Vec<String>, Vec<String>) {
    let ran = run(world, line);
    let results = ran.json()["output"]["results"].take();
    let results = results.as_array().unwrap_or_else(|| panic!("{ran:?}"));
    let of = |key: &str| -> Vec<String> {
        let mcp = results.iter().filter(|result| result["target"] == "mcp");
        mcp.map(|result| result[key].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(of("harness"), BY_HAND.map(|(harness, ..)| harness), "{ran:?}");
    (ran.code, of("status"), of("message"))
}

/// F38: what a person wrote stays, byte by byte.
#[test]
fn entry_that_a_person_wrote_stays_in_each_configuration() {
    let world = configured(str::to_owned);
    for line in
        ["install --all --mcp-only --json", "uninstall --all --json", "install --all --mcp-only --json"]
    {
        let (code, statuses, _) = examined(&world, line);
        assert_eq!((code, statuses), (0, vec!["preserved".to_owned(); 4]), "{line}");
        run(&world, "maintenance cleanup --reason update");
        for (_, file, before) in BY_HAND {
            assert_eq!(text(&world, file), before, "{line}");
        }
    }
}

/// F38: neighbours and comments stay while an entry comes and goes.
#[test]
fn neighbours_and_comments_stay_in_each_configuration() {
    let without_ours = |text: &str| -> String {
        let lines = text.split_inclusive('\n');
        let ours = |line: &&str| line.contains("stickpin") || line.contains("by hand");
        lines.filter(|line| !ours(line)).collect()
    };
    let world = configured(without_ours);
    let (code, statuses, _) = examined(&world, "install --all --mcp-only --json");
    assert_eq!((code, statuses), (0, vec!["added".to_owned(); 4]));
    for (_, file, before) in BY_HAND {
        let now = text(&world, file);
        assert!(now.contains("STICKPIN_STATE_DIR"), "{now}");
        let theirs = without_ours(before);
        let kept = theirs.lines().filter(|line| line.contains("docs") || line.contains("mine"));
        for line in kept {
            // An entry after theirs needs a comma.
            let is_there = now.replace("},", "}").contains(&line.replace("},", "}"));
            assert!(is_there, "{line} is not in {now}");
        }
    }
    let (code, statuses, _) = examined(&world, "uninstall --all --json");
    assert_eq!((code, statuses), (0, vec!["removed".to_owned(); 4]));
    for (_, file, before) in BY_HAND {
        assert_eq!(text(&world, file), without_ours(before));
    }
}

/// F38: a file that cannot be parsed or written is reported and stays as it is.
#[test]
fn broken_and_read_only_configurations_stay_and_are_reported() {
    for line in ["install --all --mcp-only --json", "uninstall --all --json"] {
        let broken = "{ \"mcpServers\": [ // not closed";
        let world = configured(|_| broken.to_owned());
        let (code, statuses, messages) = examined(&world, line);
        assert_eq!((code, statuses), (9, vec!["failed".to_owned(); 4]), "{line}");
        assert!(messages.iter().all(|message| message.contains("cannot be parsed")), "{messages:?}");
        for (_, file, _) in BY_HAND {
            assert_eq!(text(&world, file), broken, "{line}");
        }
    }
    let empty = |world: &World| BY_HAND.map(|(_, file, _)| text(world, file)).iter().all(String::is_empty);
    let world = configured(|_| String::new());
    for (_, file, _) in BY_HAND {
        let read_only = fs::Permissions::from_mode(0o444);
        fs::set_permissions(world.path().join(file), read_only).expect("a file");
    }
    let (code, statuses, messages) = examined(&world, "install --all --mcp-only --json");
    assert_eq!((code, statuses), (9, vec!["failed".to_owned(); 4]));
    assert!(messages.iter().all(|message| message == "the file is read-only"), "{messages:?}");
    assert!(empty(&world));
}
