//! Tasks with text to type.

use super::{Task, Wob};
use stickpin_testkit::ListingLine;

pub const TASKS: &[Task] = &[
    ("enter-text", quoted),
    ("enter-text-dynamic", quoted),
    ("enter-text-2", cased),
    ("enter-password", password),
    ("login-user", login),
    ("login-user-popup", login_popup),
    ("copy-paste-2", copy_nth),
    ("find-word", word),
    ("read-table", table_one),
    ("read-table-2", table_two),
    ("text-transform", below),
    ("scroll-text", last_word),
    ("simple-arithmetic", arithmetic),
    ("simple-algebra", algebra),
    ("multi-layouts", movie),
    ("multi-orderings", movie),
    ("use-spinner", spinner),
    ("guess-number", guess),
];

fn fields(w: &Wob<'_, '_>) -> Vec<ListingLine> {
    w.first.all("textbox").into_iter().cloned().collect()
}

fn quoted(w: &mut Wob<'_, '_>) -> Option<()> {
    let text = w.quoted().pop()?;
    w.fill(&w.field()?, text.trim());
    w.submit()
}

fn cased(w: &mut Wob<'_, '_>) -> Option<()> {
    let text = w.quoted().pop()?.trim().to_owned();
    let text = if w.goal.contains("upper case") { text.to_uppercase() } else { text.to_lowercase() };
    w.fill(&w.field()?, &text);
    w.submit()
}

fn password(w: &mut Wob<'_, '_>) -> Option<()> {
    let text = w.quoted().pop()?.trim().to_owned();
    for field in fields(w) {
        w.fill(&field, &text);
    }
    w.submit()
}

fn enter_login(w: &mut Wob<'_, '_>) -> Option<[ListingLine; 2]> {
    let [name, secret] = <[String; 2]>::try_from(w.quoted()).ok()?;
    let [user, pass] = <[ListingLine; 2]>::try_from(fields(w)).ok()?;
    w.fill(&user, &name);
    w.fill(&pass, &secret);
    Some([user, pass])
}

fn press_login(w: &mut Wob<'_, '_>) -> Option<()> {
    let button = w.first.all("button").first().copied()?.clone();
    w.press(&button);
    Some(())
}

fn login(w: &mut Wob<'_, '_>) -> Option<()> {
    enter_login(w)?;
    press_login(w)
}

/// Logs in. A dialog may cover the form during typing. It is dismissed, and the fields are used
/// again.
fn login_popup(w: &mut Wob<'_, '_>) -> Option<()> {
    let [name, secret] = <[String; 2]>::try_from(w.quoted()).ok()?;
    let fields = fields(w);
    let button = w.first.all("button").first().copied()?.clone();
    for (field, text) in fields.iter().zip([&name, &secret]) {
        w.press(field);
        put_away(w);
        w.fill(field, text);
        put_away(w);
    }
    w.press(&button);
    Some(())
}

fn put_away(w: &mut Wob<'_, '_>) {
    let read = w.look();
    if let Some(cancel) = read.get("button", "Cancel") {
        w.press(cancel);
    }
}

fn copy_nth(w: &mut Wob<'_, '_>) -> Option<()> {
    let nth: usize =
        w.between("from the ", " text area")?.trim_end_matches(char::is_alphabetic).parse().ok()?;
    let fields = fields(w);
    let text = w.value(fields.get(nth - 1)?);
    w.fill(fields.last()?, &text);
    w.submit()
}

fn word(w: &mut Wob<'_, '_>) -> Option<()> {
    let nth: usize = w.between("Find the ", " word")?.trim_end_matches(char::is_alphabetic).parse().ok()?;
    let paragraph = w.first.all("paragraph").first().copied()?.clone();
    let text = w.get("text", &paragraph.id);
    let word = text.split_whitespace().nth(nth - 1)?.trim_matches(|c: char| !c.is_alphanumeric());
    w.fill(&w.field()?, word);
    w.submit()
}

/// Returns the text next to a label in the table.
fn beside(w: &Wob<'_, '_>, label: &str) -> Option<String> {
    let cells = w.first.all("cell");
    let at = cells.iter().position(|c| c.name == label)?;
    Some(cells.get(at + 1)?.name.clone())
}

fn table_one(w: &mut Wob<'_, '_>) -> Option<()> {
    let label = w.between("value of ", " into")?;
    let value = beside(w, &label)?;
    w.fill(&w.field()?, &value);
    w.submit()
}

