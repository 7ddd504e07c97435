//! Tasks with drawings: shapes of a picture, boxes of a color.

use super::{Task, Wob};
use stickpin_testkit::ListingLine;

pub const TASKS: &[Task] =
    &[("grid-coordinate", coordinate), ("click-color", colour), ("click-shades", shades)];

/// Presses each point of the drawing separately.
fn coordinate(w: &mut Wob<'_, '_>) -> Option<()> {
    let wanted = w.between("grid coordinate ", ".")?;
    let read = w.look_at_controls();
    let point = read.0.iter().find(|l| l.suffix.contains(&format!("id=\"{wanted}\"")))?;
    w.press(point);
    Some(())
}

/// Returns the colored elements, with the color in their markup.
fn coloured(w: &mut Wob<'_, '_>) -> Vec<(ListingLine, String)> {
    let boxes: Vec<ListingLine> = w.look_at_controls().all("clickable").into_iter().cloned().collect();
    let mut found = Vec::new();
    for line in boxes {
        let html = w.get("html", &line.id);
        if let Some(colour) = html.split("data-color=\"").nth(1).and_then(|rest| rest.split('"').next()) {
            found.push((line, colour.to_owned()));
        }
    }
    found
}

fn colour(w: &mut Wob<'_, '_>) -> Option<()> {
    // The wanted color is a word, or drawn.
    let html = w.get("html", "css=\"#query\"");
    let drawn = html.split("background-color: ").nth(1).and_then(|rest| rest.split(';').next());
    let wanted = drawn.map(str::to_owned).or_else(|| w.between("Click on the ", " colored"))?;
    let (line, _) = coloured(w).into_iter().find(|(_, colour)| *colour == wanted)?;
    w.press(&line);
    Some(())
}

fn shades(w: &mut Wob<'_, '_>) -> Option<()> {
    let wanted = w.between("shades of ", " and")?;
    for (line, _) in coloured(w).into_iter().filter(|(_, colour)| *colour == wanted) {
        w.press(&line);
    }
    w.submit()
}
