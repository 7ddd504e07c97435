//! Tests on a real display: a private one per test, with a window of our own that reports what it
//! receives.

mod display;
mod focus;
mod private;
mod probes;
mod window;

#[path = "../../../testkit/src/skip.rs"]
mod skip;

use crate::X11;
use crate::address::Address;
use crate::private::{Home, PrivateDisplay};
use std::time::Duration;
use stickpin_device::{CancellationToken, Result};
use tokio::time::Instant;

/// Set by environments in which a run without the desktop must fail.
const REQUIRE: &str = "STICKPIN_REQUIRE_DESKTOP";

/// Starts a private display. Returns `None` and prints the reason if the programs are not
/// installed.
pub(crate) async fn desktop(dir: &std::path::Path) -> Option<PrivateDisplay> {
    match start(dir, std::env::var_os("PATH").as_deref()).await {
        Ok(private) => Some(private),
        Err(e) => {
            skip::skipped(REQUIRE, e);
            None
        }
    }
}

/// Starts a private display with the programs in `path`.
async fn start(dir: &std::path::Path, path: Option<&std::ffi::OsStr>) -> Result<PrivateDisplay> {
    let cancel = CancellationToken::new();
    let started = PrivateDisplay::start(dir, Home::temporary(dir), None, path, soon(), &cancel).await;
    started.map(|(private, _)| private)
}

/// Returns the deadline for a display that is started now.
fn soon() -> Instant {
    Instant::now() + Duration::from_secs(45)
}

/// Returns the address of the display.
fn address(private: &PrivateDisplay, shared: bool) -> Address {
    Address { shared, ..private.address() }
}

/// Connects to the display.
pub(crate) async fn connect(private: &PrivateDisplay) -> X11 {
    X11::connect(address(private, false), soon()).await.expect("a display")
}
