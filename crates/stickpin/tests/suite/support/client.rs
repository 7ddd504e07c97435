//! A client of `stickpin mcp` over stdio with hand-written lines.

use super::World;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A client that writes lines.
pub struct Client {
    pub child: Child,
    pub write: Option<ChildStdin>,
    pub read: BufReader<ChildStdout>,
    last: u64,
}

impl Client {
    /// Starts a client without sending the first message.
    pub fn start(world: &World, args: &[&str]) -> Self {
        Self::spawn(world.command(&[&["mcp"], args].concat()))
    }

    fn spawn(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server starts");
        let (write, read) = (child.stdin.take(), child.stdout.take().expect("a pipe"));
        Self { child, write, read: BufReader::new(read), last: 0 }
    }

    /// Starts a client of a server with its own environment, and performs the handshake.
    pub fn of(command: Command) -> Self {
        Self::spawn(command).greeted()
    }

    fn greeted(mut self) -> Self {
        let hello = self.ask("initialize", hello("2025-11-25"));
        assert_eq!(hello["result"]["protocolVersion"], "2025-11-25", "{hello}");
        self.line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        self
    }

    /// Starts a client and performs the handshake.
    pub fn new(world: &World, args: &[&str]) -> Self {
        Self::start(world, args).greeted()
    }

    pub fn line(&mut self, line: &str) {
        writeln!(self.write.as_mut().expect("open"), "{line}").expect("the server reads");
    }

    pub fn send(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        self.line(
            &json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}).to_string(),
        );
        self.last
    }

    pub fn next(&mut self) -> Value {
        let mut line = String::new();
        self.read.read_line(&mut line).expect("the server answers");
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"))
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        loop {
            let answer = self.next();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    pub fn tool(&mut self, name: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": name, "arguments": arguments}))["result"].clone()
    }

    /// Returns the text of a call that succeeds.
    pub fn ok(&mut self, name: &str, arguments: Value) -> String {
        let result = self.tool(name, arguments);
        assert_eq!(result["isError"], false, "{name}: {result}");
        text(&result)
    }

    /// Returns the text of a call that fails.
    pub fn err(&mut self, name: &str, arguments: Value) -> String {
        let result = self.tool(name, arguments);
        assert_eq!(result["isError"], true, "{name}: {result}");
        text(&result)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.write.take());
        // It ends when its standard input closes.
        let _ = self.child.wait();
    }
}

pub fn hello(version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
}

pub fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}")).to_owned()
}
