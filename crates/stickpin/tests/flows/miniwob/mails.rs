//! Tasks in a mail box and among posts.

use super::{Task, Wob};
use stickpin_testkit::Line;

pub const TASKS: &[Task] =
    &[("email-inbox", mail), ("email-inbox-delete", mail), ("email-inbox-important", mail)];

fn mail(w: &mut Wob<'_, '_>) -> Option<()> {
    let who = w.between("email by ", " and")?;
    let lines = &w.first.0;
    let at = lines.iter().position(|l| l.role == "text" && l.name == who)?;
    let thread = lines[..at].iter().rev().find(|l| l.role == "clickable")?.clone();
    w.act(&thread, &["press", "{}", "--settle"]);
    let read = w.look();
    let actions: Vec<&Line> = read.all("clickable");
    // In the order of the page: back, trash, star.
    let back = actions.iter().position(|l| l.rest.contains("close-email"))?;
    if w.goal.contains("trash") || w.goal.contains("delete") {
        w.press(actions.get(back + 1)?);
        return Some(());
    }
    if w.goal.contains("star") {
        w.press(actions.get(back + 2)?);
        return Some(());
    }
    None
}
