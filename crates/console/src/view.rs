//! Draws the state of the console. Text from an app or an agent is escaped before it arrives here.
//! All text is escaped when it is drawn, so that no text can leave its cell.

mod log;
#[cfg(test)]
mod tests;
mod text;
mod theme;
mod tree;

pub(crate) use theme::Theme;

use crate::model::app::{App, Focus, Phase, WIDE};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};
use ratatui_core::terminal::Frame;
use stickpin_tree::format_count;
use text::{cut, put, width};

/// Draws the whole screen.
pub(crate) fn draw(app: &App, theme: Theme, frame: &mut Frame<'_>) {
    let area = frame.area();
    let cursor = render(app, theme, area, frame.buffer_mut());
    if let Some(cursor) = cursor {
        frame.set_cursor_position(cursor);
    }
}

/// Draws into a buffer and returns the position of the cursor, if the cursor is shown.
fn render(app: &App, theme: Theme, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    if area.width == 0 || area.height == 0 {
        return None;
    }
    let row = |from_bottom: u16| Rect {
        y: area.bottom().saturating_sub(from_bottom),
        height: u16::from(from_bottom <= area.height),
        ..area
    };
    let title_height = u16::from(area.height >= 4);
    let body_height = area.height.saturating_sub(title_height + 2);
    let body = Rect { y: area.y + title_height, height: body_height, ..area };
    if title_height > 0 {
        title(app, theme, Rect { height: 1, ..area }, buffer);
    }
    panes(app, theme, body, buffer);
    offer(app, theme, body, buffer);
    if area.height >= 2 {
        status(app, theme, row(2), buffer);
    }
    prompt(app, theme, row(1), buffer)
}

fn title(app: &App, theme: Theme, area: Rect, buffer: &mut Buffer) {
    buffer.set_style(area, theme.bar());
    let text = format!(" {}  {}", app.session, app.tree.header);
    put(buffer, area, &cut(&text, area.width), theme.bar());
}

fn panes(app: &App, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let in_tree = app.focus != Focus::Prompt;
    if area.width < WIDE {
        return match in_tree {
            true => tree::draw(app, theme, area, buffer),
            false => log::draw(app, theme, area, buffer),
        };
    }
    let left = area.width * 2 / 5;
    tree::draw(app, theme, Rect { width: left, ..area }, buffer);
    for y in area.top()..area.bottom() {
        put(buffer, Rect { x: area.x + left, y, width: 1, height: 1 }, "│", theme.dim());
    }
    let right = Rect { x: area.x + left + 2, width: area.width.saturating_sub(left + 2), ..area };
    log::draw(app, theme, right, buffer);
}

/// Shows the matching words, or a hint, over the lowest row of the panes.
fn offer(app: &App, theme: Theme, body: Rect, buffer: &mut Buffer) {
    let text = match (&app.hint, app.completion.candidates.as_slice()) {
        (Some(hint), _) => hint.clone(),
        (None, []) => return,
        (None, words) => words.join("  "),
    };
    let Some(y) = body.bottom().checked_sub(1).filter(|_| body.height > 0) else { return };
    let area = Rect { y, height: 1, ..body };
    let blank = " ".repeat(usize::from(area.width));
    put(buffer, area, &blank, theme.plain());
    put(buffer, area, &cut(&text, area.width), theme.offer());
}

fn status(app: &App, theme: Theme, area: Rect, buffer: &mut Buffer) {
    buffer.set_style(area, theme.bar());
    let mut words = vec![match &app.phase {
        Phase::Connecting => "connecting".to_owned(),
        Phase::Live => app.turn.holder(),
        Phase::Absent => "no session yet: type `open URL`".to_owned(),
        Phase::Ended => "session ended".to_owned(),
        Phase::Lost(why) => format!("cannot read the session: {why}"),
    }];
    if app.running {
        words.push("running, Ctrl-C cancels".to_owned());
    }
    if app.log.below() > 0 {
        words.push(format!("{} more below, Esc returns", app.log.below()));
    }
    if let (Phase::Live, Some(me)) = (&app.phase, app.turn.me()) {
        words.push(me.role.clone());
        words.push(me.agent_id.clone());
    }
    if app.turn.open_notes > 0 {
        words.push(format_count(app.turn.open_notes, "open note"));
    }
    words.push(match app.focus {
        Focus::Prompt => "Shift-Tab tree".to_owned(),
        Focus::Tree | Focus::Search => "Esc prompt, / search, Enter inserts".to_owned(),
    });
    put(buffer, area, &cut(&format!(" {}", words.join(" · ")), area.width), theme.bar());
}

/// Draws the typed text, scrolled so that the cursor is visible.
fn prompt(app: &App, theme: Theme, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    let (label, typed, before) = match app.focus {
        Focus::Search => ("/".to_owned(), app.search.as_str(), app.search.as_str()),
        _ if usize::from(area.width) < width(&app.session) + 20 => {
            ("> ".to_owned(), app.prompt.text(), app.prompt.before_cursor())
        }
        _ => (format!("{}> ", app.session), app.prompt.text(), app.prompt.before_cursor()),
    };
    put(buffer, area, &label, theme.strong());
    let indent = u16::try_from(width(&label)).unwrap_or(u16::MAX).min(area.width);
    let room = Rect { x: area.x + indent, width: area.width - indent, ..area };
    let (typed, before) = (text::shown(typed), text::shown(before));
    let skipped = text::skip(&before, usize::from(room.width.saturating_sub(1)));
    put(buffer, room, &typed[skipped..], theme.plain());
    let column = u16::try_from(width(&before[skipped..])).unwrap_or(u16::MAX);
    (app.focus != Focus::Tree && room.width > 0).then(|| Position { x: room.x + column, y: room.y })
}
