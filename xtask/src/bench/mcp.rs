//! Measures the MCP server over stdio: its overhead per command, its start, and its memory. Also
//! measures a snapshot of a page that changes each time, next to Playwright's server.

use super::measure::{Tool, chromium, median, medians, resident_bytes};
use super::mib;
use super::page::{AGENT_PAUSE, Server};
use super::table::Table;
use crate::Result;
use crate::run::npm_install;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;
use stickpin_client::Connection;
use stickpin_kernel::Request;
use stickpin_wire::StateDir;

/// The server that the table compares with.
const PACKAGE: &str = "@playwright/mcp@0.0.83";

/// The number of calls on the simulated app: per variant for the medians, and before the memory is
/// measured.
const PAIRS: usize = 500;
const NUM_CALLS: usize = 10_000;

/// The number of rows of the page.
const ROWS: usize = 1_000;

/// Adds the rows of this part.
pub fn measure(table: &mut Table, ours: &Tool, server: &Server, peers: Option<&Path>, runs: usize) -> Result {
    let ready = (0..runs).map(|_| {
        let start = Instant::now();
        let mut client = Client::start(&mut ours.command(&["mcp"]))?;
        client.call("tools/list", json!({}))?;
        Ok(start.elapsed().as_secs_f64() * 1e3)
    });
    let ready = median(ready.collect::<Result<Vec<_>>>()?);
    table.add("MCP: `initialize` and `tools/list` from process start", ready, "ms", "under 30");

    let mut client =
        Client::start(&mut ours.command(&["mcp", "--session", "bench", "--max-chars", "10000000"]))?;
    client.tool("open", json!({ "what": "sim:shop" }))?;
    measure_overhead(table, ours, &mut client)?;
    for i in 0..NUM_CALLS {
        // Most calls of an agent act or query something. Every tenth here reads the whole page and
        // renews its pins.
        match i % 10 {
            0 => client.tool("snapshot", json!({ "interactive": true }))?,
            _ => client.tool("get", json!({ "what": "url" }))?,
        };
    }
    let resident_mib = mib(resident_bytes(client.child.id())?);
    table.add("MCP server after 10,000 calls, resident", resident_mib, "MiB", "under 20 MB");
    client.tool("close", json!({}))?;
    snapshots(table, client, server, peers, runs)
}

/// Runs one command through the socket and as a tool call alternately, in one session of one
/// daemon.
fn measure_overhead(table: &mut Table, ours: &Tool, client: &mut Client) -> Result {
    let state_dir = StateDir::open(&ours.folder).map_err(|e| e.to_string())?;
    let mut socket = Connection::find(&state_dir).map_err(|e| e.to_string())?.ok_or("no daemon runs")?;
    let request: Request = serde_json::from_value(json!({
        "command": "get url", "session": "bench",
        "caller": { "cwd": "/", "key": "bench", "ownSession": "bench" },
    }))
    .map_err(|e| format!("the request: {e}"))?;
    let (mut plain, mut through) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        let start = Instant::now();
        let answer = socket.call(&request);
        plain.push(start.elapsed().as_secs_f64() * 1e3);
        if let Some(error) = answer.error {
            return Err(format!("`get url` through the socket: {error}"));
        }
        let start = Instant::now();
        client.tool("get", json!({ "what": "url" }))?;
        through.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let (plain, through) = (median(plain), median(through));
    table.add("`get url` through the socket", plain, "ms", "");
    table.add("what a tool call adds to it", through - plain, "ms", "at most 1");
    Ok(())
}

