//! Tasks that end with the right press: buttons, links, tabs, sections, dialogs, menus.

use super::{Task, Wob};

pub const TASKS: &[Task] = &[
    ("click-button", quoted_button),
    ("unicode-test", quoted_button),
    ("click-button-sequence", sequence),
    ("click-test", only_button),
    ("click-test-2", one),
    ("click-test-transfer", one),
    ("button-delay", delayed),
    ("click-dialog", close_dialog),
    ("click-dialog-2", dialog_button),
    ("click-link", link),
    ("click-tab", tab),
    ("click-tab-2", link_in_tabs),
    ("click-tab-2-easy", link_in_tabs),
    ("click-tab-2-medium", link_in_tabs),
    ("click-tab-2-hard", link_in_tabs),
    ("click-collapsible", collapsible),
    ("click-collapsible-nodelay", collapsible),
    ("click-collapsible-2", link_in_sections),
    ("click-collapsible-2-nodelay", link_in_sections),
    ("click-widget", widget),
    ("identify-shape", shape_by_name),
    ("find-greatest", greatest),
    ("focus-text", focus),
    ("focus-text-2", focus_nth),
];

fn quoted_button(w: &mut Wob<'_, '_>) -> Option<()> {
    let name = w.quoted().pop()?;
    w.press_named("button", &name)
}

fn sequence(w: &mut Wob<'_, '_>) -> Option<()> {
    w.press_named("button", "ONE")?;
    w.press_named("button", "TWO")
}

fn only_button(w: &mut Wob<'_, '_>) -> Option<()> {
    w.press_named("button", "Click Me!")
}

fn one(w: &mut Wob<'_, '_>) -> Option<()> {
    w.press_named("button", "ONE")
}

fn delayed(w: &mut Wob<'_, '_>) -> Option<()> {
    let seconds: u32 = w.between("wait ", " seconds")?.parse().ok()?;
    w.press_named("button", "ONE")?;
    w.run(&["wait", "ms", &(seconds * 1000).to_string()]);
    w.press_named("button", "TWO")
}

fn close_dialog(w: &mut Wob<'_, '_>) -> Option<()> {
    w.press_named("button", "Close")
}

fn dialog_button(w: &mut Wob<'_, '_>) -> Option<()> {
    match w.quoted().pop()?.as_str() {
        "x" => w.press_named("button", "Close"),
        name => w.press_named("button", name),
    }
}

fn link(w: &mut Wob<'_, '_>) -> Option<()> {
    let name = w.quoted().pop()?;
    w.press_named("clickable", &name)
}

fn tab(w: &mut Wob<'_, '_>) -> Option<()> {
    let name = w.between("Click on ", "")?;
    w.press_named("tab", name.trim_end_matches('.'))
}

/// Opens one part after the other until the link shows.
fn link_in(w: &mut Wob<'_, '_>, parts: &str) -> Option<()> {
    let name = w.quoted().pop()?;
    for part in w.first.all(parts).into_iter().cloned().collect::<Vec<_>>() {
        if !part.is("selected") {
            w.act(&part, &["press", "{}", "--settle"]);
        }
        let read = w.look();
        if let Some(link) = read.get("clickable", &name) {
            w.press(link);
            return Some(());
        }
    }
    None
}

fn link_in_tabs(w: &mut Wob<'_, '_>) -> Option<()> {
    link_in(w, "tab")
}

fn link_in_sections(w: &mut Wob<'_, '_>) -> Option<()> {
    link_in(w, "tab")
}

fn collapsible(w: &mut Wob<'_, '_>) -> Option<()> {
    let section = w.first.all("tab").first().copied()?.clone();
    w.act(&section, &["press", "{}", "--settle"]);
    let read = w.look();
    let submit = read.get("button", "Submit")?;
    w.press(submit);
    Some(())
}

fn widget(w: &mut Wob<'_, '_>) -> Option<()> {
    let wanted = w.quoted().pop()?;
    for line in w.first.0.clone() {
        let kind = match line.role.as_str() {
            "radio" | "checkbox" | "button" => line.role.clone(),
            "textbox" => match w.get("html", &line.id).starts_with("<textarea") {
                true => "textarea".to_owned(),
                false => "text".to_owned(),
            },
            _ => continue,
        };
        if kind == wanted {
            w.press(&line);
            return Some(());
        }
    }
    None
}

fn shape_by_name(w: &mut Wob<'_, '_>) -> Option<()> {
    // The content is a picture, and its source identifies it.
    let html = w.get("html", "css=\"#area_svg\"");
    let name = match () {
        () if html.contains("<circle") => "Circle",
        () if html.contains("<rect") => "Rectangle",
        () if html.contains("<polygon") => "Triangle",
        () => match html.split("</text>").next()?.rsplit('>').next()?.trim().parse::<u32>() {
            Ok(_) => "Number",
            Err(_) => "Letter",
        },
    };
    w.press_named("button", name)
}

fn greatest(w: &mut Wob<'_, '_>) -> Option<()> {
    let cards = w.first.0.iter().filter_map(|l| Some((l.name.parse::<i64>().ok()?, l.clone())));
    let (_, card) = cards.filter(|(_, l)| !l.id.is_empty()).max_by_key(|(n, _)| *n)?;
    w.press(&card);
    w.submit()
}

fn focus(w: &mut Wob<'_, '_>) -> Option<()> {
    let field = w.field()?;
    w.press(&field);
    Some(())
}

fn focus_nth(w: &mut Wob<'_, '_>) -> Option<()> {
    let nth: usize = w.between("the ", " input")?.trim_end_matches(char::is_alphabetic).parse().ok()?;
    let field = w.first.all("textbox").get(nth - 1).copied()?.clone();
    w.press(&field);
    Some(())
}
