//! Tests on a real display: a private one per test, with a window of our own on it that says what it received.

mod again;
mod aimed;
mod capture;
mod display;
mod focus;
pub(crate) mod heap;
mod held;
mod life;
mod looked;
pub(crate) mod peer;
mod private;
mod select;
pub(crate) mod speaker;
mod window;

use crate::app_dirs::AppDirs;
use crate::display::X11;
use crate::display::server::Address;
use crate::opening::Opening;
use crate::private::Private;

/// Set by who wants a run without the desktop to fail.
const REQUIRE: &str = "STICKPIN_REQUIRE_DESKTOP";

/// A private display; none, with a word, where there are no programs for it.
pub(crate) async fn desktop(dir: &std::path::Path) -> Option<Private> {
    let path = std::env::var_os("PATH");
    match Private::start(dir, &AppDirs::temporary(dir), None, path.as_deref(), &opening()).await {
        Ok(private) => Some(private),
        Err(e) if std::env::var_os(REQUIRE).is_none() => {
            eprintln!("skipped: {e}");
            None
        }
        Err(e) => panic!("{e}"),
    }
}

/// An opening that nobody ends.
fn opening() -> Opening {
    Opening::begin(&stickpin_device::CancellationToken::new())
}

/// How to get to it.
fn address(private: &Private, shared: bool) -> Address {
    Address { name: private.display.clone(), cookie: Some(private.cookie.clone()), shared }
}

/// A connection to it.
pub(crate) async fn connect(private: &Private) -> X11 {
    X11::connect(address(private, false), opening().until).await.expect("a display")
}
