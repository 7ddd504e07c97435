//! A TipTap document with its toolbar, and files in CodeMirror under tabs.

use super::Stage;
use super::agent::Agent;
use serde_json::json;

pub fn flows(stage: &mut Stage) {
    stage.checked("writer", "a letter with its toolbar", letter);
    stage.checked("writer", "files under tabs", files);
}

fn letter(a: &mut Agent<'_>) {
    a.read();
    let tool = |a: &mut Agent<'_>, name: &str| a.go("button", name, &format!("tool {name}"));
    a.does(["", "textbox", "Document"], &["fill", "{}", "Dear Ada"], "");
    for name in ["Select all", "Bold", "Heading"] {
        tool(a, name);
    }
    // The editor keeps an empty paragraph after the heading.
    a.does(["", "textbox", "Document"], &["type", "It is cold", "--into", "{}"], "");
    tool(a, "Italic");
    a.expect_ok(&["type", " and dark"]);
    tool(a, "Italic");
    a.expect_ok(&["key", "Enter"]);
    tool(a, "Bullets");
    a.expect_ok(&["type", "snow"]);
    a.expect_ok(&["key", "Enter"]);
    a.expect_ok(&["type", "ice"]);
    for name in ["Undo", "Redo"] {
        tool(a, name);
    }
    let html = "<h2><strong>Dear Ada</strong></h2><p>It is cold<em> and dark</em></p>\
                <ul><li><p>snow</p></li><li><p>ice</p></li></ul><p></p>";
    a.holds(&json!({ "html": html, "files": {} }));
}

fn files(a: &mut Agent<'_>) {
    a.read();
    for (name, text) in [("util.js", "let b = 20"), ("test.js", "let c = 30"), ("main.js", "let a = 10")] {
        a.go("tab", name, &format!("file {name}"));
        a.does(["", "textbox", "Code"], &["fill", "{}", text], "");
        a.tap("button", "Save file", &format!("saved {name} {text:?}"));
        a.tap("button", "Run", &format!("ran {name}"));
    }
    for (name, text) in [("util.js", "let b = 20"), ("main.js", "let a = 10")] {
        a.go("tab", name, &format!("file {name}"));
        a.tap("button", "Save file", &format!("saved {name} {text:?}"));
    }
    a.holds(&json!({
        "html": "<p>First line</p>",
        "files": { "main.js": "let a = 10", "util.js": "let b = 20", "test.js": "let c = 30" },
    }));
}
