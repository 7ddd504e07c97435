//! Tasks with dates and times.

use super::{Task, Wob};
use stickpin_testkit::ListingLine;

pub const TASKS: &[Task] = &[
    ("enter-date", enter_date),
    ("enter-time", enter_time),
    ("choose-date-easy", choose),
    ("choose-date-medium", choose),
    ("choose-date-nodelay", choose),
    ("choose-date", choose),
];

/// Parses a date into month, day and year.
fn date(text: &str) -> Option<[u32; 3]> {
    let numbers: Option<Vec<u32>> = text.split('/').map(|p| p.parse().ok()).collect();
    numbers?.try_into().ok()
}

fn enter_date(w: &mut Wob<'_, '_>) -> Option<()> {
    let wanted = w.between("Enter ", " as the date")?;
    let [month, day, year] = date(&wanted)?;
    let field = w.field()?;
    let text = match w.get("html", &field.id).contains("type=\"date\"") {
        true => format!("{year:04}-{month:02}-{day:02}"),
        false => wanted,
    };
    w.fill(&field, &text);
    w.submit()
}

fn enter_time(w: &mut Wob<'_, '_>) -> Option<()> {
    let wanted = w.between("Enter ", " as the time")?;
    let (clock, half) = wanted.split_once(' ')?;
    let (hour, minute) = clock.split_once(':')?;
    let hour = hour.parse::<u32>().ok()? % 12 + if half == "PM" { 12 } else { 0 };
    w.fill(&w.field()?, &format!("{hour:02}:{minute}"));
    w.submit()
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Turns the open calendar to the month, and presses the day.
fn pick(w: &mut Wob<'_, '_>, [month, day, year]: [u32; 3]) -> Option<()> {
    for _ in 0..40 {
        let read = w.look();
        let shown = |l: &ListingLine| {
            let (name, year) = l.name.split_once(' ')?;
            let month = MONTHS.iter().position(|m| *m == name)?;
            Some(u32::try_from(month).ok()? + 12 * year.parse::<u32>().ok()?)
        };
        let shown = read.0.iter().find_map(shown)?;
        let wanted = month - 1 + 12 * year;
        if shown == wanted {
            let day = read.get("link", &day.to_string())?;
            w.press(day);
            return Some(());
        }
        let turn = if shown > wanted { "Prev" } else { "Next" };
        let turn = read.0.iter().find(|l| l.name == turn && !l.id.is_empty())?;
        w.act(turn, &["press", "{}"]);
    }
    None
}

fn choose(w: &mut Wob<'_, '_>) -> Option<()> {
    let wanted = date(&w.between("Select ", " as the date")?)?;
    let field = w.field()?;
    w.act(&field, &["press", "{}", "--settle"]);
    pick(w, wanted)?;
    w.submit()
}
