//! Tests on a real display: a private one per test, with a window of our own on it that says what
//! it received.

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

/// Set by who wants a run without the desktop to fail.
const REQUIRE: &str = "STICKPIN_REQUIRE_DESKTOP";

/// A private display; none, with a word, where there are no programs for it.
pub(crate) async fn desktop(dir: &std::path::Path) -> Option<PrivateDisplay> {
    match start(dir, std::env::var_os("PATH").as_deref()).await {
        Ok(private) => Some(private),
        Err(e) => {
            skip::skipped(REQUIRE, e);
            None
        }
    }
}

/// A private display with the programs in `path`.
async fn start(dir: &std::path::Path, path: Option<&std::ffi::OsStr>) -> Result<PrivateDisplay> {
    PrivateDisplay::start(dir, Home::temporary(dir), None, path, soon(), &CancellationToken::new()).await
}

/// When an opening is too late that begins now.
fn soon() -> Instant {
    Instant::now() + Duration::from_secs(45)
}

/// How to get to it.
fn address(private: &PrivateDisplay, shared: bool) -> Address {
    Address { shared, ..private.address() }
}

/// A connection to it.
pub(crate) async fn connect(private: &PrivateDisplay) -> X11 {
    X11::connect(address(private, false), soon()).await.expect("a display")
}
