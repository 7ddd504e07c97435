//! The MCP server as a surface, through two real clients: `rmcp` and the TypeScript SDK. Each
//! caller is a separate connection.

use crate::expect::Outcome;
use crate::scenario::SurfaceName;
use crate::surface::{Binary, Caller, Surface, runtime};
use rmcp::model::CallToolRequestParams;
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use stickpin_cli::Env;
use stickpin_kernel::{Request, Response};

/// The MCP client that is used.
#[derive(Debug, Clone)]
pub enum McpClient {
    /// The client of `rmcp`.
    Rust,
    /// The client of the TypeScript SDK, in this folder with `node_modules`.
    TypeScript(PathBuf),
    /// The client of the TypeScript SDK over HTTP: all callers are clients of one server.
    TypeScriptHttp(PathBuf),
}

/// The MCP server as a surface, called through one kind of client.
pub struct McpSurface {
    client: McpClient,
    runtime: tokio::runtime::Runtime,
    connections: BTreeMap<(PathBuf, Option<String>), CallerConnection>,
    http: Option<Http>,
    binary: Binary,
}

/// One server for all callers.
struct Http {
    child: Child,
    url: String,
    token: String,
}

enum CallerConnection {
    Rust(Box<RunningService<RoleClient, ()>>, tokio::process::Child),
    TypeScript { child: Child, write: ChildStdin, read: BufReader<ChildStdout> },
}

impl McpSurface {
    /// Creates the surface. The first call of a caller starts its server, or the one server over
    /// HTTP. All use the state directory of `dir`.
    ///
    /// # Panics
    /// Panics if no runtime can be built.
    #[must_use]
    pub fn new(dir: &Path, program: &Path, client: McpClient) -> Self {
        let binary = Binary::new(dir, program);
        Self { client, runtime: runtime(), connections: BTreeMap::new(), http: None, binary }
    }

    fn connect(&mut self, caller: Caller<'_>) -> CallerConnection {
        // Other tests check which files a client may name.
        let args =
            ["mcp", "--profile=full", "--structured", "--allow-path=/", "--allow-script", "--allow-programs"];
        let elsewhere = format!("--allow-state-dir={}", self.binary.dir.join("elsewhere").display());
        let args = args.map(str::to_owned).into_iter().chain([elsewhere]).collect::<Vec<_>>();
        let set_env = |command: &mut Command| {
            self.binary
                .set_environment(command, caller)
                .env_remove("STICKPIN_MCP_PROFILE")
                .env_remove("STICKPIN_MCP_TOKEN")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped());
        };
        match &self.client {
            McpClient::Rust => {
                let mut command = Command::new(&self.binary.program);
                command.args(&args);
                set_env(&mut command);
                self.runtime.block_on(async {
                    let mut child =
                        tokio::process::Command::from(command).spawn().expect("the server starts");
                    let pipes = (child.stdout.take().expect("a pipe"), child.stdin.take().expect("a pipe"));
                    CallerConnection::Rust(
                        Box::new(().serve(pipes).await.expect("the server is initialized")),
                        child,
                    )
                })
            }
            McpClient::TypeScript(modules) | McpClient::TypeScriptHttp(modules) => {
                let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("mcp-driver.mjs");
                let mut command = Command::new("node");
                command.arg(driver).arg(modules);
                if let McpClient::TypeScriptHttp(_) = self.client {
                    let http = self.http.get_or_insert_with(|| {
                        let mut command = Command::new(&self.binary.program);
                        command.args(&args).args(["--http", "127.0.0.1:0"]);
                        set_env(&mut command);
                        Http::start(&mut command)
                    });
                    command.args([&http.url, &http.token]);
                } else {
                    command.arg(&self.binary.program).args(&args);
                }
                set_env(&mut command);
                let mut child = command.spawn().expect("node runs");
                let write = child.stdin.take().expect("a pipe");
                let read = BufReader::new(child.stdout.take().expect("a pipe"));
                CallerConnection::TypeScript { child, write, read }
            }
        }
    }

    /// Calls a tool as one caller and returns the result as JSON.
    ///
    /// # Panics
    /// Panics when the server does not answer.
    pub fn tool(&mut self, folder: &Path, name: &str, args: Value) -> Value {
        self.tool_as(Caller { folder, agent: None }, name, args)
    }

    fn tool_as(&mut self, caller: Caller<'_>, name: &str, args: Value) -> Value {
        let key = (caller.folder.to_owned(), caller.agent.map(str::to_owned));
        if !self.connections.contains_key(&key) {
            let link = self.connect(caller);
            self.connections.insert(key.clone(), link);
        }
        match self.connections.get_mut(&key).expect("it was just put there") {
            CallerConnection::Rust(client, _) => {
                let mut params = CallToolRequestParams::new(name.to_owned());
                params.arguments = args.as_object().cloned();
                let result = self.runtime.block_on(client.call_tool(params)).expect("a result");
                serde_json::to_value(result).expect("JSON")
            }
            CallerConnection::TypeScript { write, read, .. } => {
                writeln!(write, "{}", json!({ "name": name, "arguments": args })).expect("the driver reads");
                let mut line = String::new();
                read.read_line(&mut line).expect("the driver answers");
                serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"))
            }
        }
    }
}

