//! Pages of a session over MCP: no link or request leads the browser to a file outside the client's
//! folders.

use super::{CANARY, Outside, opened};
use crate::support::client::Client;
use serde_json::json;
use stickpin_testkit::skipped;

/// A page of the project with every kind of reference to an outside file.
const WAYS: &str = r#"<!doctype html><title>Ways</title>
<iframe id="frame" title="Frame" src="OUT/secret.html"></iframe>
<object data="OUT/secret.html" width="200" height="50"></object>
<img id="picture" alt="Picture" src="OUT/picture.svg">
<link rel="stylesheet" href="OUT/style.css"><script src="OUT/script.js"></script>
<a href="OUT/secret.html">Link</a>
<a href="OUT/secret.html" target="_blank">New tab</a>
<button onclick="location = 'OUT/secret.html'">Location</button>
<button onclick="window.open('OUT/secret.html')">Window</button>
<button onclick="frames[0].location = 'OUT/secret.html'">Frame</button>
<form action="OUT/secret.html"><button>Submit</button></form>
<button onclick="document.head.innerHTML += '<meta http-equiv=refresh content=\'0; url=OUT/secret.html\'>'">Refresh</button>
<a href="inside.html">Inside</a>
<p id="state"></p>
<script>
  document.querySelector('#state').textContent = `picture ${document.querySelector('#picture').naturalWidth} `
    + `script ${window.leaked} style ${getComputedStyle(document.body).color}`;
</script>"#;

fn world() -> Outside {
    let outside = Outside::new();
    outside.put("vault/picture.svg", "<svg xmlns='http://www.w3.org/2000/svg' width='7' height='7'/>");
    outside.put("vault/style.css", "body { color: rgb(1, 2, 3) }");
    outside.put("vault/script.js", "window.leaked = 'leaked'");
    outside.put("shop/ways.html", &WAYS.replace("OUT", "../vault"));
    outside.put("shop/inside.html", "<title>Inside</title><p>inside</p>");
    outside
}

#[test]
fn no_tab_goes_outside_by_any_command() {
    let outside = world();
    let secret = outside.url("vault/secret.html");
    std::os::unix::fs::symlink(
        outside.world.path().join("vault/secret.html"),
        outside.world.path().join("shop/link.html"),
    )
    .expect("a link");
    for profile in ["slim", "core", "full"] {
        let mut client = Client::new(&outside.world, &["--profile", profile]);
        if !opened(&mut client, "./inside.html") {
            return;
        }
        outside.put("shop/flow.ad", &format!("tab new {secret}\n"));
        let lines = [format!("tab new {secret}"), format!("open {secret}"), "open ./link.html".to_owned()];
        for line in lines.into_iter().chain(["tab new ./link.html".to_owned(), "replay flow.ad".to_owned()]) {
            let e = client.err("stickpin", json!({ "line": line }));
            assert!(e.contains("POLICY_DENIED"), "{line}: {e}");
        }
        let step = json!([{"command": "tab new", "input": {"url": secret}}]);
        let e = client.err("batch", json!({ "steps": step }));
        assert!(e.contains("POLICY_DENIED"), "{e}");
        let e = client.err("tab_new", json!({ "url": secret }));
        assert!(e.contains("POLICY_DENIED"), "{e}");
        let tabs = client.ok("stickpin", json!({"line": "tab list"}));
        assert!(!tabs.contains("vault") && tabs.contains("Inside"), "{tabs}");
    }
}

#[test]
fn no_page_of_the_folder_shows_a_file_outside() {
    let outside = world();
    let mut client = Client::new(&outside.world, &[]);
    if !opened(&mut client, "./ways.html") {
        return;
    }
    let read = client.ok("snapshot", json!({}));
    assert!(read.contains("picture 0 script undefined style rgb(0, 0, 0)"), "{read}");
    assert!(!read.contains(CANARY), "{read}");
    let ways = [
        "role=link text=Link",
        "role=link text=\"New tab\"",
        "role=button text=Location",
        "role=button text=Window",
        "role=button text=Frame",
        "role=button text=Submit",
        "role=button text=Refresh",
    ];
    for way in ways {
        let said = client.ok("press", json!({"target": way, "settle": true}));
        // Requests of an opened tab are reported in that tab.
        let told = said.contains("outside the folders of this client") || said.contains("opened t");
        assert!(told, "{way}: {said}");
        let tabs = client.ok("stickpin", json!({"line": "tab list"}));
        assert!(!tabs.contains(CANARY), "{way}: {tabs}");
        let read = client.ok("read", json!({}));
        assert!(!read.contains(CANARY), "{way}: {read}");
        opened(&mut client, "./ways.html");
    }
    client.ok("press", json!({"target": "role=link text=Inside", "settle": true}));
    assert!(client.ok("get", json!({"what": "title"})).contains("Inside"));
}

/// The first call of a client may name no file and still navigate to one.
#[test]
fn first_press_of_a_client_does_not_leave_its_folders() {
    let outside = world();
    outside.put("shop/out.html", "<title>Here</title><a href='../vault/secret.html'>Out</a>");
    let opened = outside.world.run(&["--session", "both", "open", "./out.html"]);
    if opened.err.starts_with("TOOL_MISSING") {
        skipped("STICKPIN_REQUIRE_CHROMIUM", opened.err);
        return;
    }
    assert_eq!(opened.code, 0, "{opened:?}");
    let mut client = Client::new(&outside.world, &["--session", "both"]);
    let said = client.ok("press", json!({"target": "role=link text=Out", "settle": true}));
    assert!(said.contains("outside the folders of this client"), "{said}");
    let read = client.ok("read", json!({}));
    assert!(!read.contains(CANARY), "{read}");
    assert!(client.ok("get", json!({"what": "title"})).contains("Here"));
}

/// A person opened the session, without any folder. From the first call over MCP on, the session is
/// confined to the folders of that client.
#[test]
fn command_line_session_is_confined_after_mcp_use() {
    let outside = world();
    let opened = outside.world.run(&["--session", "both", "open", "./ways.html"]);
    if opened.err.starts_with("TOOL_MISSING") {
        skipped("STICKPIN_REQUIRE_CHROMIUM", opened.err);
        return;
    }
    assert_eq!(opened.code, 0, "{opened:?}");
    let frames = outside.world.ok("--session both read");
    assert!(frames.contains(CANARY), "a person sees the frame: {frames}");
    let mut client = Client::new(&outside.world, &["--session", "both"]);
    client.ok("open", json!({"what": "./ways.html"}));
    let read = client.ok("read", json!({}));
    assert!(!read.contains(CANARY), "{read}");
    client.ok("press", json!({"target": "role=button text=Location", "settle": true}));
    assert!(!client.ok("read", json!({})).contains(CANARY));
}
