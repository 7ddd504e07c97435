//! Tasks that span several pages.

use super::{Task, Wob};

pub const TASKS: &[Task] = &[("search-engine", search), ("phone-book", phone_book)];

fn search(w: &mut Wob<'_, '_>) -> Option<()> {
    let query = w.quoted().first()?.trim().to_owned();
    let nth: usize =
        w.between("click the ", " search result")?.trim_end_matches(char::is_alphabetic).parse().ok()?;
    w.fill(&w.field()?, &query);
    w.press_named("button", "Search")?;
    let results = |read: &stickpin_testkit::Listing| -> Vec<stickpin_testkit::ListingLine> {
        let is_result = |l: &&stickpin_testkit::ListingLine| {
            l.role == "link"
                && l.name.chars().all(char::is_alphabetic)
                && !matches!(l.name.as_str(), "" | "Next" | "Last")
        };
        read.0.iter().filter(is_result).cloned().collect()
    };
    let mut read = w.look();
    let per_page = results(&read).len();
    if per_page == 0 {
        return None;
    }
    for _ in 0..(nth - 1) / per_page {
        let next = read.get("link", ">")?.clone();
        w.press(&next);
        read = w.look();
    }
    let result = results(&read).get((nth - 1) % per_page)?.clone();
    w.press(&result);
    Some(())
}

fn phone_book(w: &mut Wob<'_, '_>) -> Option<()> {
    let who = w.between("Find ", " in the")?;
    let what = w.between("click on their ", "")?.trim_end_matches('.').to_owned();
    let mut read = w.first.clone();
    for _ in 0..10 {
        if read.get("heading", &who).is_some() {
            let label = match what.as_str() {
                "email" => "Email:",
                "address" => "Address:",
                _ => "Phone:",
            };
            let at = read.0.iter().position(|l| l.name == label)?;
            let link = read.0[at + 1..].iter().find(|l| !l.id.is_empty())?.clone();
            w.press(&link);
            return Some(());
        }
        let next = read.get("link", ">")?.clone();
        w.press(&next);
        read = w.look();
    }
    None
}
