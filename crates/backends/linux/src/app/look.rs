//! What lies on the display, and where an element is there.

use crate::screen::Screen;
use stickpin_device::Result;
use stickpin_tree::Rect;
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
        let (windows, (width, height)) = x11.run(|d| Ok((windows::all(d)?, d.size()))).await?;
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
