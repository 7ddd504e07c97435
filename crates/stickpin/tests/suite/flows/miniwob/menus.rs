//! Tasks with menus: one with submenus that open by hovering, and one in each post of a list.

use super::{Task, Wob};
use stickpin_testkit::{Listing, ListingLine};

pub const TASKS: &[Task] = &[("click-menu-2", menu), ("social-media", post)];

/// The items, each with its icon's class.
const ICONS: &[(&str, &str)] = &[
    ("Save", "ui-icon-disk"),
    ("Prev", "ui-icon-seek-start"),
    ("Stop", "ui-icon-stop"),
    ("Play", "ui-icon-play"),
    ("Next", "ui-icon-seek-end"),
    ("Zoom In", "ui-icon-zoomin"),
    ("Zoom Out", "ui-icon-zoomout"),
];

fn menu(w: &mut Wob<'_, '_>) -> Option<()> {
    let html = w.get("html", "css=\"#query\"");
    let drawn = ICONS.iter().find(|(_, class)| html.contains(&format!("{class}\""))).map(|(name, _)| *name);
    let wanted = match drawn {
        Some(name) => name.to_owned(),
        None => w.between("item labeled \"", "\"")?,
    };
    w.press_named("button", "Menu")?;
    let read = w.look_at_controls();
    let item =
        |read: &Listing, name: &str| read.0.iter().find(|l| l.role == "menuitem" && l.name == name).cloned();
    if let Some(shown) = item(&read, &wanted) {
        w.press(&shown);
        return Some(());
    }
    w.act(&item(&read, "Playback")?, &["hover", "{}"]);
    w.run(&["wait", &format!("role=menuitem text=\"{wanted}\"")]);
    let read = w.look_at_controls();
    w.press(&item(&read, &wanted)?);
    Some(())
}

fn post(w: &mut Wob<'_, '_>) -> Option<()> {
    let (user, action) = (w.between("For the user ", ", click")?, w.quoted().pop()?.trim().to_owned());
    let of_post = |read: &Listing| -> Option<Vec<ListingLine>> {
        let at = read.0.iter().position(|l| l.name.split_whitespace().any(|word| word == user))?;
        Some(read.0[at..].to_vec())
    };
    let controls = of_post(&w.first)?;
    let icon = |class: &str| {
        controls
            .iter()
            .find(|l| l.role == "clickable" && l.suffix.contains(&format!("class=\"{class}\"")))
            .cloned()
    };
    if matches!(action.as_str(), "Reply" | "Retweet" | "Like") {
        w.press(&icon(&action.to_lowercase())?);
        return Some(());
    }
    w.act(&icon("more")?, &["press", "{}", "--settle"]);
    let read = w.look();
    let begins = |l: &&ListingLine| l.name.starts_with(&action);
    let item = of_post(&read)?.iter().find(begins)?.clone();
    w.press(&item);
    Some(())
}
