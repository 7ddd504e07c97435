//! Checks whether suites on a real browser can run on this machine.

use crate::skip::skipped;
use std::env;
use std::path::PathBuf;
use stickpin_backend_web::{WebConfig, WebProvider};
use stickpin_process::find_on_path;

/// Returns a provider for this machine's browser. Without a browser, prints a message on stderr and
/// returns `None`.
///
/// # Panics
/// Panics if there is no browser although `STICKPIN_REQUIRE_CHROMIUM` is set: a prepared machine
/// must not skip.
#[must_use]
pub fn chromium() -> Option<WebProvider> {
    chromium_path()?;
    let path = env::var_os("PATH").unwrap_or_default();
    let chosen = env::var_os("STICKPIN_CHROMIUM").map(Into::into);
    Some(WebProvider::new(WebConfig { chromium: chosen, path: Some(path), ..WebConfig::default() }))
}

/// Returns the path of the browser that [`chromium`] uses, for tools that start it themselves.
///
/// # Panics
/// Panics when [`chromium`] does.
#[must_use]
pub fn chromium_path() -> Option<PathBuf> {
    let chosen = env::var_os("STICKPIN_CHROMIUM").map(PathBuf::from);
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let found = chosen.or_else(|| find_on_path(&names, env::var_os("PATH").as_deref()));
    if found.is_none() {
        skipped("STICKPIN_REQUIRE_CHROMIUM", "no Chromium on the path; `cargo xtask setup` installs it");
    }
    found
}
