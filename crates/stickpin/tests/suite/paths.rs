//! Paths that a caller names: one rule for the command line, MCP and scripts, documented in the
//! help of every command that accepts a path.

use crate::support::client::{Client, hello};
use crate::support::{self, World};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use stickpin_kernel::PathArg;
use stickpin_kernel::registry::CommandDefinition;
use stickpin_kernel::schema::Kind;

/// The ways to run the commands that take or compare a screenshot.
#[derive(Debug, Clone, Copy)]
enum Surface {
    CommandLine,
    Mcp,
    /// A script on the command line.
    Replay,
    /// A script over MCP.
    McpReplay,
}

const SURFACES: [Surface; 4] = [Surface::CommandLine, Surface::Mcp, Surface::Replay, Surface::McpReplay];

/// One caller in the folder `shop` of a world. Its home is the parent folder unless `home` names
/// another.
struct Caller<'w> {
    world: &'w World,
    home: Option<&'w str>,
    /// Options of the MCP server.
    options: &'w [&'w str],
}

impl Caller<'_> {
    fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = self.world.command(args);
        if let Some(home) = self.home {
            command.env("HOME", home);
        }
        command
    }

    fn client(&self) -> Client {
        Client::of(self.command(&[&["mcp"], self.options].concat()))
    }

    /// Runs a command on an open app. Returns the failure as text, if any.
    fn run(&self, surface: Surface, command: &str, field: &str, path: &str) -> Result<(), String> {
        let script = format!("open sim:shop\n{command} \"{path}\"\n");
        let in_client = |tools: &[(&str, Value)]| {
            let mut client = self.client();
            for (tool, input) in tools {
                let result = client.tool(tool, input.clone());
                if result["isError"] == true {
                    return Err(support::client::text(&result));
                }
            }
            Ok(())
        };
        let in_process = |words: &[&str]| {
            let ran = support::Ran::from(self.command(words).output().expect("the binary runs"));
            if ran.code == 0 { Ok(()) } else { Err(ran.err) }
        };
        match surface {
            Surface::CommandLine => {
                in_process(&["open", "sim:shop"])?;
                in_process(&[command.split(' ').collect(), vec![path]].concat())
            }
            Surface::Mcp => in_client(&[
                ("open", json!({"what": "sim:shop"})),
                (&command.replace(' ', "_"), json!({ field: path })),
            ]),
            Surface::Replay | Surface::McpReplay => {
                std::fs::write(self.world.path().join("shop/s.ad"), script).expect("a script");
                match surface {
                    Surface::Replay => in_process(&["replay", "s.ad"]),
                    _ => in_client(&[("replay", json!({"file": "s.ad"}))]),
                }
            }
        }
    }

    fn shot(&self, surface: Surface, path: &str) -> Result<(), String> {
        self.run(surface, "screenshot", "path", path)
    }
}

#[test]
fn path_leads_to_one_place_on_every_surface() {
    let world = World::new();
    let caller = Caller { world: &world, home: None, options: &["--allow-path", "~"] };
    let (home, shop) = (world.path().to_owned(), world.path().join("shop"));
    for surface in SURFACES {
        for (path, written) in [
            ("~/x.png", home.join("x.png")),
            ("./~x.png", shop.join("~x.png")),
            ("a/~", shop.join("a/~")),
            ("a/../b.png", shop.join("b.png")),
            ("$HOME/x.png", shop.join("$HOME/x.png")),
        ] {
            caller.shot(surface, path).unwrap_or_else(|e| panic!("{surface:?} {path}: {e}"));
            assert!(written.is_file(), "{surface:?} {path}");
            std::fs::remove_file(&written).expect("it was written");
        }
        for (path, told) in [
            ("~", "IO: "),
            ("~u", "PATH_TILDE_USER: "),
            ("~u/x.png", "PATH_TILDE_USER: "),
            ("", "the path is empty"),
        ] {
            let e = caller.shot(surface, path).expect_err(path);
            assert!(e.contains(told), "{surface:?} {path:?}: {e}");
        }
        let e = caller.shot(surface, "~u/x.png").expect_err("a user");
        assert!(e.contains("use `./~u/x.png` for a file of that name"), "{surface:?}: {e}");
    }
}

#[test]
fn missing_file_is_named_as_written_and_as_resolved_on_every_surface() {
    let world = World::new();
    let caller = Caller { world: &world, home: None, options: &["--allow-path", "~"] };
    let resolved = world.path().join("dev/a.png");
    for surface in SURFACES {
        let e = caller.run(surface, "diff screenshot", "before", "~/dev/a.png").expect_err("no file");
        let message = format!("no such file: ~/dev/a.png (resolved to {})", resolved.display());
        assert!(e.contains(&message), "{surface:?}: {e}");
    }
    let ran = world.run(&["open", "~/a.html"]);
    let message = format!("no such file: ~/a.html (resolved to {})", world.path().join("a.html").display());
    assert!(ran.code == 6 && ran.err.contains(&message), "{ran:?}");
}

