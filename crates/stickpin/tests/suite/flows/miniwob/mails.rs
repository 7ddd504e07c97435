//! Tasks in a mailbox, in which the buttons are icons without text.

use super::{Task, Wob};
use stickpin_testkit::{Listing, ListingLine};

pub const TASKS: &[Task] = &[
    ("email-inbox", mail),
    ("email-inbox-delete", mail),
    ("email-inbox-important", mail),
    ("email-inbox-noscroll", mail),
    ("email-inbox-reply", mail),
    ("email-inbox-forward", mail),
    ("email-inbox-star-reply", mail),
];

/// Returns the icon with this class.
fn icon<'l>(read: &'l [ListingLine], class: &str) -> Option<&'l ListingLine> {
    read.iter().find(|l| l.role == "clickable" && l.suffix.contains(&format!("class=\"{class}\"")))
}

fn with_id(read: &Listing, id: &str) -> Option<ListingLine> {
    read.0.iter().find(|l| l.suffix.contains(&format!("id=\"{id}\""))).cloned()
}

fn mail(w: &mut Wob<'_, '_>) -> Option<()> {
    let who = w.between("email by ", " and")?;
    let lines = &w.first.0;
    let at = lines.iter().position(|l| l.role == "text" && l.name == who)?;
    let thread = lines[..at].iter().rev().find(|l| l.role == "clickable")?.clone();
    let [is_deleted, is_starred] =
        ["trash", "star"].map(|word| w.goal.contains(&format!("click the {word} icon")));
    if is_starred {
        // In the list itself: the icon in the row.
        let star = icon(&lines[at..], "star")?.clone();
        w.press(&star);
        return Some(());
    }
    w.act(&thread, &["press", "{}", "--settle"]);
    let read = w.look_at_controls();
    if is_deleted {
        w.press(icon(&read.0, "trash")?);
        return Some(());
    }
    let [open, send] =
        if w.goal.contains("forward that email") { ["Forward", "forward"] } else { ["Reply", "reply"] };
    w.act(read.get("clickable", open)?, &["press", "{}", "--settle"]);
    let read = w.look_at_controls();
    let text = match send {
        "reply" => w.quoted().pop()?.trim().to_owned(),
        _ => w.between("forward that email to ", "")?.trim_end_matches(['.', ' ']).to_owned(),
    };
    w.fill(read.all("textbox").first().copied()?, &text);
    w.press(&with_id(&read, &format!("send-{send}"))?);
    Some(())
}
