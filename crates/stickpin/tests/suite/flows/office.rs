//! Colleagues in an MUI data grid: pages, sorting, selection, dialogs.

use super::Stage;
use super::agent::Agent;
use serde_json::{Value, json};

pub fn flows(stage: &mut Stage) {
    stage.checked("office", "rows edited in dialogs", edits);
    stage.checked("office", "delete after a question", deletes);
    stage.checked("office", "select, sort, find, page", around);
}

const NAMES: [&str; 14] = [
    "Ada", "Bo", "Carl", "Dora", "Emil", "Fay", "Gus", "Hana", "Ivo", "Jane", "Kurt", "Lena", "Milo", "Nora",
];

/// Returns the app's initial data.
fn staff() -> Vec<Value> {
    let row = |(at, name)| json!([name, (["Sales", "Design", "Stock"][at % 3]), 20 + at % 5, at % 2 == 0]);
    NAMES.into_iter().enumerate().map(row).collect()
}

fn edits(a: &mut Agent<'_>) {
    a.read();
    let mut expected = staff();
    for (name, team, days) in [("Bo", "Stock", 31), ("Emil", "Sales", 28), ("Ada", "Board", 40)] {
        a.go_in(name, "button", "Edit", &format!("edit {name}"));
        a.enter("Team", team);
        a.does(["", "spinbutton", "Holidays"], &["fill", "{}", &days.to_string()], "");
        a.tap("switch", "Remote", "");
        let at = NAMES.iter().position(|n| *n == name).expect("it is one of them");
        let remote = at % 2 != 0;
        a.go("button", "Save", &format!("saved {name} {team} {days} {remote}"));
        expected[at] = json!([name, team, days, remote]);
    }
    // Cancelled: nothing is saved.
    a.go_in("Dora", "button", "Edit", "edit Dora");
    a.enter("Name", "Nobody");
    a.go("button", "Cancel", "cancelled");
    a.go("button", "New colleague", "new");
    a.enter("Name", "Zoe");
    a.enter("Team", "Design");
    a.go("button", "Save", "saved Zoe Design 20 false");
    expected.insert(0, json!(["Zoe", "Design", 20, false]));
    a.go_in("Zoe", "button", "Edit", "edit Zoe");
    a.enter("Name", "Zoe N.");
    a.go("button", "Save", "saved Zoe N. Design 20 false");
    expected[0] = json!(["Zoe N.", "Design", 20, false]);
    a.holds(&json!(expected));
}

fn deletes(a: &mut Agent<'_>) {
    a.read();
    for name in ["Bo", "Carl", "Fay", "Ada"] {
        a.go_in(name, "button", "Delete", &format!("ask {name}"));
        a.go("button", "Keep", &format!("kept {name}"));
        a.go_in(name, "button", "Delete", &format!("ask {name}"));
        a.go("button", "Delete for good", &format!("deleted {name}"));
    }
    let kept = staff().into_iter().filter(|r| !["Bo", "Carl", "Fay", "Ada"].iter().any(|n| r[0] == **n));
    a.holds(&json!(kept.collect::<Vec<_>>()));
}

fn around(a: &mut Agent<'_>) {
    a.read();
    a.does(["Bo", "checkbox", "Select row"], &["check", "{}"], "selected 2");
    a.does(["Dora", "checkbox", "Select row"], &["check", "{}"], "selected 2 4");
    a.go("button", "Go to next page", "page 1");
    a.go_in("Hana", "button", "Edit", "edit Hana");
    a.enter("Team", "Lab");
    a.go("button", "Save", "saved Hana Lab 22 false");
    a.go("button", "Go to previous page", "page 0");
    a.go_in("Emil", "button", "Edit", "edit Emil");
    a.go("button", "Cancel", "cancelled");
    a.does(["", "textbox", "Find"], &["fill", "{}", "n", "--settle"], "find n\nselected ");
    a.go_in("Lena", "button", "Edit", "edit Lena");
    a.enter("Team", "Lab");
    a.go("button", "Save", "saved Lena Lab 21 false");
    a.does(["", "textbox", "Find"], &["fill", "{}", "", "--settle"], "find ");
    a.go_in("Bo", "button", "Edit", "edit Bo");
    a.enter("Name", "Bodil");
    a.go("button", "Save", "saved Bodil Design 21 false");
    let mut expected = staff();
    expected[1][0] = json!("Bodil");
    expected[7][1] = json!("Lab");
    expected[11][1] = json!("Lab");
    a.holds(&json!(expected));
}
