//! Every scenario of the simulated device on every front end: in process, over the daemon's socket,
//! through the binary as text and as JSON. Each run has its own folder and daemon.

use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stickpin_backend_sim::SimProvider;
use stickpin_cli::Env;
use stickpin_kernel::{Dispatched, ErrorCode, registry::COMMANDS, schema::Kind};
use stickpin_testkit::{
    InProcess, McpClient, McpSurface, ProcessJson, ProcessText, Scenario, Script, Socket, Surface,
    SurfaceName, npm, run_file, scenario_files, split, workspace_root,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_stickpin");

fn run(name: &str, surface: impl FnOnce(&Path) -> Box<dyn Surface>) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = workspace_root().join("fixtures/scenarios").join(name.replace('_', "-") + ".toml");
    if let Err(e) = run_file(&path, dir.path(), surface(dir.path()).as_mut()) {
        panic!("{e}");
    }
}

/// A test per file and front end, and the list of the files.
macro_rules! scenarios {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name),)*];

        $(mod $name {
            use super::*;

            const NAME: &str = stringify!($name);

            #[test]
            fn in_process() {
                run(NAME, |dir| Box::new(InProcess::with_agents(dir, vec![Arc::new(SimProvider::new())])));
            }

            #[test]
            fn socket() {
                run(NAME, |dir| Box::new(Socket::new(dir, Path::new(PROGRAM))));
            }

            #[test]
            fn process_text() {
                run(NAME, |dir| Box::new(ProcessText::new(dir, Path::new(PROGRAM))));
            }

            #[test]
            fn mcp() {
                run(NAME, |dir| Box::new(McpSurface::new(dir, Path::new(PROGRAM), McpClient::Rust)));
            }

            #[test]
            fn script() {
                run(NAME, |dir| Box::new(Script::new(dir, vec![Arc::new(SimProvider::new())])));
            }

            #[test]
            fn process_json() {
                run(NAME, |dir| Box::new(ProcessJson::new(dir, Path::new(PROGRAM))));
            }
        })*
    };
}

scenarios! {
    agents_loans
    agents_talk
    agents_turns
    ask
    batch
    blessing
    context
    details
    dialogs
    diffs
    enforce
    errors
    faults
    feed
    history
    pins
    pointer
    read
    record
    reopen
    screenshot
    scroll_rounds
    sessions
    settings
    shop
    secrets
    signin
    stale
    tabs
    toggle
    two_callers
    waits
}

/// An independent client implementation, on scenarios with pins, with two callers and with a whole
/// task. Both clients use the same server.
mod mcp_typescript {
    use super::*;

    fn run_typescript(name: &str) {
        let Some(modules) = npm() else { return };
        run(name, |dir| Box::new(McpSurface::new(dir, Path::new(PROGRAM), McpClient::TypeScript(modules))));
    }

    #[test]
    fn pins() {
        run_typescript("pins");
    }

    #[test]
    fn shop() {
        run_typescript("shop");
    }

    #[test]
    fn two_callers() {
        run_typescript("two_callers");
    }
}

fn files() -> Vec<(String, Scenario)> {
    let name = |path: &PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let files = scenario_files("sim").expect("the scenarios");
    files.iter().map(|path| (name(path), Scenario::read(path).expect("a scenario"))).collect()
}

#[test]
fn every_file_runs() {
    let there: BTreeSet<String> = files().into_iter().map(|(name, _)| name.replace('-', "_")).collect();
    let run: BTreeSet<String> = NAMES.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(there, run, "the files of fixtures/scenarios and the list above");
}

/// Returns the command of a command line, according to the grammar of the command line itself.
fn command(line: &str) -> Option<String> {
    let words = split(line).expect("words");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let env = Env { cwd: "/w".into(), home: Some("/h".into()), ..Env::default() };
    stickpin_cli::request(&words, &env).ok().map(|request| request.command)
}

/// Returns the commands whose success the scenarios of a device show.
fn shown(device: &str) -> BTreeSet<String> {
    let files = scenario_files(device).expect("the scenarios");
    let steps = files.iter().flat_map(|path| Scenario::read(path).expect("a scenario").steps);
    steps.filter(|s| s.exit == 0).filter_map(|s| command(&s.run)).collect()
}

