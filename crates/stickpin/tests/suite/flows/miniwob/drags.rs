//! Tasks that are solved by dragging: by refs, and by points of a picture.

use super::{Task, Wob};

pub const TASKS: &[Task] = &[("drag-box", drag_box), ("resize-textarea", resize)];

fn drag_box(w: &mut Wob<'_, '_>) -> Option<()> {
    w.run(&["drag", "text=\"s\"", "text=\"L\""]);
    w.submit()
}

/// Resizes a box. The handle is a corner that no snapshot shows, so it is located in a screenshot.
fn resize(w: &mut Wob<'_, '_>) -> Option<()> {
    let by = if w.goal.contains("larger") { 15.0 } else { -15.0 };
    let (right, down) = if w.goal.contains("width") { (by, 0.0) } else { (0.0, by) };
    let field = w.field()?;
    let [left, top, width, height] = w.rect(&field)?;
    w.picture();
    // This point is inside the border of the box.
    let (x, y) = (left + width - 4.0, top + height - 4.0);
    w.run(&["drag", &format!("{x},{y}"), &format!("{},{}", x + right, y + down)]);
    w.submit()
}
