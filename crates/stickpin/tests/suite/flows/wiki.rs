//! TiddlyWiki: tiddlers written, tagged, changed and deleted.

use super::Stage;
use super::agent::Agent;
use super::server::Programs;
use serde_json::json;

pub fn flows(stage: &mut Stage, programs: &Programs) {
    stage.served(programs, "wiki.mjs", ["wiki", "tiddlers written", ""], written);
    stage.served(programs, "wiki.mjs", ["wiki", "tiddlers changed and deleted", ""], changed);
}

const CONFIRM: &str = "Confirm changes to this tiddler";
const TEXT: &str = "Type the text for this tiddler";

fn written(a: &mut Agent<'_>) {
    a.read();
    for (title, text) in [("Lamp", "It is broken."), ("Key", "Under the mat."), ("Oven", "Too hot.")] {
        a.go("button", "new tiddler", "");
        a.enter("", title);
        a.enter(TEXT, text);
        a.enter("tag name", "house");
        a.go("button", "add", "");
        a.go("button", CONFIRM, &format!("written {title}"));
    }
    a.tap("tab", "Recent", "");
    a.tap("tab", "Open", "");
    let tiddler = |text: &str, tags: &str| json!({ "text": text, "tags": tags });
    a.holds(&json!({
        "Bread": tiddler("Flour, water and salt.", "kitchen"),
        "Key": tiddler("Under the mat.", "house"),
        "Ladder": tiddler("Behind the door.", "house"),
        "Lamp": tiddler("It is broken.", "house"),
        "Oven": tiddler("Too hot.", "house"),
        "Soup": tiddler("Whatever is left.", "kitchen"),
    }));
}

fn changed(a: &mut Agent<'_>) {
    a.read();
    for (title, text) in [("Bread", "Rye and water."), ("Soup", "Leek."), ("Bread", "Rye, water, salt.")] {
        a.go_in(title, "button", "Edit this tiddler", "");
        a.enter(TEXT, text);
        a.go("button", CONFIRM, &format!("written {title}"));
    }
    a.go_in("Soup", "button", "Edit this tiddler", "");
    a.go("button", "Delete this tiddler", "");
    a.expect_ok(&["alert", "accept"]);
    a.reported("deleted Soup");
    let tiddler = |text: &str, tags: &str| json!({ "text": text, "tags": tags });
    a.holds(&json!({
        "Bread": tiddler("Rye, water, salt.", "kitchen"),
        "Ladder": tiddler("Behind the door.", "house"),
    }));
}