/// Returns whether a command concerns the agents and the log of a session and never its device, so
/// that a scenario on one device is enough.
fn is_about_agents(name: &str) -> bool {
    let group = name.split(' ').next().unwrap_or_default();
    let of_any_host = ["session list", "session show"].contains(&name);
    let of_agents = ["turn", "msg", "notes", "events", "session", "log", "whoami", "identity"];
    (of_agents.contains(&group) || ["doctor identity", "doctor state"].contains(&name)) && !of_any_host
}

#[test]
fn every_command_has_a_scenario_on_sim_and_web() {
    // Commands whose capability one device lacks: a page has no start screen; the simulated device
    // has no files, traffic, script or clipboard.
    let (sim, web) = (shown("sim"), shown("web"));
    let missing = |used: &BTreeSet<String>| -> Vec<&str> {
        COMMANDS.iter().map(|e| e.spec.name).filter(|n| !used.contains(*n)).collect()
    };
    assert_eq!(missing(&web).into_iter().filter(|n| !is_about_agents(n)).collect::<Vec<_>>(), ["home"]);
    let (agents, device): (Vec<_>, Vec<_>) = missing(&sim).into_iter().partition(|n| is_about_agents(n));
    let without = ["upload", "wait request", "wait download", "wait fn", "clipboard read", "clipboard write"];
    assert_eq!(device, without);
    // Commands that are tested elsewhere. The id of a loan is random: `delegation.rs` of the
    // coordinator. Some are only for persons and for damaged or old files: `upkeep.rs` and
    // `retention.rs` there, `migrate.rs` of the store. Linking needs a shell and an MCP server of
    // one harness: `identity.rs`.
    let elsewhere = [
        "doctor identity",
        "session reclaim",
        "session adopt",
        "session gc",
        "log repair",
        "log migrate",
        "identity link",
    ];
    assert_eq!(agents, elsewhere);
}

