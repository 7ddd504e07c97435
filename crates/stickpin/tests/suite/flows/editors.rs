//! Rich editors from npm: typed text must be in the editor's own model, not only on the page.

use super::Stage;
use super::agent::{Agent, Known};

pub fn flows(stage: &mut Stage) {
    let mut flow =
        |name: &str, run: fn(&mut Agent<'_>)| stage.flow("editors", name, "editors/index.html", run);
    flow("ProseMirror", |a| edited(a, "prose", ".ProseMirror", "Read letter"));
    flow("Quill", |a| edited(a, "quill", ".ql-editor", "Read post"));
    flow("Lexical", |a| edited(a, "lexical", "#lexical", "Read note"));
}

fn edited(a: &mut Agent<'_>, editor: &str, css: &str, button: &str) {
    let host = format!("css={css:?}");
    let mut read = a.see("button", button);
    let holds = |a: &mut Agent<'_>, read: &mut Known, lines: &[&str]| {
        a.press(read, &format!("{editor} {}", serde_json::json!(lines)));
    };
    a.expect_ok(&["fill", &host, "Dear Ada"]);
    holds(a, &mut read, &["Dear Ada"]);
    // Again: the old text is replaced.
    a.expect_ok(&["fill", &host, "Dear Grace, thank you"]);
    holds(a, &mut read, &["Dear Grace, thank you"]);
    for what in ["text", "value"] {
        a.reads(&["get", what, &host], "Dear Grace, thank you");
    }
    // Typed at the end, then a new paragraph, and more text in it.
    a.expect_ok(&["type", " very much!", "--into", &host]);
    a.expect_ok(&["key", "Enter"]);
    a.expect_ok(&["type", "Yours, \u{e9}va"]);
    holds(a, &mut read, &["Dear Grace, thank you very much!", "Yours, \u{e9}va"]);
    // A line break typed as one.
    a.expect_ok(&["type", "\nPS", "--into", &host]);
    holds(a, &mut read, &["Dear Grace, thank you very much!", "Yours, \u{e9}va", "PS"]);
    // Everything is selected and overwritten.
    a.expect_ok(&["press", &host]);
    a.expect_ok(&["key", "Control+a"]);
    a.expect_ok(&["type", "Short"]);
    holds(a, &mut read, &["Short"]);
    a.expect_ok(&["fill", &host, "one\ntwo"]);
    // A text of two lines is inserted at once; the editor decides what the line break becomes.
    let broken: &[&str] = if editor == "lexical" { &["one\ntwo"] } else { &["one", "two"] };
    holds(a, &mut read, broken);
    a.expect_ok(&["fill", &host, ""]);
    holds(a, &mut read, &[""]);
    a.expect_ok(&["fill", &host, "again"]);
    holds(a, &mut read, &["again"]);
}
