//! A mailbox that a server renders in parts with htmx. The server is in this file, and its log
//! shows the requests that it understood.

use super::Stage;
use super::agent::Agent;
use std::fmt::Write as _;
use std::sync::Mutex;
use stickpin_testkit::{PageRequest, PageResponse, RequestHandler};

pub fn flows(stage: &mut Stage) {
    let mut flow = |name: &str, run: fn(&mut Agent<'_>)| stage.flow("mail", name, "mail/index.html", run);
    flow("rows swapped one by one", rows);
    flow("the whole list drawn anew", refreshed);
    flow("lists without keys", without_keys);
    flow("live search", search);
    flow("new mail on top", on_top);
    flow("a label edited in its row", label);
    flow("folders and back", folders);
    flow("write a mail", compose);
    flow("read and delete", read_and_delete);
}

#[derive(Clone)]
struct Mail {
    id: u32,
    from: &'static str,
    subject: String,
    star: bool,
    label: String,
    archived: bool,
}

struct Mailbox {
    mails: Vec<Mail>,
    ticks: u32,
    next: u32,
}

impl Mailbox {
    fn new() -> Self {
        let mails = [
            (31, "Ada", "Minutes of Monday"),
            (35, "Grace", "Compiler course"),
            (36, "Alan", "About the machine"),
            (42, "Edsger", "Goto, again"),
            (47, "Barbara", "Liskov's invitation"),
            (53, "Radia", "Trees that span"),
        ];
        let mails = mails.map(|(id, from, subject)| Mail {
            id,
            from,
            subject: subject.to_owned(),
            star: false,
            label: "none".to_owned(),
            archived: false,
        });
        Self { mails: mails.to_vec(), ticks: 0, next: 60 }
    }

    fn row(&self, mail: &Mail) -> String {
        let Mail { id, from, subject, label, .. } = mail;
        let star = if mail.star { "★" } else { "☆" };
        let row = |verb: &str, swap: &str, text: &str| {
            format!(
                r#"<button hx-post="/mail/{id}/{verb}" hx-target="closest tr" hx-swap="{swap}">{text}</button>"#
            )
        };
        format!(
            r##"<tr id="mail-{id}"><td>{star}</td><td>{from}</td><td>{subject}</td><td>{label}</td><td>{} min ago</td><td>{} {} <button hx-get="/mail/{id}/edit" hx-target="closest tr" hx-swap="outerHTML">Label</button> <button hx-get="/mail/{id}/read" hx-target="#dialog">Read</button></td></tr>"##,
            self.ticks + id,
            row("star", "outerHTML", "Star"),
            row("archive", "delete", "Archive"),
        )
    }

    fn rows(&self, query: &str) -> String {
        let fits = |m: &&Mail| !m.archived && m.subject.to_lowercase().contains(&query.to_lowercase());
        self.mails.iter().filter(fits).map(|m| self.row(m)).collect()
    }

    fn inbox(&self) -> String {
        let count = self.mails.iter().filter(|m| !m.archived).count();
        format!(
            r##"<h2>Inbox ({count})</h2>
<label>Search <input type="search" name="q" hx-get="/mail/search" hx-trigger="input changed delay:60ms" hx-target="#rows"></label>
<button hx-get="/mail/folder/inbox" hx-target="#content">Refresh</button>
<button hx-post="/mail/fetch" hx-target="#rows" hx-swap="afterbegin">Fetch</button>
<table><tbody id="rows">{}</tbody></table>"##,
            self.rows("")
        )
    }

    /// Renders the archive without ids and tables: a plain list, as templates often produce.
    fn archive(&self) -> String {
        let mut out =
            r##"<h2>Archive</h2><button hx-post="/mail/sort" hx-target="#content">Sort</button><ul>"##
                .to_owned();
        for mail in &self.mails {
            let Mail { id, from, subject, .. } = mail;
            write!(out, r##"<li><b>{from}</b> <i>{subject}</i> <button hx-post="/mail/{id}/restore" hx-target="#content">Restore</button> <button hx-post="/mail/{id}/erase" hx-target="#content">Erase</button></li>"##)
                .expect("a string takes all");
        }
        out + "</ul>"
    }

    /// Returns the page fragment, and the request as it was understood.
    fn answer(&mut self, asked: PageRequest<'_>) -> Option<(String, Option<String>)> {
        let (path, query) = asked.target.split_once('?').unwrap_or((asked.target, ""));
        let words: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let quiet = |html: String| Some((html, None));
        match words[..] {
            ["mail", "index.html"] => {
                *self = Self::new();
                None
            }
            ["mail", "clock"] => {
                self.ticks += 1;
                quiet(format!("connected for {} s", self.ticks))
            }
            ["mail", "folder", "inbox"] => Some((self.inbox(), Some("inbox".to_owned()))),
            ["mail", "folder", "archive"] => Some((self.archive(), Some("archive".to_owned()))),
            ["mail", "sort"] => {
                self.mails.sort_by(|a, b| a.subject.cmp(&b.subject));
                Some((self.archive(), Some("sort".to_owned())))
            }
            ["mail", "compose"] => Some((COMPOSE.to_owned(), Some("compose".to_owned()))),
            ["mail", "send"] => {
                let html =
                    format!(r#"{COMPOSE}<div role="status"><h3>Sent</h3><p>It is on its way.</p></div>"#);
                Some((html, Some(format!("send {}", asked.body))))
            }
            ["mail", "search"] => {
                let text = query.split('&').find_map(|p| p.strip_prefix("q=")).unwrap_or("");
                Some((self.rows(text), Some(format!("search {text}"))))
            }
            ["mail", "fetch"] => {
                let subject = format!("Fresh news {}", self.next);
                let mail = Mail {
                    id: self.next,
                    from: "Desk",
                    subject,
                    star: false,
                    label: "new".to_owned(),
                    archived: false,
                };
                self.next += 1;
                self.mails.insert(0, mail.clone());
                Some((self.row(&mail), Some(format!("fetched {}", mail.id))))
            }
            ["mail", id, verb] => {
                let id: u32 = id.parse().ok()?;
                let at = self.mails.iter().position(|m| m.id == id)?;
                let log = Some(format!("{verb} {id}"));
                let mail = &mut self.mails[at];
                match verb {
                    "star" => mail.star = !mail.star,
                    "archive" => mail.archived = true,
                    "erase" => drop(self.mails.remove(at)),
                    "restore" => mail.archived = false,
                    "read" => return Some((dialog(mail), log)),
                    "edit" => return Some((editor(mail), log)),
                    "label" => {
                        mail.label = asked.body.trim_start_matches("label=").to_owned();
                        let log = Some(format!("label {id} {}", mail.label));
                        return Some((self.row(&self.mails[at].clone()), log));
                    }
                    "delete" => {
                        self.mails.remove(at);
                        let gone =
                            format!(r##"<hx-partial hx-target="#mail-{id}" hx-swap="delete"></hx-partial>"##);
                        return Some((gone, log));
                    }
                    _ => return None,
                }
                match verb {
                    "star" => Some((self.row(&self.mails[at].clone()), log)),
                    "archive" => Some((String::new(), log)),
                    _ => Some((self.archive(), log)),
                }
            }
            _ => None,
        }
    }
}

const COMPOSE: &str = r##"<h2>New mail</h2><form hx-post="/mail/send" hx-target="#content">
<label>To <input name="to"></label><label>Subject <input name="subject"></label><label>Text <textarea name="text"></textarea></label>
<button>Send</button></form>"##;

fn dialog(mail: &Mail) -> String {
    let Mail { id, from, subject, .. } = mail;
    format!(
        r##"<div role="dialog" aria-label="Mail"><h2>{subject}</h2><p>{from} has written to you about this.</p>
<button hx-post="/mail/{id}/delete" hx-target="#dialog">Delete</button>
<button onclick="this.closest('[role=dialog]').remove()">Close</button></div>"##
    )
}

fn editor(mail: &Mail) -> String {
    let Mail { id, from, subject, label, .. } = mail;
    format!(
        r#"<tr id="mail-{id}"><td></td><td>{from}</td><td>{subject}</td><td colspan="3"><form hx-post="/mail/{id}/label" hx-target="closest tr" hx-swap="outerHTML"><input name="label" aria-label="Label" value="{label}"> <button>Save</button></form></td></tr>"#
    )
}

/// Returns the handler of the server's requests.
pub fn answers() -> RequestHandler {
    let mailbox = Mutex::new(Mailbox::new());
    Box::new(move |asked| {
        let (html, log) = mailbox.lock().expect("no answer panicked").answer(asked)?;
        Some(PageResponse { media: "text/html; charset=utf-8", body: html.into_bytes(), log })
    })
}

/// Waits for the inbox, which loads by itself, and reads it.
fn inbox(a: &mut Agent<'_>) -> stickpin_testkit::Listing {
    a.expect_ok(&["wait", "text", "Trees that span"]);
    a.reported("inbox");
    a.look()
}

fn rows(a: &mut Agent<'_>) {
    let read = inbox(a);
    let mut star = a.near(&read, "Compiler course", "button", "Star");
    let mut archive = a.near(&read, "Goto, again", "button", "Archive");
    let mut other = a.near(&read, "Trees that span", "button", "Star");
    for _ in 0..4 {
        a.press(&mut star, "star 35");
    }
    a.press(&mut archive, "archive 42");
    a.press(&mut other, "star 53");
    a.trap(&archive);
    a.press(&mut star, "star 35");
    a.press(&mut other, "star 53");
}

fn refreshed(a: &mut Agent<'_>) {
    let read = inbox(a);
    let mut refresh = a.find(&read, "button", "Refresh");
    let mut star = a.near(&read, "About the machine", "button", "Star");
    let mut archive = a.near(&read, "Compiler course", "button", "Archive");
    for _ in 0..3 {
        a.press(&mut refresh, "inbox");
        a.press(&mut star, "star 36");
    }
    a.press(&mut archive, "archive 35");
    a.press(&mut refresh, "inbox");
    a.press(&mut star, "star 36");
}

fn without_keys(a: &mut Agent<'_>) {
    let read = inbox(a);
    let mut folder = a.find(&read, "link", "Archive");
    a.press(&mut folder, "archive");
    a.expect_ok(&["wait", "text", "Sort"]);
    let read = a.look();
    let mut sort = a.find(&read, "button", "Sort");
    let mut restore = a.near(&read, "Goto, again", "button", "Restore");
    let mut tree = a.near(&read, "Trees that span", "button", "Restore");
    let mut erase = a.near(&read, "About the machine", "button", "Erase");
    a.press(&mut restore, "restore 42");
    a.press(&mut sort, "sort");
    a.press(&mut restore, "restore 42");
    a.press(&mut tree, "restore 53");
    a.press(&mut erase, "erase 36");
    a.trap(&erase);
    a.press(&mut tree, "restore 53");
    a.press(&mut restore, "restore 42");
}

fn search(a: &mut Agent<'_>) {
    let read = inbox(a);
    let mut field = a.find(&read, "searchbox", "Search");
    let mut star = a.near(&read, "Compiler course", "button", "Star");
    for text in ["co", "comp"] {
        a.fill(&mut field, text, &format!("search {text}"));
        a.press(&mut star, "star 35");
    }
    a.fill(&mut field, "trees", "search trees");
    a.expect_ok(&["wait", "absent", "text~=Compiler"]);
    a.trap(&star);
    a.fill(&mut field, "o", "search o");
    a.expect_ok(&["wait", "text", "Compiler course"]);
    a.press(&mut star, "star 35");
}

fn on_top(a: &mut Agent<'_>) {
    let read = inbox(a);
    let mut fetch = a.find(&read, "button", "Fetch");
    let mut first = a.near(&read, "Minutes of Monday", "button", "Archive");
    let mut star = a.near(&read, "Compiler course", "button", "Star");
    for n in 60..63 {
        a.press(&mut fetch, &format!("fetched {n}"));
        a.press(&mut star, "star 35");
    }
    a.press(&mut first, "archive 31");
}

fn label(a: &mut Agent<'_>) {
    let read = inbox(a);
    let mut edit = a.near(&read, "Liskov", "button", "Label");
    let mut star = a.near(&read, "Liskov", "button", "Star");
    let mut other = a.near(&read, "Goto, again", "button", "Star");
    for text in ["urgent", "later"] {
        a.press(&mut edit, "edit 47");
        let read = a.look_for("textbox", "Label");
        let mut field = a.find(&read, "textbox", "Label");
        let mut save = a.find(&read, "button", "Save");
        a.fill(&mut field, text, "");
        a.press(&mut other, "star 42");
        a.press(&mut save, &format!("label 47 {text}"));
        a.expect_ok(&["wait", "text", text]);
        a.press(&mut star, "star 47");
    }
}

fn folders(a: &mut Agent<'_>) {
    let read = inbox(a);
    let [mut archive, mut inbox, mut compose] =
        ["Archive", "Inbox", "Compose"].map(|n| a.find(&read, "link", n));
    let mut star = a.near(&read, "Compiler course", "button", "Star");
    for _ in 0..2 {
        a.press(&mut archive, "archive");
        a.trap(&star);
        a.press(&mut compose, "compose");
        a.press(&mut inbox, "inbox");
        a.expect_ok(&["wait", "text", "Trees that span"]);
        a.press(&mut star, "star 35");
    }
}

fn compose(a: &mut Agent<'_>) {
    let read = inbox(a);
    let mut compose = a.find(&read, "link", "Compose");
    a.press(&mut compose, "compose");
    let read = a.look_for("textbox", "To");
    let [mut to, mut subject, mut text] = ["To", "Subject", "Text"].map(|n| a.find(&read, "textbox", n));
    let mut send = a.find(&read, "button", "Send");
    for who in ["ada", "alan"] {
        a.fill(&mut to, who, "");
        a.fill(&mut subject, "hello", "");
        a.fill(&mut text, "yes", "");
        a.press(&mut send, &format!("send to={who}&subject=hello&text=yes"));
        a.expect_ok(&["wait", "text", "It is on its way"]);
    }
}

fn read_and_delete(a: &mut Agent<'_>) {
    let read = inbox(a);
    let mut open = ["Goto, again", "Compiler course"].map(|s| a.near(&read, s, "button", "Read"));
    let mut star = a.near(&read, "Trees that span", "button", "Star");
    a.press(&mut open[0], "read 42");
    let read = a.look_for("dialog", "Mail");
    let first = a.find(&read, "button", "Delete");
    let mut close = a.find(&read, "button", "Close");
    a.press(&mut close, "");
    a.press(&mut star, "star 53");
    a.press(&mut open[1], "read 35");
    let read = a.look_for("dialog", "Mail");
    a.trap(&first);
    let mut delete = a.find(&read, "button", "Delete");
    a.press(&mut delete, "delete 35");
    a.press(&mut star, "star 53");
    a.trap(&open[1]);
}
