//! The tree pane. Only the lines on the screen are processed, however long the outline is.

use super::text::{cut, put};
use super::theme::Theme;
use crate::model::app::{App, Focus};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

/// The minimum width, in columns, at which each level of elements is indented by two columns.
const ROOMY: u16 = 40;

pub(super) fn draw(app: &App, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let tree = &app.tree;
    if tree.is_empty() {
        let text = app.tree_error.as_deref().unwrap_or("no snapshot yet");
        return put(buffer, area, &cut(text, area.width), theme.dim());
    }
    let height = usize::from(area.height);
    let first = tree.selected().saturating_sub(height / 2).min(tree.len().saturating_sub(height));
    for (row, position) in (first..tree.len()).take(height).enumerate() {
        let Some((depth, mark, text)) = tree.row(position) else { return };
        let Some(y) = u16::try_from(row).ok().map(|row| area.y + row) else { return };
        let step = if area.width >= ROOMY { 2 } else { 1 };
        // A deep element is still visible.
        let indent = depth.saturating_mul(step).min(area.width / 2);
        let line = Rect { y, height: 1, ..area };
        let is_selected = position == tree.selected() && app.focus != Focus::Prompt;
        let style = if is_selected { theme.selected() } else { theme.plain() };
        if is_selected {
            buffer.set_style(line.intersection(buffer.area), style);
        }
        let fold = Rect { x: line.x + indent, width: line.width - indent, ..line };
        put(buffer, fold, &mark.to_string(), if is_selected { style } else { theme.dim() });
        let rest = Rect { x: fold.x + 1, width: fold.width.saturating_sub(1), ..fold };
        put(buffer, rest, &cut(text, rest.width), style);
        let name = text.split(' ').next().filter(|name| name.starts_with("@e") && !is_selected);
        if let Some(name) = name {
            put(buffer, rest, &cut(name, rest.width), theme.reference());
        }
    }
}