#[test]
fn unknown_home_is_told_on_every_surface() {
    let world = World::new();
    // A relative home directory is ignored, and no other is guessed.
    let caller = Caller { world: &world, home: Some("home"), options: &[] };
    for surface in SURFACES {
        let e = caller.shot(surface, "~/x.png").expect_err("no home");
        assert!(e.contains("HOME_UNAVAILABLE: "), "{surface:?}: {e}");
        caller.shot(surface, "x.png").unwrap_or_else(|e| panic!("{surface:?}: {e}"));
    }
}

#[test]
fn home_outside_the_folders_of_an_mcp_client_is_refused() {
    let world = World::new();
    let caller = Caller { world: &world, home: None, options: &[] };
    for surface in [Surface::Mcp, Surface::McpReplay] {
        for path in ["~", "~/x.png", "../x.png"] {
            let e = caller.shot(surface, path).expect_err(path);
            assert!(e.contains("POLICY_DENIED: ") && e.contains("--allow-path"), "{surface:?} {path}: {e}");
        }
        caller.shot(surface, "~/shop/x.png").unwrap_or_else(|e| panic!("{surface:?}: {e}"));
    }
    assert!(!world.path().join("x.png").exists());
}

#[test]
fn relative_path_of_a_client_without_a_folder_needs_a_project_folder() {
    let world = World::new();
    for cwd in [PathBuf::from("/"), world.path().to_owned()] {
        let mut command = world.command(&["mcp"]);
        command.current_dir(&cwd);
        let mut client = Client::of(command);
        client.ok("open", json!({"what": "sim:shop", "record": true}));
        // A script without a name is written to the client's folder.
        for (tool, input) in [("screenshot", json!({"path": "x.png"})), ("close", json!({"save": true}))] {
            let e = client.err(tool, input);
            assert!(e.starts_with("RELATIVE_PATH_WITHOUT_ROOT: "), "{} {tool}: {e}", cwd.display());
        }

        let mut command = world.command(&["mcp"]);
        command.current_dir(&cwd).env("CLAUDE_PROJECT_DIR", world.path().join("shop"));
        let mut client = Client::of(command);
        client.ok("open", json!({"what": "sim:shop"}));
        client.ok("screenshot", json!({"path": "x.png"}));
        let written = world.path().join("shop/x.png");
        assert!(written.is_file(), "{}", cwd.display());
        std::fs::remove_file(written).expect("it was written");
    }
}

/// Returns the grammars of all commands of the binary, with their definitions. Commands of the
/// command line itself have no definition.
fn grammars() -> Vec<(Option<&'static CommandDefinition>, clap::Command)> {
    let client_commands = [stickpin_replay::COMMANDS, stickpin_watch::COMMANDS, stickpin_install::COMMANDS];
    stickpin_cli::grammars(client_commands.concat().leak()).collect()
}

/// Returns all command definitions, of the registry and of the front ends.
fn forms() -> Vec<&'static CommandDefinition> {
    grammars().into_iter().filter_map(|(definition, _)| definition).collect()
}

/// Returns whether words about an argument speak of files or folders.
fn speaks_of_a_path(told: &str) -> bool {
    let told = told.to_lowercase();
    let mut words = told.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| {
        ["path", "paths", "file", "files", "folder", "folders", "dir", "directory"].contains(&word)
    })
}

/// Text arguments whose description mentions a file or a folder that they do not name.
const NO_PATHS: &[&str] = &[
    // The path of a URL.
    "wait url part",
    // Names of downloads, as reported by the app.
    "wait download name",
    // A pass over a line of the file that `repair` names.
    "record start pass",
];

/// Every path is resolved by the resolver: only a `PathArg` has the format `path`.
#[test]
fn argument_documented_as_a_path_is_resolved_by_the_resolver() {
    let takes_text = |kind: &Kind| match kind {
        Kind::List(of) => **of == Kind::String,
        kind => *kind == Kind::String,
    };
    let (mut paths, mut others) = (0, Vec::new());
    for form in forms() {
        // A command without arguments has no properties.
        for (name, schema) in form.schema()["properties"].as_object().into_iter().flatten() {
            let named = format!("{} {name}", form.spec.name);
            let field = form.fields().iter().find(|field| field.name == *name).expect("a field");
            let resolved = schema["format"] == "path" || schema["items"]["format"] == "path";
            assert_eq!(
                field.is_path, resolved,
                "{named}: a path is a `PathArg`, and nothing else has `x-path`"
            );
            paths += usize::from(resolved);
            let told = takes_text(&field.kind)
                && speaks_of_a_path(&format!("{name} {} {}", schema["description"], schema["x-placeholder"]));
            if told && !resolved && !field.is_openable {
                others.push(named);
            }
        }
    }
    assert_eq!(others, NO_PATHS, "described as paths, but not a `PathArg`");
    assert!(paths > 15, "the search finds nothing");
}

