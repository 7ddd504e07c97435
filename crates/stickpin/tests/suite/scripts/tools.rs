//! `replay` and `test` as MCP tools: refs in answers are pinned, progress is reported, and a script
//! may do no more than the client itself.

use super::{Desk, ref_of};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

struct Client {
    child: Child,
    write: Option<ChildStdin>,
    read: BufReader<ChildStdout>,
    told: Vec<String>,
}

impl Client {
    fn new(desk: &Desk, args: &[&str]) -> Self {
        let mut command = desk.world.command(&[&["mcp", "--profile", "full"], args].concat());
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server starts");
        let (write, read) = (child.stdin.take(), child.stdout.take().expect("a pipe"));
        let mut client = Self { child, write, read: BufReader::new(read), told: Vec::new() };
        let info = json!({"name": "test", "version": "1"});
        client.ask(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}),
        );
        client.line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn line(&mut self, line: &Value) {
        writeln!(self.write.as_mut().expect("open"), "{line}").expect("the server reads");
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.line(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            self.read.read_line(&mut line).expect("the server answers");
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            if answer["method"] == "notifications/progress" {
                self.told.push(answer["params"]["message"].as_str().unwrap_or_default().to_owned());
            }
            if answer["id"] == 1 {
                return answer["result"].clone();
            }
        }
    }

    /// Returns whether a call failed, and its text.
    fn tool(&mut self, name: &str, arguments: Value) -> (bool, String) {
        let params = json!({"name": name, "arguments": arguments, "_meta": {"progressToken": "t"}});
        let result = self.ask("tools/call", params);
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned();
        (result["isError"] == true, text)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.write.take());
        // It ends when its standard input closes.
        let _ = self.child.wait();
    }
}

#[test]
fn a_divergence_hands_over_refs_that_this_client_was_given() {
    let desk = Desk::new();
    desk.write("gone.ad", &format!("open {}\npress text=Nothing\npress text=Order\n", desk.address()));
    let mut client = Client::new(&desk, &["--structured"]);
    let tools = client.ask("tools/list", json!({}));
    for name in ["replay", "test"] {
        assert!(tools["tools"].as_array().expect("tools").iter().any(|t| t["name"] == name), "{name}");
    }
    let (failed, text) = client.tool("replay", json!({"file": "gone.ad", "wait": 0}));
    assert!(
        failed && text.contains("REPLAY_DIVERGENCE: gone.ad:2: ") && text.contains("dispatched: no"),
        "{text}"
    );
    // Issued with the newest tree: it is pinned, and there is no warning.
    let (failed, pressed) = client.tool("press", json!({"target": ref_of(&text, "button \"Order\"")}));
    assert!(!failed && !pressed.contains("warning"), "{pressed}");
    assert_eq!(desk.received().len(), 1);
}

#[test]
fn a_suite_says_how_far_it_is() {
    let desk = Desk::new();
    desk.write("a.ad", &format!("open {}\npress text=Order\n", desk.address()));
    desk.write("slow.ad", "open sim:shop\nwait ms 2500\n");
    let mut client = Client::new(&desk, &[]);
    let (failed, text) = client.tool("test", json!({"paths": ["a.ad", "slow.ad"]}));
    assert!(!failed && text.contains("2 scripts: 2 passed"), "{text}");
    assert!(
        client.told.iter().any(|line| line.contains("1 of 2") && line.contains("slow.ad")),
        "{:?}",
        client.told
    );
    // Also with `line`, a command line.
    let (failed, text) = client.tool("stickpin", json!({"line": "test a.ad"}));
    assert!(!failed && text.contains("1 script: 1 passed"), "{text}");
}

#[test]
fn a_script_may_do_no_more_than_its_client() {
    let desk = Desk::new();
    std::fs::write(desk.world.path().join("secret.ad"), "open sim:shop\n").expect("a file");
    desk.write("shot.ad", &format!("open {}\npress text=Order\nscreenshot ../stolen.png\n", desk.address()));
    desk.write("more.ad", "include ../secret.ad\n");
    let mut client = Client::new(&desk, &[]);
    for (file, place) in [("shot.ad", "shot.ad:3: "), ("more.ad", "more.ad:1: "), ("../secret.ad", "")] {
        let (failed, text) = client.tool("replay", json!({"file": file}));
        assert!(failed && text.contains("POLICY_DENIED") && text.contains(place), "{file}: {text}");
    }
    assert!(desk.received().is_empty(), "it was reported before anything was sent");
    let (failed, text) = client.tool("test", json!({"paths": ["shot.ad"], "junit": "../results.xml"}));
    assert!(failed && text.contains("POLICY_DENIED"), "{text}");
    drop(client);
    let mut reader = Client::new(&desk, &["--read-only"]);
    let (failed, text) = reader.tool("replay", json!({"file": "shot.ad"}));
    assert!(failed && text.contains("POLICY_DENIED"), "{text}");
}
