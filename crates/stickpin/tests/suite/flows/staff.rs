//! Flask-Admin over people and tickets.

use super::Stage;
use super::agent::Agent;
use super::server::Programs;
use serde_json::{Value, json};

pub fn flows(stage: &mut Stage, programs: &Programs) {
    let mut flow = |name, path, run: fn(&mut Agent<'_>)| {
        stage.served(programs, "staff.py", ["flask", name, path], run);
    };
    flow("people on pages of their own", "admin/people/", people);
    flow("tickets in modals", "admin/ticket/", tickets);
}

const TICKETS: [&str; 4] = ["Fix the lift", "Order chairs", "Renew the lease", "Paint the hall"];

fn staff() -> Vec<Value> {
    let names =
        ["Ida Holm", "Per Dahl", "Zoe Nowak", "Tom Reed", "Ana Silva", "Kai Ono", "Lea Roth", "Max Brandt"];
    let person = |(at, name): (usize, &str)| {
        let mail = format!("{}@example.com", name[..3].to_lowercase());
        json!([name, mail, (["Oslo", "Lund", "Porto", "Kyoto"][at % 4]), at % 3 != 0])
    };
    names.into_iter().enumerate().map(person).collect()
}

fn hours() -> Vec<Value> {
    TICKETS.into_iter().zip(1..).map(|(title, hours)| json!([title, hours])).collect()
}

fn people(a: &mut Agent<'_>) {
    a.read();
    let mut expected = staff();
    for (at, name) in [(1, "Per Dahl"), (5, "Kai Ono")] {
        a.go_in(name, "link", "Edit Record", "");
        a.enter("City", "Bergen");
        a.tap("checkbox", "Active", "");
        a.go("button", "Save", &format!("updated person {name}"));
        expected[at][2] = json!("Bergen");
        expected[at][3] = json!(at % 3 == 0);
    }
    a.go("link", "Create", "");
    for (name, mail) in [("Una Vik", "una@example.com"), ("Rui Melo", "rui@example.com")] {
        a.enter("Name *", name);
        a.enter("Mail", mail);
        a.enter("City", "Faro");
        a.go("button", "Save and Add Another", &format!("created person {name}"));
        expected.push(json!([name, mail, "Faro", true]));
    }
    a.go("link", "List", "");
    a.does(["", "textbox", "name, city"], &["fill", "{}", "faro"], "");
    a.go("button", "Search", "");
    a.does(["Una Vik", "checkbox", "Select record"], &["check", "{}"], "");
    a.go("button", "With selected", "");
    a.go("link", "Delete", "");
    a.expect_ok(&["alert", "accept"]);
    a.reported("deleted person Una Vik");
    expected.remove(8);
    a.expect_ok(&["wait", "text", "Rui Melo"]);
    a.read();
    a.go_in("Rui Melo", "link", "Edit Record", "");
    a.enter("Name *", "Rui de Melo");
    a.go("button", "Save", "updated person Rui de Melo");
    expected[8][0] = json!("Rui de Melo");
    a.holds(&json!({ "people": expected, "tickets": hours() }));
}

fn tickets(a: &mut Agent<'_>) {
    a.read();
    let mut expected = hours();
    for (at, title, hours) in [(0, "Fix the lift", 8), (2, "Renew the lease", 9), (3, "Paint the hall", 7)] {
        a.go_in(title, "link", "Edit Record", "");
        a.expect_ok(&["wait", "role=spinbutton label=Hours"]);
        a.does(["", "spinbutton", "Hours"], &["fill", "{}", &hours.to_string()], "");
        a.go_in("Edit Record", "button", "Save", &format!("updated ticket {title}"));
        expected[at][1] = json!(hours);
    }
    for title in ["Buy salt", "Call the bank"] {
        a.go("link", "Create", "");
        a.expect_ok(&["wait", "role=spinbutton label=Hours"]);
        a.enter("Title *", title);
        a.go_in("Create New Record", "button", "Save", &format!("created ticket {title}"));
        expected.push(json!([title, 1]));
    }
    a.holds(&json!({ "people": staff(), "tickets": expected }));
}