/// A long scenario of a desktop may leave the script out, but none of its commands.
#[test]
fn every_command_of_a_desktop_is_in_a_scenario_that_runs_as_a_script() {
    let files =
        ["sim", "web", "linux"].into_iter().flat_map(|device| scenario_files(device).expect("the scenarios"));
    let scenarios = files.map(|path| Scenario::read(&path).expect("a scenario"));
    let scripts = scenarios.filter(|scenario| !scenario.without.contains_key(&SurfaceName::Script));
    let scripted: BTreeSet<String> =
        scripts.flat_map(|scenario| scenario.steps).filter_map(|step| command(&step.run)).collect();
    assert_eq!(shown("linux").difference(&scripted).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// Returns the codes that no scenario can provoke, each with the reason and the place where it is
/// provoked instead, or the issue that will provoke it.
fn waivers() -> BTreeMap<String, String> {
    let path = workspace_root().join("fixtures/scenarios/waivers.toml");
    toml::from_str(&std::fs::read_to_string(path).expect("the waivers")).expect("a table")
}

#[test]
fn every_error_code_is_in_a_scenario_or_waived() {
    let used: BTreeSet<String> =
        files().into_iter().flat_map(|(_, s)| s.steps).filter_map(|step| step.code).collect();
    let waived = waivers();
    for code in ErrorCode::ALL {
        let (name, used) = (code.name(), used.contains(code.name()));
        assert!(used || waived.contains_key(name), "no scenario expects {name}, and it is not waived");
        assert!(!(used && waived.contains_key(name)), "{name} is waived, but a scenario expects it");
    }
    for (name, reason) in waived {
        assert!(ErrorCode::ALL.iter().any(|c| c.name() == name), "{name} is not an error code");
        assert!(reason.len() > 20, "{name} is waived without a reason");
    }
}

/// Returns the input of a command that has a target in this field, with everything else that it
/// needs.
fn input(command: &str, field: &str, target: &str) -> Map<String, Value> {
    let entry = stickpin_kernel::registry::find(command).expect("a command");
    let mut input = Map::new();
    for f in entry.fields().iter().filter(|f| f.required) {
        let value = match &f.kind {
            Kind::Target => json!("role=main"),
            Kind::Integer | Kind::Number => json!(1),
            Kind::Bool => json!(true),
            Kind::Choice(words) => json!(words[0].0),
            Kind::List(_) => json!(["label=Name=Suomi"]),
            Kind::String | Kind::Any => json!("x"),
        };
        input.insert(f.name.clone(), value);
    }
    // One of two alternatives, so neither is required by itself.
    if command == "fill" {
        input.insert("text".to_owned(), json!("x"));
    }
    input.insert(field.to_owned(), json!(target));
    input
}

/// Fields that accept a selector but no ref, because their subject does not exist yet, or is a
/// count of elements.
const SELECTORS: &[&str] = &["scroll until", "count selector"];

/// Invalid refs and pins.
const MALFORMED: &[&str] = &[
    "@e1~",
    "@e1~s",
    "@e1~3",
    "@e1~x3",
    "@e1~s3x",
    "@e1~s-3",
    "@e1~s3~s4",
    "~s3",
    "@",
    "@e",
    "@e0",
    "e1~",
    "12",
    "@e99999999999",
    "@e1~s99999999999999999999999",
];

#[test]
fn every_ref_argument_takes_pins_and_rejects_malformed_refs() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut surface = InProcess::new(dir.path(), vec![Arc::new(SimProvider::new())]);
    let opened = surface.request(&["open", "sim:settings?clock=virtual", "-i"], |_| {});
    assert!(opened.ok, "{:?}", opened.error);
    let mut consumers = BTreeSet::new();
    for entry in COMMANDS {
        let fields = entry.fields().iter().map(|f| (f.name.as_str(), &f.kind));
        let mut targets: Vec<(&str, &str)> =
            fields.filter(|(_, kind)| **kind == Kind::Target).map(|(name, _)| (name, "")).collect();
        // Its targets are before an equals sign.
        if entry.spec.name == "form" {
            targets.push(("fields", "=x"));
        }
        for (field, rest) in targets {
            let at = format!("{} {field}", entry.spec.name);
            consumers.insert(entry.spec.name);
            let mut ask = |target: &str| {
                surface.request(&["get", "title"], |request| {
                    request.command = entry.spec.name.to_owned();
                    request.input = input(entry.spec.name, field, target);
                    if !rest.is_empty() {
                        request.input[field] = json!([format!("{target}{rest}")]);
                    }
                })
            };
            let mut hints = BTreeSet::new();
            for malformed in MALFORMED {
                let error = ask(malformed).error.unwrap_or_else(|| panic!("{at} took {malformed}"));
                assert_eq!(
                    (error.code, error.dispatched),
                    (ErrorCode::InvalidArgs, Dispatched::No),
                    "{at} {malformed}: {error}"
                );
                hints.extend(error.hint.contains("~s").then_some(error.hint));
            }
            assert!(
                hints.iter().all(|h| h.contains("@e12") && h.contains("refsGeneration")),
                "{at}: {hints:?}"
            );
            // Never issued, so nothing is done, in both the plain and the pinned form.
            let answers = ["@e4000000", "e4000000", "@e4000000~s3", " e4000000~s0 "]
                .map(|good| ask(good).error.map(|e| e.code));
            assert!(answers.iter().all(|a| *a == answers[0]), "{at}: {answers:?}");
            let takes_refs = !SELECTORS.contains(&at.as_str());
            assert_eq!(answers[0] != Some(ErrorCode::InvalidArgs), takes_refs, "{at}: {answers:?}");
        }
    }
    let contract = [
        "press",
        "longpress",
        "hover",
        "drag",
        "fill",
        "type",
        "form",
        "select",
        "check",
        "uncheck",
        "scroll",
        "upload",
        "get",
        "is",
        "wait",
        "wait absent",
        "snapshot",
        "screenshot",
    ];
    for name in contract {
        assert!(
            consumers.contains(name),
            "{name} consumes refs by the contract, but none of its fields is a target"
        );
    }
}
