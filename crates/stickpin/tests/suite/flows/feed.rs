//! 2,000 rows by @tanstack/react-virtual.

use super::Stage;
use super::agent::Agent;

pub fn flows(stage: &mut Stage) {
    stage.flow("feed", "rows scrolled away and back", "feed/index.html", away_and_back);
    stage.flow("feed", "rows pushed down", "feed/index.html", pushed_down);
    stage.flow("feed", "archive through the list", "feed/index.html", archive);
    stage.flow("feed", "rows that are recycled", "feed/index.html?keys=index", recycled);
}

const ROWS: [(&str, u32); 3] = [("sender C25", 25), ("sender E39", 39), ("sender F46", 46)];

fn away_and_back(a: &mut Agent<'_>) {
    let read = a.look();
    let list = a.find(&read, "feed", "Items");
    let mut likes = ROWS.map(|(title, id)| (id, a.near(&read, title, "button", "Like")));
    let mut top = a.find(&read, "button", "Back to top");
    for _ in 0..2 {
        for (id, like) in &mut likes {
            a.press(like, &format!("like {id}"));
        }
        a.expect_ok(&["scroll", "down", "4000", "--in", &list.r#ref, "--settle"]);
        a.trap(&likes[1].1);
        let read = a.look();
        let far = read.all("button").iter().filter(|l| l.name == "Like").count();
        assert!(far > 5, "rows are shown far below");
        a.press(&mut top, "top");
        a.expect_ok(&["wait", "text", ROWS[2].0]);
    }
    for (id, like) in &mut likes {
        a.press(like, &format!("like {id}"));
    }
}

fn pushed_down(a: &mut Agent<'_>) {
    let read = a.look();
    let mut newer = a.find(&read, "button", "Load newer");
    let mut likes = ROWS.map(|(title, id)| (id, a.near(&read, title, "button", "Like")));
    for _ in 0..3 {
        a.press(&mut newer, "fresh");
        for (id, like) in &mut likes {
            a.press(like, &format!("like {id}"));
        }
    }
}

fn archive(a: &mut Agent<'_>) {
    let read = a.look();
    let mut rows = ROWS.map(|(title, id)| (id, a.near(&read, title, "button", "Archive")));
    for (id, archive) in &mut rows {
        a.press(archive, &format!("archive {id}"));
        a.trap(archive);
    }
}

fn recycled(a: &mut Agent<'_>) {
    let read = a.look();
    let list = a.find(&read, "feed", "Items");
    let mut likes = ROWS.map(|(title, id)| (id, a.near(&read, title, "button", "Like")));
    let mut top = a.find(&read, "button", "Back to top");
    for _ in 0..2 {
        for (id, like) in &mut likes {
            a.press(like, &format!("like {id}"));
        }
        // The nodes stay, with other items.
        a.expect_ok(&["scroll", "down", "4400", "--in", &list.r#ref, "--settle"]);
        for (_, like) in &likes {
            a.trap(like);
        }
        a.press(&mut top, "top");
        a.expect_ok(&["wait", "text", ROWS[2].0]);
    }
    for (id, like) in &mut likes {
        a.press(like, &format!("like {id}"));
    }
}
