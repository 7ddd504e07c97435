//! Tests on a real display: a private one per test, with a window of our own that reports what it
//! receives.

mod accesskit;
pub(crate) mod action_prefetch;
mod capture;
pub(crate) mod heap;
mod held_input;
mod life;
pub(crate) mod peer;
mod pointer_aim;
mod private;
mod readahead;
mod recapture;
mod removed;
mod select;
#[path = "../../../../testkit/src/skip.rs"]
mod skip;
pub(crate) mod speaker;
mod tables;
#[path = "../../../../x11desk/src/tests/window.rs"]
mod window;

use crate::screen::Screen;
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;
use stickpin_device::{CancellationToken, Result};
use stickpin_x11desk::{Home, PrivateDisplay, X11, windows};
use tokio::time::Instant;

/// Set by environments in which a run without the desktop must fail.
const REQUIRE: &str = "STICKPIN_REQUIRE_DESKTOP";

/// Starts a private display. Returns `None` and prints the reason if the programs are not
/// installed.
pub(crate) async fn desktop(dir: &Path) -> Option<(PrivateDisplay, X11)> {
    let path = std::env::var_os("PATH");
    match start(dir, path.as_deref(), soon()).await {
        Ok(started) => Some(started),
        Err(e) => {
            skip::skipped(REQUIRE, e);
            None
        }
    }
}

/// Starts a private display with the programs in `path`.
async fn start(dir: &Path, path: Option<&OsStr>, until: Instant) -> Result<(PrivateDisplay, X11)> {
    PrivateDisplay::start(dir, Home::temporary(dir), None, path, until, &CancellationToken::new()).await
}

/// Returns the deadline for a display that is started now.
fn soon() -> Instant {
    Instant::now() + Duration::from_secs(45)
}

/// Shows a window of this process on a private display, and waits until the display lists it.
/// Returns the window and its screen, or `None` as [`desktop`] does.
async fn shown_window(dir: &Path) -> Option<(window::TestWindow, Screen)> {
    let (private, x11) = desktop(dir).await?;
    let window = window::TestWindow::show(&private, "Window", (0, 0, 600, 500));
    let screen = Screen::own(private, x11.clone());
    while !x11.run(windows::list_windows).await.unwrap().iter().any(|w| w.id == window.id) {
        tokio::task::yield_now().await;
    }
    Some((window, screen))
}