impl Http {
    fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().expect("the server starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut lines = lines.map(|line| line.expect("a line"));
        let url = lines.next().expect("where it listens").replace("listening at ", "");
        let token = lines.next().expect("the token").replace("token ", "");
        Self { child, url, token }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        if let Err(e) = self.child.kill().and_then(|()| self.child.wait()) {
            eprintln!("mcp --http: {e}");
        }
    }
}

/// Returns the tool call for a command line. Features that only a command line has are called
/// through the tool that accepts one.
fn tool(words: &[String], folder: &Path) -> (String, Value) {
    let env = Env { cwd: folder.to_owned(), ..Env::default() };
    let words_as_str: Vec<&str> = words.iter().map(String::as_str).collect();
    match stickpin_cli::request(&words_as_str, &env) {
        Ok(Request { command, input, session, render, timeout_ms: None, .. })
            if render == Default::default() =>
        {
            let mut args = Value::Object(input);
            if let Some(session) = session {
                args["session"] = session.into();
            }
            (command.replace(' ', "_"), args)
        }
        _ => {
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            ("stickpin".to_owned(), json!({ "line": words.join(" ") }))
        }
    }
}

fn quoted(word: &str) -> String {
    match word.contains('\'') {
        true => format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")),
        false => format!("'{word}'"),
    }
}

impl Surface for McpSurface {
    fn name(&self) -> SurfaceName {
        match self.client {
            McpClient::Rust => SurfaceName::Mcp,
            McpClient::TypeScript(_) | McpClient::TypeScriptHttp(_) => SurfaceName::McpTypescript,
        }
    }

    fn call(&mut self, words: &[String], caller: Caller<'_>) -> Outcome {
        let (name, args) = tool(words, caller.folder);
        let result = self.tool_as(caller, &name, args);
        let text = result["content"][0]["text"].as_str().expect("a text comes first");
        let envelope: Response =
            serde_json::from_value(result["structuredContent"].clone()).expect("an envelope");
        let failed = result["isError"].as_bool().unwrap_or(false);
        assert_eq!(failed, envelope.error.is_some(), "{result}");
        // Lines that a command line prints on another stream, and lines that only this surface
        // prints.
        let is_side_line = |line: &str| line.starts_with("warning: ") || line.starts_with("dispatched: ");
        let nested = envelope.output.as_ref().is_some_and(|output| output["steps"].is_array());
        // Between the fence lines is the app's text, which may look like anything.
        let mut fence = None;
        let shown = |line: &&str| match (&fence, line.strip_prefix("<app ")) {
            (Some(end), _) if line == end => {
                fence = None;
                false
            }
            (Some(_), _) => true,
            (None, Some(word)) => {
                fence = Some(format!("</app {word}"));
                false
            }
            (None, None) => nested || !is_side_line(line),
        };
        let text: Vec<&str> = text.lines().filter(shown).collect();
        assert_eq!(fence, None, "a fence is not closed: {result}");
        Outcome {
            exit: envelope.exit,
            text: Some(text.join("\n")),
            warning: Some(envelope.warning.clone().unwrap_or_default()),
            envelope: Some(envelope),
            received: Vec::new(),
        }
    }

    fn pins(&self) -> bool {
        true
    }
}

impl Drop for McpSurface {
    fn drop(&mut self) {
        for (_, link) in std::mem::take(&mut self.connections) {
            match link {
                CallerConnection::Rust(client, mut child) => self.runtime.block_on(async {
                    // The test is over, so the server's answer does not matter.
                    let _ = client.cancel().await;
                    let _ = child.wait().await;
                }),
                CallerConnection::TypeScript { mut child, write, read } => {
                    drop((write, read));
                    let _ = child.wait();
                }
            }
        }
    }
}
