//! A board built with dnd-kit: dragged cards, and an open card.

use super::Stage;
use super::agent::Agent;
use serde_json::json;

pub fn flows(stage: &mut Stage) {
    stage.checked("kanban", "cards dragged between lanes", drags);
    stage.checked("kanban", "cards opened one after another", cards);
}

fn drags(a: &mut Agent<'_>) {
    let read = a.look();
    let lane = |a: &mut Agent<'_>, name: &str| a.find(&read, "region", name).r#ref;
    let [doing, review, done] = ["Doing", "Review", "Done"].map(|n| lane(a, n));
    let moves = [
        ("Login page", "A-1", "Doing", &doing),
        ("Dark mode", "A-3", "Doing", &doing),
        ("Upgrade database", "A-4", "Review", &review),
        ("Login page", "A-1", "Review", &review),
        ("Broken link", "A-5", "Done", &done),
        ("Dark mode", "A-3", "Done", &done),
    ];
    for (title, id, to, target) in moves {
        a.does(
            ["", "button", &format!("Drag {title}")],
            &["drag", "{}", target, "--settle"],
            &format!("moved {id} {to}"),
        );
    }
    a.tap_in("Login page", "button", "Estimate", "points A-1 2");
    a.holds(&json!([
        ["A-1", "Login page", "Review", 2],
        ["A-2", "Invoice export", "Backlog", 3],
        ["A-3", "Dark mode", "Done", 2],
        ["A-4", "Upgrade database", "Review", 5],
        ["A-5", "Broken link", "Done", 1],
    ]));
}

fn cards(a: &mut Agent<'_>) {
    a.read();
    for (id, title, lane) in
        [("A-2", "Invoice export", "Doing"), ("A-5", "Broken link", "Done"), ("A-1", "Login page", "Review")]
    {
        a.go_in(title, "button", "Open", &format!("opened {id}"));
        for text in ["on it", "nearly"] {
            a.enter("Comment", &format!("{text} {id}"));
            a.tap("button", "Add comment", &format!("comment {id} {text} {id}"));
        }
        a.does(["", "combobox", "Lane"], &["select", "{}", lane], &format!("moved {id} {lane}"));
        a.enter("Title", &format!("{title}!"));
        a.tap("button", "Rename", &format!("renamed {id} {title}!"));
        a.go("button", "Close card", "closed");
    }
    a.read();
    for (title, points) in [("Dark mode", 3), ("Dark mode", 4), ("Upgrade database", 6)] {
        let id = if title == "Dark mode" { "A-3" } else { "A-4" };
        a.tap_in(title, "button", "Estimate", &format!("points {id} {points}"));
    }
    a.holds(&json!([
        ["A-1", "Login page!", "Review", 1, "on it A-1", "nearly A-1"],
        ["A-2", "Invoice export!", "Doing", 3, "on it A-2", "nearly A-2"],
        ["A-3", "Dark mode", "Backlog", 4],
        ["A-4", "Upgrade database", "Doing", 6],
        ["A-5", "Broken link!", "Done", 1, "on it A-5", "nearly A-5"],
    ]));
}
