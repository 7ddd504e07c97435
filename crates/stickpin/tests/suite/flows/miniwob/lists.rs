//! Tasks with boxes, lists and several things to choose.

use super::{Task, Wob};
use stickpin_testkit::ListingLine;

pub const TASKS: &[Task] = &[
    ("click-checkboxes", boxes),
    ("click-checkboxes-large", boxes),
    ("click-checkboxes-transfer", boxes),
    ("click-option", option),
    ("choose-list", choose),
    ("click-scroll-list", scroll_list),
    ("form-sequence-2", nth_radio),
    ("odd-or-even", odd_or_even),
    ("buy-ticket", cheapest),
    ("use-autocomplete", complete),
    ("use-autocomplete-nodelay", complete),
    ("navigate-tree", tree),
    ("use-slider", slider),
    ("use-slider-2", three_sliders),
];

fn boxes(w: &mut Wob<'_, '_>) -> Option<()> {
    let wanted = w.between("Select ", " and click")?;
    for name in wanted.split(", ").filter(|n| *n != "nothing") {
        let line = w.first.get("checkbox", name)?.clone();
        w.act(&line, &["check", "{}"]);
    }
    w.submit()
}

fn option(w: &mut Wob<'_, '_>) -> Option<()> {
    let wanted = w.between("Select ", " and click")?;
    w.press_named("radio", &wanted)?;
    w.submit()
}

fn choose(w: &mut Wob<'_, '_>) -> Option<()> {
    let wanted = w.between("Select ", " from the list")?;
    let list = w.first.all("combobox").first().copied()?.clone();
    w.act(&list, &["select", "{}", &wanted]);
    w.submit()
}

fn scroll_list(w: &mut Wob<'_, '_>) -> Option<()> {
    let wanted = w.between("Select ", " from the scroll list")?;
    let list = w.first.all("listbox").first().copied()?.clone();
    let words: Vec<&str> = ["select", "{}"].into_iter().chain(wanted.split(", ")).collect();
    w.act(&list, &words);
    w.submit()
}

fn ordinal(text: &str) -> Option<usize> {
    text.trim_end_matches(char::is_alphabetic).parse().ok()
}

fn nth_radio(w: &mut Wob<'_, '_>) -> Option<()> {
    let radio = ordinal(&w.between("Check the ", " radio")?)?;
    let field = ordinal(&w.between("into the ", " textbox")?)?;
    let text = w.quoted().pop()?;
    let radio = w.first.all("radio").get(radio - 1).copied()?.clone();
    let field = w.first.all("textbox").get(field - 1).copied()?.clone();
    w.press(&radio);
    w.fill(&field, &text);
    w.submit()
}

fn odd_or_even(w: &mut Wob<'_, '_>) -> Option<()> {
    let lines = w.first.0.clone();
    for (at, line) in lines.iter().enumerate().filter(|(_, l)| l.role == "text") {
        let Ok(number) = line.name.parse::<i64>() else { continue };
        // "Odd" precedes its number, "Even" follows it.
        w.press(if number % 2 == 0 { &lines[at + 1] } else { &lines[at - 1] });
    }
    w.submit()
}

fn cheapest(w: &mut Wob<'_, '_>) -> Option<()> {
    if w.goal.contains("duration") {
        return by_duration(w);
    }
    let dearest = w.goal.contains("expensive");
    let price = |l: &&ListingLine| l.name.rsplit('$').next().and_then(|p| p.parse::<u32>().ok());
    let mut lines: Vec<(u32, &ListingLine)> =
        w.first.all("button").into_iter().filter_map(|l| Some((price(&l)?, l))).collect();
    lines.sort_by_key(|(price, _)| *price);
    let line = if dearest { lines.last()?.1.clone() } else { lines.first()?.1.clone() };
    w.press(&line);
    Some(())
}

fn by_duration(w: &mut Wob<'_, '_>) -> Option<()> {
    let mut best: Option<(u32, ListingLine)> = None;
    let longest = w.goal.contains("longest");
    for (at, line) in w.first.0.iter().enumerate().filter(|(_, l)| l.role == "button") {
        let text = &w.first.0[at - 1].name;
        let (hours, minutes) = text.rsplit(": ").next()?.trim_end_matches('m').split_once("h ")?;
        let minutes = hours.parse::<u32>().ok()? * 60 + minutes.parse::<u32>().ok()?;
        let better = |b: u32| if longest { minutes > b } else { minutes < b };
        if best.as_ref().is_none_or(|(b, _)| better(*b)) {
            best = Some((minutes, line.clone()));
        }
    }
    w.press(&best?.1);
    Some(())
}

fn complete(w: &mut Wob<'_, '_>) -> Option<()> {
    let quoted = w.quoted();
    let begin = quoted.first()?.trim().to_owned();
    let end = quoted.get(1).map(|e| e.trim().to_owned()).unwrap_or_default();
    let field = w.field()?;
    w.act(&field, &["type", "--into", "{}", &begin, "--settle"]);
    w.run(&["wait", "role=listitem nth=1"]);
    let read = w.look();
    let fits = |l: &&ListingLine| l.name.starts_with(&begin) && l.name.ends_with(&end);
    let item = read.0.iter().filter(|l| !l.id.is_empty() && l.role != "textbox").find(fits)?;
    w.press(item);
    w.submit()
}

/// Folders are opened from the outside in; known lines are not read again.
fn tree(w: &mut Wob<'_, '_>) -> Option<()> {
    let wanted = w.quoted().pop()?;
    let mut opened: Vec<String> = Vec::new();
    let mut read = w.first.clone();
    for _ in 0..12 {
        let items: Vec<ListingLine> =
            read.0.iter().filter(|l| !l.id.is_empty() && l.role != "list").cloned().collect();
        if let Some(found) = items.iter().find(|l| l.name == wanted) {
            w.press(found);
            return Some(());
        }
        let folder = items.into_iter().find(|l| !opened.contains(&l.name) && !l.name.is_empty())?;
        opened.push(folder.name.clone());
        w.act(&folder, &["press", "{}", "--settle"]);
        read = w.look();
    }
    None
}

/// Moves the handle with the keyboard, step by step, to the value that the page requests.
fn slide(w: &mut Wob<'_, '_>, handle: &ListingLine, shown: &str, wanted: i64) -> Option<()> {
    w.press(handle);
    for _ in 0..250 {
        let now: i64 = w.get("text", shown).parse().ok()?;
        match now.cmp(&wanted) {
            std::cmp::Ordering::Equal => return Some(()),
            std::cmp::Ordering::Less => w.run(&["key", "ArrowUp", "--receipt", "off"]),
            std::cmp::Ordering::Greater => w.run(&["key", "ArrowDown", "--receipt", "off"]),
        }
    }
    None
}

fn slider(w: &mut Wob<'_, '_>) -> Option<()> {
    let wanted: i64 = w.between("Select ", " with")?.parse().ok()?;
    let handle = w.first.all("clickable").first().copied()?.clone();
    slide(w, &handle, "css=\"#val\"", wanted)?;
    w.submit()
}

fn three_sliders(w: &mut Wob<'_, '_>) -> Option<()> {
    let wanted = w.between("combination [", "]")?;
    let handles: Vec<ListingLine> = w.first.all("clickable").into_iter().cloned().collect();
    for (nth, (handle, wanted)) in handles.iter().zip(wanted.split(',')).enumerate() {
        slide(w, handle, &format!("css=\"#val-{}\"", nth + 1), wanted.trim().parse().ok()?)?;
    }
    w.submit()
}
