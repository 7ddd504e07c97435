//! Django's admin over books and authors.

use super::Stage;
use super::agent::Agent;
use super::server::Programs;
use serde_json::{Value, json};

pub fn flows(stage: &mut Stage, programs: &Programs) {
    let mut flow = |name, run: fn(&mut Agent<'_>)| {
        stage.served(programs, "library.py", ["django", name, "admin/"], run);
    };
    flow("books edited in the list", edit_list);
    flow("books added, changed, deleted", change);
    flow("search, filter, act on many", many);
    flow("an author with books", inlines);
}

const TITLES: [&str; 15] = [
    "Lighthouses",
    "Slow Rivers",
    "The Clock",
    "Paper Boats",
    "Salt",
    "North",
    "Glass",
    "Orchard",
    "Winter Bread",
    "Ferries",
    "Moss",
    "Quiet Hours",
    "Tin Roofs",
    "Harbour",
    "Letters",
];
const AUTHORS: [[&str; 2]; 4] =
    [["Ada Berg", "Sweden"], ["Nils Falk", "Norway"], ["Mara Lind", "Finland"], ["Olu Adeyemi", "Nigeria"]];

/// Returns the initial books: title, author, year, stock, status, rare.
fn books() -> Vec<Value> {
    let book = |(at, title): (usize, &&str)| {
        json!([title, AUTHORS[at % 4][0], 1990 + at, at % 5 + 1, (["shelf", "loan"][at % 2]), false])
    };
    TITLES.iter().enumerate().map(book).collect()
}

fn book(title: &str) -> usize {
    TITLES.iter().position(|t| *t == title).expect("it is one of them")
}

fn log_in(a: &mut Agent<'_>, section: &str) {
    a.read();
    a.enter("Username:", "clerk");
    a.enter("Password:", "clerk-password");
    a.go("button", "Log in", "");
    a.go("link", section, "");
}

fn edit_list(a: &mut Agent<'_>) {
    log_in(a, "Books");
    let mut expected = books();
    for round in 0..3 {
        let titles = [["Ferries", "Glass"], ["Orchard", "Salt"], ["Moss", "Letters"]][round];
        for title in titles {
            let stock = 10 + round;
            a.does([title, "spinbutton", ""], &["fill", "{}", &stock.to_string()], "");
            a.does([title, "checkbox", ""], &["check", "{}"], "");
            expected[book(title)][3] = json!(stock);
            expected[book(title)][5] = json!(true);
        }
        a.go("button", "Save", &titles.map(|t| format!("saved book {t}")).join("\n"));
    }
    a.go("link", "2", "");
    a.does(["The Clock", "spinbutton", ""], &["fill", "{}", "0"], "");
    a.go("button", "Save", "saved book The Clock");
    expected[book("The Clock")][3] = json!(0);
    a.holds(&json!({ "authors": AUTHORS, "books": expected }));
}

fn change(a: &mut Agent<'_>) {
    log_in(a, "Books");
    let mut expected = books();
    for (title, status, code) in [("Salt", "On loan", "loan"), ("Glass", "Lost", "lost")] {
        a.go("link", title, "");
        a.does(["", "combobox", "Status:"], &["select", "{}", status], "");
        a.does(["", "spinbutton", "Year:"], &["fill", "{}", "1888"], "");
        a.tap("checkbox", "Rare", "");
        a.go("button", "Save", &format!("saved book {title}"));
        let changed = &mut expected[book(title)];
        (changed[2], changed[4], changed[5]) = (json!(1888), json!(code), json!(true));
    }
    a.go("link", "ADD BOOK", "");
    for (title, author) in [("Blue Hour", "Mara Lind"), ("Far Shore", "Nils Falk")] {
        a.enter("Title:", title);
        a.does(["", "combobox", "Author:"], &["select", "{}", author], "");
        a.go("button", "Save and add another", &format!("saved book {title}"));
        expected.push(json!([title, author, 2000, 1, "shelf", false]));
    }
    a.go_in("Breadcrumbs", "link", "Books", "");
    a.go("link", "Moss", "");
    a.go("link", "Delete", "");
    a.go("link", "No, take me back", "");
    a.go("link", "Delete", "");
    a.go("button", "Yes, I’m sure", "deleted book Moss");
    expected.remove(book("Moss"));
    a.holds(&json!({ "authors": AUTHORS, "books": expected }));
}

fn many(a: &mut Agent<'_>) {
    log_in(a, "Books");
    let mut expected = books();
    let pick = |a: &mut Agent<'_>, title: &str| {
        a.tap("checkbox", &format!("Select this object for an action - {title}"), "");
    };
    for title in ["Ferries", "Harbour"] {
        pick(a, title);
        expected[book(title)][4] = json!("lost");
    }
    a.does(["", "combobox", "Action:"], &["select", "{}", "Mark as lost"], "");
    a.go("button", "Go", "saved book Ferries\nsaved book Harbour");
    a.go("link", "Lost", "");
    a.does(["Harbour", "spinbutton", ""], &["fill", "{}", "0"], "");
    a.go("button", "Save", "saved book Harbour");
    expected[book("Harbour")][3] = json!(0);
    a.go_in("By status", "link", "All", "");
    a.enter("Search", "falk");
    a.go("button", "Search", "");
    for title in ["North", "Slow Rivers"] {
        pick(a, title);
    }
    a.does(["", "combobox", "Action:"], &["select", "{}", "Delete selected books"], "");
    a.go("button", "Go", "");
    a.go("button", "Yes, I’m sure", "deleted book North\ndeleted book Slow Rivers");
    let mut at = 0;
    expected.retain(|_| {
        at += 1;
        ![book("North"), book("Slow Rivers")].contains(&(at - 1))
    });
    a.holds(&json!({ "authors": AUTHORS, "books": expected }));
}

fn inlines(a: &mut Agent<'_>) {
    log_in(a, "Authors");
    let mut expected = books();
    a.go("link", "Ada Berg", "");
    a.does(["", "textbox", "Country:"], &["fill", "{}", "Iceland"], "");
    a.does(["id_books-1-year", "spinbutton", ""], &["fill", "{}", "1901"], "");
    a.go("button", "Save and continue editing", "saved author Ada Berg\nsaved book Salt");
    expected[book("Salt")][2] = json!(1901);
    a.does(["id_books-2-DELETE", "checkbox", ""], &["check", "{}"], "");
    a.go("button", "Save", "saved author Ada Berg\ndeleted book Winter Bread");
    expected.remove(book("Winter Bread"));
    a.go("link", "Olu Adeyemi", "");
    a.enter("Name:", "Olu A. Adeyemi");
    a.go("button", "Save", "saved author Olu A. Adeyemi");
    let mut authors = json!(AUTHORS);
    authors[0][1] = json!("Iceland");
    authors[3][0] = json!("Olu A. Adeyemi");
    for written in &mut expected {
        if written[1] == "Olu Adeyemi" {
            written[1] = json!("Olu A. Adeyemi");
        }
    }
    a.holds(&json!({ "authors": authors, "books": expected }));
}
