//! What lies on the display, where an element is there, and what is handed on from one question of
//! an act to the next.

use crate::app::App;
use crate::screen::Screen;
use std::time::{Duration, Instant};
use stickpin_device::Result;
use stickpin_tree::{Handle, Rect};
use stickpin_x11desk::{Window, X11, windows};

/// What lies where on the screen, as the X server says it.
#[derive(Debug)]
pub(crate) struct Sight {
    pub(crate) x11: X11,
    /// The lowest first.
    pub(crate) windows: Vec<Window>,
    /// The whole screen.
    pub(crate) screen: Rect,
}

impl Sight {
    /// What the display of a session shows, where there is one.
    pub(crate) async fn of(screen: &Screen) -> Result<Option<Self>> {
        let Some(x11) = screen.x11_if_any().await? else { return Ok(None) };
        let (windows, screen) = x11.run(|d| Ok((windows::all(d)?, d.area()))).await?;
        Ok(Some(Self { x11, windows, screen }))
    }

    /// The window that an input at a point goes to now, if it is among those that were there.
    pub(crate) async fn at(&self, (x, y): (f64, f64)) -> Result<Option<&Window>> {
        let top = self.x11.run(move |d| windows::top_at(d, x, y)).await?;
        Ok(self.windows.iter().find(|w| top == Some(w.frame) || top == Some(w.id)))
    }
}

/// A place of an element on the screen.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) rect: Rect,
    /// What of it its scrolling containers show.
    pub(crate) seen: Option<Rect>,
    /// What has to be added to positions of this toolkit there.
    pub(crate) offset: (f64, f64),
    /// Where the toolkit says that its window is.
    pub(crate) frame: Option<Rect>,
}

/// What an app says of the places that an aim at an element is told by.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// Those of the element, of what it scrolls in, and of its window.
    pub(crate) own: Vec<Option<Rect>>,
    /// Those of what may lie over it in its window.
    pub(crate) over: Vec<Option<Rect>>,
}

/// How long an answer is good for the next question of an act: what comes about without a word in
/// this time may as well come about while an answer is on its way.
pub(crate) const FRESH: Duration = Duration::from_millis(50);

/// What an app answered of an element in one moment of an act, for the next question of the same
/// act. It is good until the app signals a change, or [`FRESH`] is over.
#[derive(Debug)]
pub(crate) struct Momentary<T> {
    of: Handle,
    /// How often the app had changed by then.
    changes: u64,
    at: Instant,
    answer: T,
}

impl<T> Momentary<T> {
    /// What was answered just now, when the app had changed so often.
    pub(crate) fn new(of: Handle, changes: u64, answer: T) -> Self {
        Self { of, changes, at: Instant::now(), answer }
    }

    /// The answer, if it is of this element and still good.
    pub(crate) fn still(&self, app: &App, of: Handle) -> Option<&T> {
        let good = self.of == of && self.at.elapsed() < FRESH && app.heard.state().changes == self.changes;
        good.then_some(&self.answer)
    }
}

/// What comes along with a look at an element that is pressed by its own action, as it is needed
/// for the aim and the press.
#[derive(Debug)]
pub(crate) struct Ahead {
    /// What its record was told by.
    pub(crate) context: Vec<Handle>,
    pub(crate) places: Places,
    /// The names of its actions.
    pub(crate) actions: Vec<String>,
    /// The paths of the windows of the app.
    pub(crate) windows: Vec<String>,
}
