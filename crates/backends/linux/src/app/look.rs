//! What lies on the display, and one look at an element that a press reaches by its own action: where it is, that it is
//! still the one, and which actions it has, asked in this order and in one go (ADR 30).
//!
//! Nothing is moved on the way to such a press, so the aim takes the places that were answered, and the look that comes
//! after the aim is the one whose questions were answered behind them. Where anything was moved after all, was signalled,
//! or took long, the element is asked again.

use crate::screen::Screen;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;
use stickpin_device::Result;
use stickpin_tree::{Handle, Rect, Tree};
use stickpin_x11desk::{Window, X11};

/// A look whose answers nothing has contradicted yet.
#[derive(Debug)]
pub(crate) struct Looked {
    pub(crate) handle: Handle,
    pub(crate) context: Vec<Handle>,
    /// How often the app had changed by then.
    pub(crate) changes: u64,
    pub(crate) at: Instant,
    /// Until an aim takes them.
    pub(crate) places: Option<Places>,
    /// The windows of the display, from the aim, where there is one.
    pub(crate) windows: Option<Vec<Window>>,
}

/// A look at a target in one go with the act on it: an app answers what it is asked in the order in which it was.
#[derive(Debug)]
pub(crate) enum Glance {
    /// At this element.
    Wanted(Handle),
    /// What it told.
    Seen(Arc<Tree>),
}

/// What is to be known of where things are.
#[derive(Debug)]
pub(crate) struct Places {
    /// Of what tells where the element is.
    pub(crate) said: Vec<Option<Rect>>,
    /// Of what may lie over it.
    pub(crate) over: Vec<Option<Rect>>,
    /// The windows of the display, where there is one.
    pub(crate) sight: Option<Sight>,
}

impl Looked {
    pub(crate) fn now(handle: Handle, context: &[Handle], changes: u64, places: Places) -> Self {
        Self {
            handle,
            context: context.to_vec(),
            changes,
            at: Instant::now(),
            places: Some(places),
            windows: None,
        }
    }

    /// What an aim at an element needs not ask, once.
    pub(crate) fn places(&mut self, handle: Handle, changes: u64) -> Option<Places> {
        if self.holds(handle, changes) { self.places.take() } else { None }
    }

    /// The same, with the windows that the aim found.
    pub(crate) fn aimed(self, windows: Vec<Window>) -> Self {
        Self { windows: Some(windows), ..self }
    }

    pub(crate) fn windows(self) -> Option<Vec<Window>> {
        self.windows
    }

    /// Whether it is the look that comes after the aim at an element.
    pub(crate) fn is_after_aim(&self, handle: Handle, context: &[Handle], changes: u64) -> bool {
        self.places.is_none() && self.context == context && self.holds(handle, changes)
    }

    fn holds(&self, handle: Handle, changes: u64) -> bool {
        self.handle == handle && self.changes == changes && self.at.elapsed() < FRESH
    }
}

impl Glance {
    pub(crate) fn seen(self) -> Option<Arc<Tree>> {
        match self {
            Self::Wanted(_) => None,
            Self::Seen(tree) => Some(tree),
        }
    }
}

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
    pub(crate) async fn of(screen: &mut Screen) -> Result<Option<Self>> {
        let Some(x11) = screen.x11_if_any().await? else { return Ok(None) };
        let (windows, (width, height)) = x11.run(|d| Ok((d.windows()?, d.size()))).await?;
        let screen = Rect { x: 0.0, y: 0.0, width: f64::from(width), height: f64::from(height) };
        Ok(Some(Self { x11, windows, screen }))
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

/// How old the answers may be that an element is pressed by.
pub(crate) const FRESH: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_counts_after_the_aim_that_took_its_places_and_only_while_nothing_was_signalled() {
        let handle = |id| Handle { scope: 1, id };
        let places = || Places { said: Vec::new(), over: Vec::new(), sight: None };
        let mut looked = Looked::now(handle(1), &[handle(2)], 7, places());
        // An hour ahead: the clock of a busy machine must not decide.
        looked.at += Duration::from_secs(3600);
        assert!(!looked.is_after_aim(handle(1), &[handle(2)], 7), "nothing was aimed at");
        assert!(looked.places(handle(3), 7).is_none() && looked.places(handle(1), 8).is_none());
        assert!(looked.places(handle(1), 7).is_some());
        assert!(looked.places(handle(1), 7).is_none(), "once");
        assert!(looked.is_after_aim(handle(1), &[handle(2)], 7));
        assert!(!looked.is_after_aim(handle(3), &[handle(2)], 7), "another element");
        assert!(!looked.is_after_aim(handle(1), &[], 7), "its record is told by other elements");
        assert!(!looked.is_after_aim(handle(1), &[handle(2)], 8), "something was signalled");
        looked.at = Instant::now().checked_sub(FRESH).expect("the machine has run that long");
        assert!(!looked.is_after_aim(handle(1), &[handle(2)], 7), "it is too old");
    }
}
