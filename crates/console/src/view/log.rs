//! The log pane: the newest rows at the bottom.

use super::text::{cut, put, width, wrap};
use super::theme::Theme;
use crate::model::app::App;
use crate::model::log::{CallOutcome, Row};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

/// The minimum width, in columns, at which rows begin with the time.
const ROOMY: u16 = 44;

/// The maximum width of a caller's name, in columns.
const MAX_WHO: u16 = 18;

pub(super) fn draw(app: &App, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let rows = app.log.rows();
    let shown = rows.len() - app.log.below().min(rows.len());
    let mut bottom = area.bottom();
    for row in rows.range(..shown).rev() {
        if bottom <= area.top() {
            return;
        }
        match row {
            Row::Call { time, who, what, outcome, .. } => {
                bottom -= 1;
                let line = Rect { y: bottom, height: 1, ..area };
                call(app, theme, line, (time, who, what, outcome), buffer);
            }
            Row::Note { time, who, what } => {
                let text = format!("{}{} {what}", at(time, area), name(app, who));
                bottom = lines(&text, theme.dim(), area, bottom, buffer);
            }
            Row::Typed(text) => bottom = lines(&format!("> {text}"), theme.strong(), area, bottom, buffer),
            Row::Answer(text) => bottom = lines(&format!("  {text}"), theme.plain(), area, bottom, buffer),
            Row::Error(text) => bottom = lines(&format!("! {text}"), theme.failure(), area, bottom, buffer),
        }
    }
}

/// Draws a wrapped text above the row `bottom`, and returns the first row of the text.
fn lines(text: &str, style: Style, area: Rect, mut bottom: u16, buffer: &mut Buffer) -> u16 {
    for line in wrap(text, area.width).iter().rev() {
        if bottom <= area.top() {
            break;
        }
        bottom -= 1;
        put(buffer, Rect { y: bottom, height: 1, ..area }, line, style);
    }
    bottom
}

fn at(time: &str, area: Rect) -> String {
    if area.width >= ROOMY { format!("{time} ") } else { String::new() }
}

fn name<'a>(app: &App, who: &'a str) -> &'a str {
    match app.turn.me() {
        Some(me) if me.agent_id == who => "you",
        _ => who,
    }
}

/// Draws a call: time, caller and command, with the outcome at the right end.
fn call(
    app: &App,
    theme: Theme,
    line: Rect,
    (time, who, what, outcome): (&str, &str, &str, &CallOutcome),
    buffer: &mut Buffer,
) {
    let words = outcome.words();
    let mut rest = line;
    let mut column = |text: &str, most: u16, style: Style| {
        let text = cut(text, most.min(rest.width));
        put(buffer, rest, &text, style);
        let used = u16::try_from(width(&text) + 1).unwrap_or(u16::MAX).min(rest.width);
        rest = Rect { x: rest.x + used, width: rest.width - used, ..rest };
    };
    if line.width >= ROOMY {
        column(time, 8, theme.dim());
    }
    column(name(app, who), MAX_WHO.min(line.width / 3), theme.who());
    let outcome_width = u16::try_from(width(&words)).unwrap_or(u16::MAX);
    let most = rest.width.saturating_sub(outcome_width + 1);
    let text = cut(what, most);
    put(buffer, rest, &text, theme.plain());
    let style = match outcome {
        CallOutcome::Failed(..) => theme.failure(),
        CallOutcome::Ok(_) | CallOutcome::Running => theme.dim(),
    };
    let words = cut(&words, rest.width);
    let x = line.right().saturating_sub(u16::try_from(width(&words)).unwrap_or(u16::MAX)).max(rest.x);
    put(buffer, Rect { x, width: line.right() - x, ..line }, &words, style);
}