#[test]
fn these_tests_know_every_command_of_the_binary() {
    let overview = World::new().ok("help");
    let known: Vec<String> = grammars().iter().map(|(_, grammar)| grammar.get_name().to_owned()).collect();
    let (_, commands) = overview.split_once("\nCommands:\n").expect("a list");
    let listed = commands.lines().map_while(|line| line.strip_prefix("  ")?.split_once("  "));
    let names: Vec<&str> = listed.map(|(name, _)| name).collect();
    assert!(names.contains(&"watch") && names.contains(&"install") && names.contains(&"man"), "{names:?}");
    for name in names {
        assert!(known.contains(&format!("stickpin {name}")), "{name}: {known:?}");
    }
}

/// The paths among the arguments of commands that only the command line has, each with a call.
const OWN_PATHS: &[(&str, &str, &str)] = &[
    ("mcp", "allow-path", "mcp --allow-path PATH"),
    ("mcp", "allow-state-dir", "mcp --allow-state-dir PATH"),
    ("man", "out", "man --out PATH"),
];

#[test]
fn paths_of_the_command_line_itself_are_resolved_by_the_resolver() {
    let common = stickpin_cmdline::local_grammar("", "");
    let is_common = |id: &clap::Id| common.get_arguments().any(|arg| arg.get_id() == id);
    let mut found = Vec::new();
    for (_, grammar) in grammars().into_iter().filter(|(definition, _)| definition.is_none()) {
        for arg in grammar.get_arguments().filter(|arg| !is_common(arg.get_id())) {
            let told = format!(
                "{} {:?} {}",
                arg.get_id(),
                arg.get_value_names(),
                arg.get_help().map(ToString::to_string).unwrap_or_default()
            );
            if arg.get_action().takes_values() && speaks_of_a_path(&told) {
                let name = grammar.get_name().trim_start_matches("stickpin ").to_owned();
                found.push((name, arg.get_id().to_string()));
            }
        }
    }
    let known: Vec<_> =
        OWN_PATHS.iter().map(|(name, arg, _)| ((*name).to_owned(), (*arg).to_owned())).collect();
    assert_eq!(found, known);
    let world = World::new();
    let calls = OWN_PATHS.iter().map(|(_, _, call)| *call);
    for call in calls.chain(["--state-dir PATH daemon status", "--state-dir PATH console --plain"]) {
        let ran = world.run(&support::words(&call.replace("PATH", "~u/x")));
        assert!(ran.err.starts_with("PATH_TILDE_USER: "), "{call}: {ran:?}");
    }
    world.ok("man --out ~/manual");
    assert!(world.path().join("manual/stickpin.1").is_file());
}

/// Collects the sources below a folder, except those of tests.
fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() && !entry.ends_with("tests") {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|end| end == "rs") && !entry.ends_with("tests.rs") {
            found.push(entry);
        }
    }
}

#[test]
fn no_other_source_expands_a_path() {
    let root = stickpin_testkit::workspace_root().join("crates");
    let resolver = root.join("kernel/src/api/paths.rs");
    let expansions = [".cwd.join(", "strip_prefix('~')", "strip_prefix(\"~", "cwd).join("];
    let expands = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).expect("a source");
        let product = text.split("\nmod tests {").next().unwrap_or_default();
        expansions.iter().any(|expansion| product.contains(expansion))
    };
    let mut found = Vec::new();
    for part in [
        "kernel", "client", "cmdline", "cli", "mcp", "replay", "daemon", "stickpin", "watch", "install",
        "console",
    ] {
        sources(&root.join(part).join("src"), &mut found);
    }
    found.retain(expands);
    assert_eq!(found, [resolver]);
}

#[test]
fn help_of_every_command_with_a_path_tells_the_rules_once() {
    for form in forms() {
        let help = stickpin_cmdline::command_grammar(form).render_help().to_string();
        let takes = form.fields().iter().any(|field| field.is_path || field.is_openable);
        assert_eq!(help.matches(PathArg::RULES).count(), usize::from(takes), "{}: {help}", form.spec.name);
    }
    let world = World::new();
    for (_, grammar) in grammars().into_iter().filter(|(definition, _)| definition.is_none()) {
        let name = grammar.get_name().trim_start_matches("stickpin ");
        // The lines that are typed in a console have paths.
        let takes = ["man", "mcp", "console", "session attach"].contains(&name);
        let help = world.ok(&format!("help {name}"));
        assert_eq!(help.matches(PathArg::RULES).count(), usize::from(takes), "{name}: {help}");
    }
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(one_line(&world.ok("help paths")).starts_with(PathArg::RULES));
    // The tool lists have no space for the rule, so every MCP client is informed of it once.
    let mut client = Client::start(&world, &[]);
    let welcome = client.ask("initialize", hello("2025-11-25"));
    let instructions = welcome["result"]["instructions"].as_str().expect("instructions");
    assert_eq!(instructions.matches(PathArg::RULES).count(), 1, "{instructions}");
}