/// Takes whole snapshots of a page that changes each time, so that no tool can answer from a cache.
fn snapshots(
    table: &mut Table,
    mut ours: Client,
    server: &Server,
    peers: Option<&Path>,
    runs: usize,
) -> Result {
    let url = server.page(&format!("changing/{ROWS}"));
    ours.tool("open", json!({ "what": url }))?;
    let mut theirs = peers.map(playwright).transpose()?;
    if let Some(theirs) = &mut theirs {
        theirs.tool("browser_navigate", json!({ "url": url }))?;
    }
    let (mut last_a, mut last_b) = (String::new(), String::new());
    let (a, theirs) = medians(runs, || {
        server.change(AGENT_PAUSE);
        let t = changed(&mut ours, "snapshot", json!({ "all": true }), &mut last_a)?;
        let u =
            theirs.as_mut().map(|c| changed(c, "browser_snapshot", json!({}), &mut last_b)).transpose()?;
        Ok((t, u))
    })?;
    let what = format!("MCP: the whole snapshot of {ROWS} rows, one changing; compared with {PACKAGE}");
    table.compare(&what, a, theirs, "ms", "at least 5 x faster");
    ours.tool("close", json!({})).map(drop)
}

/// Returns the milliseconds of a snapshot, which must show the last row and differ from the
/// previous one.
fn changed(client: &mut Client, tool: &str, args: Value, last: &mut String) -> Result<f64> {
    let start = Instant::now();
    let text = client.tool(tool, args)?;
    let took = start.elapsed().as_secs_f64() * 1e3;
    let row = format!("Item {}", ROWS - 1);
    if !text.contains(&row) {
        return Err(format!("`{tool}` does not show {row}: {} bytes", text.len()));
    }
    if text == *last {
        return Err(format!("`{tool}` shows the same twice of a page that changes"));
    }
    *last = text;
    Ok(took)
}

/// Starts Playwright's server, and installs it below `dir` if it is missing.
fn playwright(dir: &Path) -> Result<Client> {
    let dir = dir.join("playwright");
    let program = dir.join("node_modules/@playwright/mcp/cli.js");
    if !program.is_file() {
        npm_install(&dir, PACKAGE)?;
    }
    let browser: PathBuf = chromium()?;
    let mut command = Command::new("node");
    command.arg(program).args(["--headless", "--no-sandbox", "--isolated", "--executable-path"]).arg(browser);
    Client::start(command.current_dir(&dir))
}

/// A client over stdio: one line out, one line in.
struct Client {
    child: Child,
    write: Option<ChildStdin>,
    read: BufReader<ChildStdout>,
    last: u64,
}

impl Client {
    /// Starts a server and performs the handshake.
    fn start(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{}: {e}", command.get_program().display()))?;
        let write = child.stdin.take();
        let read = BufReader::new(child.stdout.take().ok_or("the server has no stdout")?);
        let mut client = Self { child, write, read, last: 0 };
        client.call(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}),
        )?;
        client.line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(client)
    }

    fn line(&mut self, message: &Value) -> Result {
        let write = self.write.as_mut().ok_or("the client is closed")?;
        writeln!(write, "{message}").map_err(|e| format!("the server reads no more: {e}"))
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        self.last += 1;
        self.line(&json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}))?;
        loop {
            let mut line = String::new();
            let read = self.read.read_line(&mut line).map_err(|e| format!("`{method}`: {e}"))?;
            if read == 0 {
                return Err(format!("the server ended at `{method}`"));
            }
            let mut answer: Value =
                serde_json::from_str(&line).map_err(|e| format!("`{method}`: {e}: {line}"))?;
            if answer["id"] == self.last {
                return match answer["result"].take() {
                    Value::Null => Err(format!("`{method}`: {}", answer["error"])),
                    result => Ok(result),
                };
            }
        }
    }

    /// Returns the text of a call, which must succeed.
    fn tool(&mut self, name: &str, args: Value) -> Result<String> {
        let mut result = self.call("tools/call", json!({"name": name, "arguments": args}))?;
        let Value::String(text) = result["content"][0]["text"].take() else {
            return Err(format!("`{name}`: no text: {result}"));
        };
        if result["isError"] == true { Err(format!("`{name}`: {text}")) } else { Ok(text) }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.write.take());
        // A server, and its browser with it, ends when its standard input closes.
        if let Err(error) = self.child.wait() {
            eprintln!("bench: {error}");
        }
    }
}
