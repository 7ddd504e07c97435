//! The windows of the display, the position of an element, and the answers that one step of an
//! action passes to the next.

use crate::app::App;
use crate::model::Point;
use std::time::{Duration, Instant};
use stickpin_device::Result;
use stickpin_tree::{Handle, Rect};
use stickpin_x11desk::{Window, X11, windows};

/// The windows on the screen, as the X server reports them.
#[derive(Debug)]
pub(crate) struct WindowStack {
    pub(crate) x11: X11,
    /// The windows, lowest first.
    pub(crate) windows: Vec<Window>,
    /// The area of the whole screen.
    pub(crate) screen: Rect,
}

impl WindowStack {
    /// Reads the windows of an app's display; `None` if there is no display.
    pub(crate) async fn of(app: &App) -> Result<Option<Self>> {
        let Some(x11) = app.screen.x11_if_any().await? else { return Ok(None) };
        Self::read(x11).await.map(Some)
    }

    /// Reads the windows of a display.
    pub(crate) async fn read(x11: X11) -> Result<Self> {
        let (windows, screen) = x11.run(|d| Ok((windows::list_windows(d)?, d.area()))).await?;
        Ok(Self { x11, windows, screen })
    }

    /// Returns the child of the root window that currently receives an input at a point; `None` if
    /// that is the root window itself.
    pub(crate) async fn top(&self, (x, y): Point) -> Result<Option<u32>> {
        self.x11.run(move |d| windows::toplevel_at(d, x, y)).await
    }

    /// Returns the window that currently receives an input at a point, if it is one of `windows`.
    pub(crate) async fn at(&self, point: Point) -> Result<Option<&Window>> {
        let top = self.top(point).await?;
        Ok(self.windows.iter().find(|w| w.is_in(top)))
    }
}

/// The position of an element on the screen.
#[derive(Debug)]
pub(crate) struct ElementPosition {
    pub(crate) rect: Rect,
    /// The part that the element's scroll containers show; `None` if they show none of it.
    pub(crate) seen: Option<Rect>,
    /// The offset from the toolkit's coordinates to screen coordinates.
    pub(crate) offset: Point,
    /// The rectangle of the element's window in the toolkit's coordinates.
    pub(crate) frame: Option<Rect>,
}

/// How long answers are valid for the next step of an action. A change that is not signaled could
/// just as well happen while an answer is on its way.
pub(crate) const FRESH: Duration = Duration::from_millis(50);

/// An app's answers about an element that is pressed through its own action, for the next steps of
/// the same action: the aim and the press. Valid until the app signals a change, or [`FRESH`] has
/// passed.
#[derive(Debug)]
pub(crate) struct ActionPrefetch {
    pub(crate) of: Handle,
    /// The app's change count when the answers were received.
    pub(crate) changes: u64,
    /// The time when the answers were received.
    pub(crate) at: Instant,
    /// The context of the element's record.
    pub(crate) context: Vec<Handle>,
    /// Rectangles in the toolkit's coordinates: those of the element, its scroll containers and its
    /// window, then those of the objects that may cover the element in that window.
    pub(crate) rects: [Vec<Option<Rect>>; 2],
    /// The windows on the screen; `None` if there is no display.
    pub(crate) stack: Option<WindowStack>,
    /// The names of the element's actions.
    pub(crate) actions: Vec<String>,
}

impl ActionPrefetch {
    /// Returns whether the answers are about this element and still valid.
    pub(crate) fn is_fresh(&self, app: &App, of: Handle) -> bool {
        self.of == of && self.at.elapsed() < FRESH && app.events.state().changes == self.changes
    }
}
