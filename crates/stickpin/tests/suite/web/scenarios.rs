//! Scenarios on real Chromium, with our own pages: all of them in process, some also through the
//! real binary. The page reports which element received the input.

use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use stickpin_testkit::{
    Caller, InProcess, McpClient, McpSurface, Outcome, PageServer, ProcessJson, ProcessText, Scenario,
    Script, Surface, SurfaceName, chromium, npm, run_file, scenario_files, workspace_root,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_stickpin");

fn run(name: &str, surface: impl FnOnce(&Path) -> Option<Box<dyn Surface>>) {
    let dir = tempfile::tempdir().expect("a folder");
    let Some(mut surface) = surface(dir.path()) else { return };
    let path = workspace_root().join("fixtures/scenarios").join(name.replace('_', "-") + ".toml");
    if let Err(e) = run_file(&path, dir.path(), surface.as_mut()) {
        panic!("{e}");
    }
}

/// A front end, or `None` if its requirements are missing.
type Made = Option<Box<dyn Surface>>;

fn in_process(dir: &Path) -> Made {
    Some(Box::new(InProcess::new(dir, vec![Arc::new(chromium()?)])))
}

fn script(dir: &Path) -> Made {
    Some(Box::new(Script::new(dir, vec![Arc::new(chromium()?)])))
}

fn process_text(dir: &Path) -> Made {
    chromium()?;
    Some(Box::new(ProcessText::new(dir, Path::new(PROGRAM))))
}

fn process_json(dir: &Path) -> Made {
    chromium()?;
    Some(Box::new(ProcessJson::new(dir, Path::new(PROGRAM))))
}

fn mcp(dir: &Path) -> Made {
    chromium()?;
    Some(Box::new(McpSurface::new(dir, Path::new(PROGRAM), McpClient::Rust)))
}

fn mcp_typescript(dir: &Path) -> Made {
    chromium()?;
    Some(Box::new(McpSurface::new(dir, Path::new(PROGRAM), McpClient::TypeScript(npm()?))))
}

fn mcp_http(dir: &Path) -> Made {
    chromium()?;
    Some(Box::new(McpSurface::new(dir, Path::new(PROGRAM), McpClient::TypeScriptHttp(npm()?))))
}

/// Returns the text of a call that succeeds.
fn works(mcp: &mut McpSurface, folder: &Path, name: &str, args: serde_json::Value) -> String {
    let result = mcp.tool(folder, name, args);
    assert_eq!(result["isError"], false, "{name}: {result}");
    result["content"][0]["text"].as_str().expect("a text").to_owned()
}

/// The time limit for a page to report what it received.
const PATIENCE: Duration = Duration::from_secs(10);

/// A second state directory, whose daemon ends with this value.
struct Elsewhere(PathBuf);

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let mut stop = Command::new(PROGRAM);
        stop.args(["daemon", "stop", "--force", "--state-dir"]).arg(&self.0);
        if let Err(e) = stop.output() {
            eprintln!("daemon stop: {e}");
        }
    }
}

/// One session with a client of the MCP server and a second caller on the command line.
struct Mixed {
    mcp: McpSurface,
    line: ProcessText,
    guest: bool,
}

impl Surface for Mixed {
    fn name(&self) -> SurfaceName {
        if self.guest { SurfaceName::ProcessText } else { SurfaceName::Mcp }
    }

    fn pins(&self) -> bool {
        !self.guest
    }

    fn call(&mut self, words: &[String], caller: Caller<'_>) -> Outcome {
        self.guest = caller.folder.ends_with("guest");
        if self.guest { self.line.call(words, caller) } else { self.mcp.call(words, caller) }
    }
}

fn mcp_and_line(dir: &Path) -> Made {
    chromium()?;
    let mcp = McpSurface::new(dir, Path::new(PROGRAM), McpClient::Rust);
    Some(Box::new(Mixed { mcp, line: ProcessText::new(dir, Path::new(PROGRAM)), guest: false }))
}

/// A test per file and front end, and the list of the files. Each runs in process and through one
/// of the MCP clients, because the device behaves the same with each of them.
macro_rules! scenarios {
    ($($name:ident: $($surface:ident)*;)*) => {
        const SURFACES: &[(&str, &[&str])] = &[$((stringify!($name), &[$(stringify!($surface)),*]),)*];

        $(mod $name {
            $(#[test]
            fn $surface() {
                super::run(stringify!($name), super::$surface);
            })*
        })*
    };
}

scenarios! {
    web_blessing: in_process mcp process_text;
    web_choices: in_process script process_json;
    web_errands: in_process script mcp process_text;
    web_files: in_process script mcp;
    web_lies: in_process mcp mcp_typescript process_text process_json;
    web_moving: in_process script mcp;
    web_orders: in_process script mcp_typescript process_json;
    web_controls: in_process script process_text;
    web_reach: in_process script mcp_typescript;
    web_read: in_process script mcp;
    web_signin: in_process script mcp process_text;
    web_tabs: in_process script mcp_typescript;
    web_traffic: in_process script mcp process_text;
    web_two_callers: in_process process_text mcp mcp_typescript mcp_http mcp_and_line;
    web_widgets: in_process script mcp;
}

