//! A mail client with three panes, while mails arrive.

use super::Stage;
use super::agent::Agent;
use serde_json::json;

pub fn flows(stage: &mut Stage) {
    stage.checked("post", "answer, star, archive, delete", tidy);
    stage.checked("post", "work while mails arrive", arrivals);
}

fn tidy(a: &mut Agent<'_>) {
    a.read();
    for (id, subject) in
        [(2, "Lunch on Friday Nils Falk"), (4, "Keys of the car Tom Reed"), (1, "Invoice 2031 Ada Berg")]
    {
        open(a, id, subject);
        a.enter("Reply", &format!("Yes, {id}"));
        a.tap("button", "Send reply", &format!("replied {id} Yes, {id}"));
        a.go("button", "Star", &format!("star {id} true"));
        a.go("button", "Archive", &format!("archived {id}"));
    }
    open(a, 5, "Photos Lea Roth");
    a.go("button", "Delete", "trashed 5");
    a.go("tab", "Archive (3)", "folder Archive");
    open(a, 4, "Keys of the car Tom Reed");
    a.go("button", "Unstar", "star 4 false");
    a.go("button", "Delete", "trashed 4");
    a.holds(&json!([
        ["Invoice 2031", "Archive", true, "Yes, 1"],
        ["Lunch on Friday", "Archive", true, "Yes, 2"],
        ["Draft of the report", "Inbox", false],
        ["Keys of the car", "Trash", false, "Yes, 4"],
        ["Photos", "Trash", false],
        ["Re: Budget", "Inbox", false],
    ]));
}

fn open(a: &mut Agent<'_>, id: u32, name: &str) {
    a.go("button", name, &format!("opened {id}"));
}

fn arrivals(a: &mut Agent<'_>) {
    a.read();
    open(a, 3, "Draft of the report Mara Lind");
    for n in 0..3 {
        a.push(&format!("News {n}"));
        a.expect_ok(&["wait", "text", &format!("News {n}")]);
        a.enter("Reply", &format!("Part {n}"));
        a.tap("button", "Send reply", &format!("replied 3 Part {n}"));
    }
    a.tap("button", "Star", "star 3 true");
    a.push("News 3");
    a.expect_ok(&["wait", "text", "News 3"]);
    a.go("button", "Archive", "archived 3");
    a.read();
    open(a, 8, "News 1 Desk");
    a.go("button", "Delete", "trashed 8");
    a.holds(&json!([
        ["News 3", "Inbox", false],
        ["News 2", "Inbox", false],
        ["News 1", "Trash", false],
        ["News 0", "Inbox", false],
        ["Invoice 2031", "Inbox", false],
        ["Lunch on Friday", "Inbox", false],
        ["Draft of the report", "Archive", true, "Part 0", "Part 1", "Part 2"],
        ["Keys of the car", "Inbox", false],
        ["Photos", "Inbox", false],
        ["Re: Budget", "Inbox", false],
    ]));
}
