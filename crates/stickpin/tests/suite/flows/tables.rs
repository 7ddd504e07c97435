//! sqlite-web: rows of a table edited, added and deleted.

use super::Stage;
use super::agent::Agent;
use super::server::Programs;
use serde_json::json;

pub fn flows(stage: &mut Stage, programs: &Programs) {
    stage.served(programs, "tables.py", ["sqlite", "rows of a table", "plant/content/"], rows);
    stage.served(programs, "tables.py", ["sqlite", "statements", "plant/query/"], statements);
}

fn rows(a: &mut Agent<'_>) {
    a.read();
    for (name, key, light) in [("Fern", "WzFd", "half"), ("Mint", "WzVd", "sun")] {
        a.go_in(name, "link", "Edit", "");
        a.read();
        a.does(["light", "checkbox", "Allow updating this column."], &["check", "{}"], "");
        a.enter("light", light);
        a.go("button", "Update", &format!("/plant/update/{key}/ 302"));
    }
    for name in ["Rose", "Sage"] {
        a.go("link", "Insert", "");
        a.enter("name", name);
        a.enter("light", "sun");
        a.enter("water", "4");
        a.go("button", "Insert", "/plant/insert/ 302");
    }
    a.go_in("Cactus", "link", "Delete", "");
    a.go("link", "Cancel", "");
    a.go_in("Ivy", "link", "Delete", "");
    a.go("button", "Delete", "/plant/delete/WzNd/ 302");
    a.go_in("Rose", "link", "View", "");
    a.go("link", "Content", "");
    a.go_in("Aloe", "link", "Edit", "");
    a.read();
    a.does(["water", "checkbox", "Allow updating this column."], &["check", "{}"], "");
    a.enter("water", "9");
    a.go("button", "Update", "/plant/update/WzZd/ 302");
    a.holds(&json!({ "plant": [
        [1, "Fern", "half", 3],
        [2, "Cactus", "sun", 1],
        [4, "Basil", "sun", 7],
        [5, "Mint", "sun", 5],
        [6, "Aloe", "sun", 9],
        [7, "Rose", "sun", 4],
        [8, "Sage", "sun", 4],
    ] }));
}

fn statements(a: &mut Agent<'_>) {
    a.read();
    for sql in [
        "insert into plant (name, light, water) values ('Rose', 'sun', 4)",
        "update plant set water = 2 where name = 'Mint'",
        "delete from plant where name = 'Fern'",
    ] {
        a.does(["", "textbox", ""], &["fill", "{}", sql], "");
        a.go("button", "Execute", "/plant/query/ 200");
    }
    a.go("link", "Content", "");
    a.go_in("Rose", "link", "Delete", "");
    a.go("button", "Delete", "/plant/delete/Wzdd/ 302");
    a.holds(&json!({ "plant": [
        [2, "Cactus", "sun", 1],
        [3, "Ivy", "shade", 2],
        [4, "Basil", "sun", 7],
        [5, "Mint", "half", 2],
        [6, "Aloe", "sun", 1],
    ] }));
}