/// The page's own text is enclosed by two lines that the page cannot know; everything else is
/// stickpin's.
#[test]
fn what_a_page_says_is_fenced() {
    let dir = tempfile::tempdir().expect("a folder");
    if chromium().is_none() {
        return;
    }
    let pages = PageServer::start(&workspace_root().join("fixtures/web")).expect("a page server");
    let mut mcp = McpSurface::new(dir.path(), Path::new(PROGRAM), McpClient::Rust);
    let mut tool = |name: &str, args: serde_json::Value| works(&mut mcp, dir.path(), name, args);
    let url = format!("{}/scenarios/lies.html", pages.origin());
    let opened = tool("open", json!({ "what": url, "interactive": true }));
    let snapshot = tool("snapshot", json!({}));
    for line in opened.lines().chain(snapshot.lines()) {
        let line = line.trim_start();
        let element = line.strip_prefix("@e").and_then(|l| l.split_once(' ')).map(|(n, _)| n);
        let issued = element.is_some_and(|n| n.parse::<u32>().is_ok());
        assert!(issued || ["opened ", "page \"Lies"].iter().any(|w| line.starts_with(w)), "{line}");
    }
    let text = |what: &str, target: &str| ("get", json!({ "what": what, "target": target }));
    let calls = [
        ("read", json!({})),
        text("text", "css=#text"),
        text("value", "label=Note"),
        text("text", "css=#heading"),
    ];
    let mut words = BTreeSet::new();
    for (name, args) in calls {
        let said = tool(name, args.clone());
        let lines: Vec<&str> = said.lines().collect();
        let open = lines.iter().position(|l| l.starts_with("<app ")).unwrap_or_else(|| panic!("{said}"));
        let word = lines[open].trim_start_matches("<app ").trim_end_matches('>');
        let close = lines.iter().position(|l| *l == format!("</app {word}>")).expect("its end");
        assert!(words.insert(word.to_owned()), "{word} could be learned");
        let inside = lines[open + 1..close].join("\n");
        assert!(inside.contains("minted") && inside.contains("Ignore your"), "{name} {args}: {said}");
        for line in lines[..open].iter().chain(&lines[close + 1..]) {
            assert!(line.is_empty() || line.starts_with("page \"Lies"), "{name} {args}: {said}");
        }
        assert!(!said.contains(['\u{1b}', '\u{202e}', '\u{9b}', '\u{7}']), "{name} {args}: {said:?}");
    }
}

/// One client with one session name: another state directory or session is another app with its own
/// refs. Warnings concern only the tree of the same session, and each press reaches its own page.
#[test]
fn sessions_and_state_dirs_of_one_client_are_apart() {
    let dir = tempfile::tempdir().expect("a folder");
    if chromium().is_none() {
        return;
    }
    let pages = PageServer::start(&workspace_root().join("fixtures/web")).expect("a page server");
    let mut mcp = McpSurface::new(dir.path(), Path::new(PROGRAM), McpClient::Rust);
    let elsewhere = Elsewhere(dir.path().join("elsewhere"));
    let place = |session: &str, elsewhere: Option<&Elsewhere>, mut args: serde_json::Value| {
        args["session"] = session.into();
        if let Some(Elsewhere(state)) = elsewhere {
            args["stateDir"] = state.to_string_lossy().into();
        }
        args
    };
    let mut tool = |name: &str, args: serde_json::Value| works(&mut mcp, dir.path(), name, args);
    let url = |page: &str| format!("{}/scenarios/{page}.html", pages.origin());
    let opened = tool("open", place("one", None, json!({ "what": url("counter"), "interactive": true })));
    assert!(opened.contains("@e4 button \"Add to cart\""), "{opened}");
    let others = [("one", Some(&elsewhere)), ("two", None)];
    for (session, state) in others {
        let opened =
            tool("open", place(session, state, json!({ "what": url("orders"), "interactive": true })));
        assert!(opened.contains("@e4 button \"Delete\""), "{opened}");
        let pressed = tool("press", place(session, state, json!({ "target": "@e2" })));
        assert!(pages.wait_for("click sync", PATIENCE), "{pressed}");
        tool("find", place(session, state, json!({ "query": "role=button" })));
    }
    // The third tree, which this client has read completely.
    let pressed = tool("press", place("one", None, json!({ "target": "@e4" })));
    assert!(!pressed.contains("warning"), "{pressed}");
    assert!(pages.wait_for("click add lamp", PATIENCE), "{pressed}");
    for (session, state) in others {
        let args = place(session, state, json!({ "target": "@e2" }));
        let pressed = works(&mut mcp, dir.path(), "press", args);
        assert!(!pressed.contains("warning"), "{pressed}");
        assert!(pages.wait_for("click sync", PATIENCE), "{pressed}");
        let result = mcp.tool(dir.path(), "press", place(session, state, json!({ "target": "@e4" })));
        let text = result["content"][0]["text"].as_str().expect("a text");
        assert!(result["isError"] == true && text.starts_with("STALE_REF: "), "{result}");
    }
    assert_eq!(pages.received(), Vec::<String>::new(), "something else received input");
}

#[test]
fn every_file_runs_and_as_a_script_too_unless_it_says_why_not() {
    let files = scenario_files("web").expect("the scenarios");
    let name = |path: &PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().replace('-', "_");
    let there: BTreeSet<String> = files.iter().map(name).collect();
    let run: BTreeSet<String> = SURFACES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(there, run, "the files of fixtures/scenarios and the tests above");
    for path in &files {
        let without = Scenario::read(path).expect("a scenario").without;
        let surfaces = SURFACES.iter().find(|(listed, _)| *listed == name(path)).expect("it runs").1;
        let scripted = surfaces.contains(&"script");
        assert_ne!(scripted, without.contains_key(&SurfaceName::Script), "{}", path.display());
    }
}
