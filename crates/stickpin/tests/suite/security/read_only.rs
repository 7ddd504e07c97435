//! Read-only servers, and scripts of a client.

use super::{Outside, opened};
use crate::support::client::Client;
use serde_json::json;

const PAGE: &str = "<title>Page</title><button onclick=\"document.title = 'pressed'\">Press</button>";

/// An expression that presses, and returns true.
const SCRIPT: &str = "document.querySelector('button').click() || true";

#[test]
fn client_scripts_are_served_only_where_allowed() {
    let outside = Outside::new();
    outside.put("shop/page.html", PAGE);
    let writer = ["--session", "both"];
    let mut client = Client::new(&outside.world, &writer);
    if !opened(&mut client, "./page.html") {
        return;
    }
    outside.put("shop/flow.ad", &format!("wait fn \"{SCRIPT}\"\n"));
    let step = json!([{"command": "wait fn", "input": {"expression": SCRIPT}}]);
    let calls = [
        ("wait_fn", json!({ "expression": SCRIPT })),
        ("wait", json!({"for": "fn", "expression": SCRIPT})),
        ("stickpin", json!({"line": format!("wait fn \"{SCRIPT}\"")})),
        ("batch", json!({ "steps": step })),
        ("replay", json!({"file": "flow.ad"})),
    ];
    let mut reader = Client::new(&outside.world, &[&writer[..], &["--read-only", "--allow-script"]].concat());
    for (tool, args) in &calls {
        let e = client.err(tool, args.clone());
        assert!(e.contains("POLICY_DENIED"), "{tool}: {e}");
        let e = reader.err(tool, args.clone());
        assert!(e.contains("POLICY_DENIED"), "{tool}: {e}");
    }
    let listed = client.ask("tools/list", json!({})).to_string();
    assert!(!listed.contains("\"fn\"") && !listed.contains("wait_fn"), "{listed}");
    assert!(client.ok("get", json!({"what": "title"})).contains("Page"), "the page was pressed");
    let mut trusted = Client::new(&outside.world, &[&writer[..], &["--allow-script"]].concat());
    trusted.ok("wait_fn", json!({ "expression": SCRIPT }));
    assert!(trusted.ok("get", json!({"what": "title"})).contains("pressed"));
}

#[test]
fn a_server_that_only_reads_writes_no_file_of_the_client() {
    let outside = Outside::new();
    let mut writer = Client::new(&outside.world, &["--session", "both"]);
    writer.ok("open", json!({"what": "sim:shop", "record": "flow.ad"}));
    let shop = outside.world.path().join("shop");
    let before = std::fs::read_dir(&shop).expect("a folder").count();
    let mut reader = Client::new(&outside.world, &["--session", "both", "--read-only"]);
    for (tool, args) in [
        ("record_stop", json!({})),
        ("record_stop", json!({"file": "other.ad"})),
        ("record_start", json!({"file": "other.ad"})),
        ("screenshot", json!({"path": "a.png"})),
        ("batch", json!({"steps": [{"command": "record stop"}]})),
        ("batch", json!({"steps": [{"command": "screenshot", "input": {"path": "a.png"}}]})),
        ("stickpin", json!({"line": "screenshot a.png"})),
        ("replay_export", json!({"file": "flow.ad", "format": "maestro", "out": "flow.yaml"})),
    ] {
        let e = reader.err(tool, args);
        assert!(e.starts_with("POLICY_DENIED"), "{tool}: {e}");
    }
    assert_eq!(std::fs::read_dir(&shop).expect("a folder").count(), before, "something was written");
    reader.ok("screenshot", json!({}));
    let written = writer.ok("record_stop", json!({}));
    assert!(written.contains("flow.ad") && shop.join("flow.ad").exists(), "{written}");
}

#[test]
fn a_server_that_only_reads_changes_no_session() {
    let outside = Outside::new();
    let mut writer = Client::new(&outside.world, &["--session", "both"]);
    writer.ok("open", json!({"what": "sim:shop"}));
    let mut reader = Client::new(&outside.world, &["--session", "both", "--read-only"]);
    for line in [
        "turn wait",
        "turn take",
        "turn join",
        "notes add x",
        "session policy both deny+=act:*",
        "session gc",
    ] {
        let e = reader.err("stickpin", json!({ "line": line }));
        assert!(e.contains("POLICY_DENIED"), "{line}: {e}");
    }
    let state = reader.ok("stickpin", json!({"line": "turn state"}));
    assert!(!state.contains("member 2"), "{state}");
}
