//! A task board built with Radix primitives.

use super::Stage;
use super::agent::Agent;

pub fn flows(stage: &mut Stage) {
    let mut flow = |name: &str, run: fn(&mut Agent<'_>)| stage.flow("board", name, "board/index.html", run);
    flow("votes and stars in cards", votes);
    flow("cards that unfold", unfold);
    flow("menus with data-state", menus);
    flow("cards to another column", moved);
    flow("delete after a question", delete);
    flow("new cards and toasts", added);
    flow("tabs, kept and not", tabs);
    flow("preferences", preferences);
    flow("a dialog, twice", dialog);
    flow("popover closed and opened", popover);
    flow("accordion", accordion);
}

fn votes(a: &mut Agent<'_>) {
    let read = a.look();
    for (title, id) in [("Order coffee", "T-102"), ("Plan the trip", "T-105"), ("Write the minutes", "T-101")]
    {
        let mut vote = a.near(&read, title, "button", "Vote");
        let mut star = a.near(&read, title, "button", "Star");
        for n in 0..3 {
            a.press(&mut vote, &format!("vote {id}"));
            a.press(&mut star, &format!("star {id} {}", n % 2 == 0));
        }
    }
}

fn unfold(a: &mut Agent<'_>) {
    let read = a.look();
    let mut printer = a.near(&read, "Fix the printer", "button", "More");
    let mut coffee = a.near(&read, "Order coffee", "button", "More");
    let mut vote = a.near(&read, "Fix the printer", "button", "Vote");
    a.press(&mut printer, "more T-103 true");
    a.press(&mut vote, "vote T-103");
    let mut comment = a.see("button", "Comment");
    a.press(&mut comment, "comment T-103");
    a.press(&mut coffee, "more T-102 true");
    a.press(&mut comment, "comment T-103");
    a.press(&mut printer, "more T-103 false");
    a.trap(&comment);
    a.press(&mut coffee, "more T-102 false");
    a.press(&mut printer, "more T-103 true");
    a.press(&mut comment, "comment T-103");
    a.press(&mut vote, "vote T-103");
}

fn menus(a: &mut Agent<'_>) {
    let read = a.look();
    let mut coffee = a.near(&read, "Order coffee", "button", "Actions");
    let mut printer = a.near(&read, "Fix the printer", "button", "Actions");
    a.press(&mut coffee, "");
    let mut copy = a.see("menuitem", "Copy link");
    a.press(&mut copy, "copy T-102");
    a.press(&mut printer, "");
    a.trap(&copy);
    let mut other = a.see("menuitem", "Copy link");
    a.press(&mut other, "copy T-103");
    a.press(&mut coffee, "");
    a.press(&mut copy, "copy T-102");
    a.press(&mut coffee, "");
    a.expect_ok(&["key", "Escape"]);
    a.press(&mut printer, "");
    a.press(&mut other, "copy T-103");
}

fn moved(a: &mut Agent<'_>) {
    let read = a.look();
    let mut actions = a.near(&read, "Call the landlord", "button", "Actions");
    let mut trip = a.near(&read, "Plan the trip", "button", "Vote");
    let mut minutes = a.near(&read, "Write the minutes", "button", "Vote");
    a.press(&mut actions, "");
    let mut to = a.see("menuitem", "Move to Done");
    a.press(&mut to, "move T-104 Done");
    a.press(&mut trip, "vote T-105");
    a.press(&mut minutes, "vote T-101");
    let read = a.look();
    let mut landlord = a.near(&read, "Call the landlord", "button", "Vote");
    a.press(&mut landlord, "vote T-104");
}

fn delete(a: &mut Agent<'_>) {
    let read = a.look();
    let mut coffee = a.near(&read, "Order coffee", "button", "Delete");
    let mut printer = a.near(&read, "Fix the printer", "button", "Delete");
    let mut minutes = a.near(&read, "Write the minutes", "button", "Vote");
    a.press(&mut coffee, "");
    let read = a.look();
    let mut cancel = a.find(&read, "button", "Cancel");
    let mut yes = a.find(&read, "button", "Delete it");
    a.press(&mut cancel, "kept T-102");
    a.press(&mut minutes, "vote T-101");
    a.press(&mut coffee, "");
    a.press(&mut yes, "deleted T-102");
    a.press(&mut printer, "");
    a.trap(&yes);
    let mut yes = a.see("button", "Delete it");
    a.press(&mut yes, "deleted T-103");
    a.press(&mut minutes, "vote T-101");
}

fn added(a: &mut Agent<'_>) {
    let read = a.look();
    let mut title = a.find(&read, "textbox", "Title");
    let mut add = a.find(&read, "button", "Add task");
    let mut coffee = a.near(&read, "Order coffee", "button", "Vote");
    for text in ["Buy stamps", "Pay the rent", "Learn Finnish"] {
        a.fill(&mut title, text, "");
        a.press(&mut add, &format!("added {text}"));
        a.press(&mut coffee, "vote T-102");
    }
    let read = a.look();
    let mut rent = a.near(&read, "Pay the rent", "button", "Vote");
    a.press(&mut rent, "vote T-202");
    a.expect_ok(&["wait", "absent", "text=\"Learn Finnish\" role=paragraph"]);
    a.press(&mut rent, "vote T-202");
    a.press(&mut coffee, "vote T-102");
}

fn tabs(a: &mut Agent<'_>) {
    let read = a.look();
    let [mut tasks, mut preferences, mut help] =
        ["Tasks", "Preferences", "Help"].map(|t| a.find(&read, "tab", t));
    let mut refresh = a.find(&read, "button", "Refresh");
    let mut coffee = a.near(&read, "Order coffee", "button", "Vote");
    a.press(&mut preferences, "tab preferences");
    let read = a.look();
    let mut name = a.find(&read, "textbox", "Team name");
    let mut save = a.find(&read, "button", "Save preferences");
    a.fill(&mut name, "Otters", "");
    a.press(&mut save, "preferences Otters");
    a.trap(&coffee);
    a.press(&mut help, "tab help");
    a.press(&mut refresh, "refresh");
    a.press(&mut tasks, "tab tasks");
    a.press(&mut coffee, "vote T-102");
    a.press(&mut preferences, "tab preferences");
    a.fill(&mut name, "Bears", "");
    a.press(&mut save, "preferences Bears");
    a.press(&mut tasks, "tab tasks");
    a.press(&mut coffee, "vote T-102");
    a.press(&mut refresh, "refresh");
}

fn preferences(a: &mut Agent<'_>) {
    let mut tab = a.see("tab", "Preferences");
    a.press(&mut tab, "tab preferences");
    let read = a.look();
    let mut secret = a.find(&read, "textbox", "Secret");
    let mut show = a.find(&read, "button", "Show secret");
    let mut mails = a.find(&read, "switch", "Mails");
    let mut digest = a.find(&read, "checkbox", "Digest");
    let mut dark = a.find(&read, "radio", "dark");
    let mut tight = a.find(&read, "radio", "Tight");
    let mut language = a.find(&read, "combobox", "Language");
    a.fill(&mut secret, "xyzzy", "");
    a.press(&mut show, "shown true");
    a.fill(&mut secret, "plugh", "");
    a.press(&mut mails, "mails true");
    a.act(&mut digest, &["check", "{}"], "digest true");
    a.press(&mut dark, "theme dark");
    a.press(&mut tight, "density tight");
    a.act(&mut language, &["select", "{}", "Suomi"], "language Suomi");
    a.act(&mut language, &["select", "{}", "Deutsch"], "language Deutsch");
    a.press(&mut show, "shown false");
    a.act(&mut mails, &["uncheck", "{}"], "mails false");
    a.press(&mut digest, "digest false");
}

fn dialog(a: &mut Agent<'_>) {
    let mut tab = a.see("tab", "Preferences");
    a.press(&mut tab, "tab preferences");
    let read = a.look();
    let mut rename = a.find(&read, "button", "Rename team");
    let mut save = a.find(&read, "button", "Save preferences");
    a.press(&mut rename, "");
    let read = a.look();
    let mut name = a.find(&read, "textbox", "New name");
    let mut apply = a.find(&read, "button", "Apply");
    a.fill(&mut name, "Otters", "");
    a.press(&mut apply, "renamed Otters");
    a.press(&mut save, "preferences Otters");
    a.press(&mut rename, "");
    a.fill(&mut name, "Bears", "");
    a.press(&mut apply, "renamed Bears");
    a.press(&mut save, "preferences Bears");
}

fn popover(a: &mut Agent<'_>) {
    let mut tab = a.see("tab", "Preferences");
    a.press(&mut tab, "tab preferences");
    let mut share = a.see("button", "Share");
    a.press(&mut share, "");
    let read = a.look();
    let mut mail = a.find(&read, "textbox", "Invite");
    let mut send = a.find(&read, "button", "Send");
    let mut close = a.find(&read, "button", "Close");
    a.fill(&mut mail, "a@example.com", "");
    a.press(&mut send, "invited");
    a.press(&mut close, "");
    a.trap(&send);
    a.press(&mut share, "");
    a.fill(&mut mail, "b@example.com", "");
    a.press(&mut send, "invited");
}

fn accordion(a: &mut Agent<'_>) {
    let mut tab = a.see("tab", "Help");
    a.press(&mut tab, "tab help");
    let read = a.look();
    let mut topics = ["Accounts", "Boards", "Invoices"].map(|t| (t, a.find(&read, "button", t)));
    let mut seen = Vec::new();
    for (topic, known) in &mut topics {
        a.press(known, &format!("topic {topic}"));
        let mut helpful = a.see("button", "Helpful");
        a.press(&mut helpful, &format!("helpful {topic}"));
        seen.push((*topic, helpful));
    }
    a.trap(&seen[0].1);
    for ((topic, known), (_, helpful)) in topics.iter_mut().zip(&mut seen) {
        a.press(known, &format!("topic {topic}"));
        a.press(helpful, &format!("helpful {topic}"));
    }
}
