//! A window of the display: its area, its edges, and which windows it blocks.

use stickpin_tree::Rect;
use x11rb::protocol::xproto::Window as WindowId;

/// The widths of the four edges around a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extents {
    /// The width of the left edge, in pixels.
    pub left: u32,
    /// The width of the right edge, in pixels.
    pub right: u32,
    /// The width of the top edge, in pixels.
    pub top: u32,
    /// The width of the bottom edge, in pixels.
    pub bottom: u32,
}

/// Whether a person could see the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Visibility {
    /// On the screen, unless another window covers it.
    #[default]
    Shown,
    /// Minimized.
    Minimised,
    /// On another workspace.
    Elsewhere,
}

/// A top-level window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Window {
    /// The app's own window, without the window manager's frame.
    pub id: WindowId,
    /// The child of the root window that contains the app's window: the window itself, or the
    /// window manager's frame.
    pub frame: WindowId,
    /// The process that created the window.
    pub pid: Option<u32>,
    /// The title; empty if the window has none.
    pub title: String,
    /// The area of the app's window on the screen, including the shadow that the app draws.
    pub area: Rect,
    /// The widths of the shadow's edges (`_GTK_FRAME_EXTENTS`).
    pub shadow: Extents,
    /// The widths of the edges of the window manager's frame (`_NET_FRAME_EXTENTS`).
    pub decoration: Extents,
    /// Whether a person could see the window.
    pub visibility: Visibility,
    /// Whether the window is one that the window manager does not manage, such as a menu, a tooltip
    /// or a drop-down list.
    pub popup: bool,
    /// Whether the window blocks the input of other windows (`_NET_WM_STATE_MODAL`).
    pub modal: bool,
    /// The window that this one belongs to.
    pub transient_for: Option<WindowId>,
    /// Whether the window manager reports that the window has the focus.
    pub active: bool,
}

impl Window {
    /// Creates a window that is shown and has no frame or shadow.
    #[must_use]
    pub fn new(id: WindowId, title: &str, area: Rect) -> Self {
        Self { id, frame: id, title: title.to_owned(), area, ..Self::default() }
    }

    /// Returns the area of the window that a person perceives, without the window manager's frame.
    pub fn content(&self) -> Rect {
        grow(self.area, self.shadow, -1.0)
    }

    /// Returns the area of the window that a person perceives, including the title bar, regardless
    /// of who drew it.
    pub fn area_with_decoration(&self) -> Rect {
        grow(self.content(), self.decoration, 1.0)
    }

    /// Returns whether a person could see the window, unless another window covers it.
    pub fn is_shown(&self) -> bool {
        self.visibility == Visibility::Shown
    }

    /// Returns whether `top`, a child of the root window, is this window or its frame.
    pub fn is_in(&self, top: Option<WindowId>) -> bool {
        top == Some(self.frame) || top == Some(self.id)
    }

    /// Returns whether this window blocks the input of another one, regardless of their positions.
    /// A modal window that has no parent and is not a popup blocks all windows of other processes
    /// if the app is `alone` on its display (EWMH, `_NET_WM_STATE_MODAL`).
    pub fn blocks(&self, other: &Self, alone: bool) -> bool {
        let takes = match self.transient_for {
            Some(host) => host == other.id,
            None => alone && self.pid != other.pid && !self.popup,
        };
        self.modal && self.is_shown() && takes
    }

    /// Returns the topmost open popup of the same process.
    pub fn popup_among<'a>(&self, windows: &'a [Self]) -> Option<&'a Self> {
        let own = |w: &&Self| self.pid.is_some() && w.pid == self.pid && w.id != self.id;
        windows.iter().rev().filter(|w| w.popup && w.is_shown()).find(own)
    }

    /// Describes the window for messages.
    pub fn describe(&self) -> String {
        match (self.popup, self.title.is_empty()) {
            (true, _) => "a pop-up window".to_owned(),
            (false, true) => "a window without a title".to_owned(),
            (false, false) => format!("the window {}", stickpin_tree::quote(&self.title)),
        }
    }
}

/// Grows a rectangle by these edges, multiplied by `times`; shrinks it if `times` is negative.
fn grow(Rect { x, y, width, height }: Rect, edges: Extents, times: f64) -> Rect {
    let Extents { left, right, top, bottom } = edges;
    let [left, right, top, bottom] = [left, right, top, bottom].map(|edge| f64::from(edge) * times);
    let (width, height) = ((width + left + right).max(0.0), (height + top + bottom).max(0.0));
    Rect { x: x - left, y: y - top, width, height }
}

/// Converts the server's integers to a rectangle in pixels.
pub(crate) fn pixels((x, y): (i16, i16), (width, height): (u16, u16)) -> Rect {
    Rect { x: x.into(), y: y.into(), width: width.into(), height: height.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window() -> Window {
        Window {
            pid: Some(3),
            shadow: Extents { left: 10, right: 12, top: 8, bottom: 20 },
            decoration: Extents { left: 1, right: 1, top: 20, bottom: 5 },
            ..Window::new(1, "Calc\u{202e}", Rect { x: 100.0, y: 50.0, width: 400.0, height: 300.0 })
        }
    }

    #[test]
    fn a_window_is_its_content_and_what_is_around_it() {
        let w = window();
        assert_eq!(w.content(), Rect { x: 110.0, y: 58.0, width: 378.0, height: 272.0 });
        assert_eq!(w.area_with_decoration(), Rect { x: 109.0, y: 38.0, width: 380.0, height: 297.0 });
        let tiny = Window { area: Rect { x: 0.0, y: 0.0, width: 5.0, height: 5.0 }, ..w };
        assert_eq!((tiny.content().width, tiny.content().height), (0.0, 0.0));
    }

    #[test]
    fn a_modal_window_takes_the_input_of_the_one_that_it_belongs_to() {
        let main = Window { id: 9, ..window() };
        let dialog = |pid, transient_for| Window { modal: true, pid, transient_for, ..window() };
        let blocks = |dialog: &Window| (dialog.blocks(&main, false), dialog.blocks(&main, true));
        assert_eq!(blocks(&dialog(Some(3), Some(9))), (true, true));
        assert_eq!(blocks(&dialog(Some(4), Some(8))), (false, false));
        assert_eq!(
            blocks(&dialog(Some(4), None)),
            (false, true),
            "of a portal that was not told whose it is"
        );
        assert_eq!(blocks(&dialog(Some(3), None)), (false, false), "the app knows its own");
        assert_eq!(blocks(&Window { modal: false, ..dialog(Some(4), Some(9)) }), (false, false));
        let minimised = Window { visibility: Visibility::Minimised, ..dialog(Some(4), Some(9)) };
        assert_eq!(blocks(&minimised), (false, false));
    }

    #[test]
    fn titles_are_escaped_and_popups_have_none() {
        assert!(!window().describe().contains('\u{202e}'));
        assert_eq!(Window { popup: true, ..window() }.describe(), "a pop-up window");
        assert_eq!(Window { title: String::new(), ..window() }.describe(), "a window without a title");
    }
}
