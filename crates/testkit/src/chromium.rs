//! Whether suites on a real browser can run here.

use std::env;
use stickpin_backend_web::{WebConfig, WebProvider};

/// A provider for the browser of this machine. `None`, said on stderr, where there is none.
///
/// # Panics
/// If there is none although `STICKPIN_REQUIRE_CHROMIUM` is set: a machine that was set up must not skip.
#[must_use]
pub fn chromium() -> Option<WebProvider> {
    let path = env::var_os("PATH").unwrap_or_default();
    let chosen = env::var_os("STICKPIN_CHROMIUM").map(Into::into);
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let there =
        chosen.is_some() || env::split_paths(&path).any(|dir| names.iter().any(|n| dir.join(n).is_file()));
    if !there {
        assert!(
            env::var_os("STICKPIN_REQUIRE_CHROMIUM").is_none(),
            "no Chromium on the path, and it is required"
        );
        eprintln!("skipped: no Chromium on the path; `cargo xtask setup` installs it");
        return None;
    }
    Some(WebProvider::new(WebConfig { chromium: chosen, path: Some(path), ..WebConfig::default() }))
}