fn table_two(w: &mut Wob<'_, '_>) -> Option<()> {
    let lines = w.first.0.clone();
    for (at, line) in lines.iter().enumerate().filter(|(_, l)| l.role == "textbox") {
        let label = lines[..at].last()?.name.trim_end_matches(':').to_owned();
        let value = beside(w, &label)?;
        w.fill(line, &value);
    }
    w.submit()
}

fn below(w: &mut Wob<'_, '_>) -> Option<()> {
    let text = w.first.all("text").get(1)?.name.replace(' ', "");
    w.fill(&w.field()?, &text);
    w.submit()
}

fn last_word(w: &mut Wob<'_, '_>) -> Option<()> {
    let [from, to] = <[ListingLine; 2]>::try_from(fields(w)).ok()?;
    let text = w.value(&from);
    w.fill(&to, text.split_whitespace().last()?.trim_matches(|c: char| !c.is_alphanumeric()));
    w.submit()
}

/// Computes `a op b`.
fn calculate(a: i64, op: &str, b: i64) -> Option<i64> {
    match op {
        "+" => Some(a + b),
        "-" => Some(a - b),
        "x" | "*" | "×" => Some(a * b),
        "/" if b != 0 => Some(a / b),
        _ => None,
    }
}

fn arithmetic(w: &mut Wob<'_, '_>) -> Option<()> {
    let problem = w.first.all("text").into_iter().find(|l| l.name.ends_with('='))?.name.clone();
    let parts: Vec<&str> = problem.split_whitespace().collect();
    let answer = calculate(parts.first()?.parse().ok()?, parts.get(1)?, parts.get(2)?.parse().ok()?)?;
    w.fill(&w.field()?, &answer.to_string());
    w.submit()
}

fn algebra(w: &mut Wob<'_, '_>) -> Option<()> {
    let problem = w.first.all("text").into_iter().find(|l| l.name.contains("= "))?.name.clone();
    let parts: Vec<&str> = problem.split_whitespace().collect();
    let holds = |x: i64| {
        let number = |w: &str| if w == "x" { Some(x) } else { w.parse().ok() };
        let left = calculate(number(parts[0])?, parts[1], number(parts[2])?)?;
        Some(left == number(parts[4])?)
    };
    let answer = (-500..500).find(|x| holds(*x) == Some(true))?;
    w.fill(&w.field()?, &answer.to_string());
    w.submit()
}

fn movie(w: &mut Wob<'_, '_>) -> Option<()> {
    let genre = w.between("Search for ", " movies")?;
    let director = w.between("directed by ", " from")?;
    let year: String = w.between("year ", "")?.chars().take_while(char::is_ascii_digit).collect();
    let lines = w.first.0.clone();
    // Each field has its label before or after it, in the same order.
    let is_label = |l: &&ListingLine| {
        let text = l.name.to_lowercase();
        !text.starts_with("search for")
            && ["genre", "director", "year", "date"].iter().any(|w| text.contains(w))
    };
    let labels: Vec<String> = lines
        .iter()
        .filter(|l| l.role != "textbox")
        .filter(is_label)
        .map(|l| l.name.to_lowercase())
        .collect();
    for (line, label) in fields(w).iter().zip(labels) {
        let value = match () {
            () if label.contains("genre") => &genre,
            () if label.contains("director") => &director,
            () => &year,
        };
        w.fill(line, value);
    }
    let last = lines.iter().rev().find(|l| matches!(l.role.as_str(), "button" | "clickable"))?;
    w.press(last);
    Some(())
}

fn spinner(w: &mut Wob<'_, '_>) -> Option<()> {
    let value = w.between("Select ", " with")?;
    w.fill(&w.field()?, &value);
    w.submit()
}

/// Uses two refs up to four times, with the page's answers in between.
fn guess(w: &mut Wob<'_, '_>) -> Option<()> {
    let field = w.field()?;
    let (mut low, mut high) = (0, 9);
    while low <= high {
        let middle = (low + high) / 2;
        w.fill(&field, &middle.to_string());
        w.submit()?;
        let answer = w.look();
        let says = |part: &str| answer.0.iter().any(|l| l.name.contains(part));
        match () {
            () if says("higher") => low = middle + 1,
            () if says("lower") => high = middle - 1,
            () => return Some(()),
        }
    }
    None
}
