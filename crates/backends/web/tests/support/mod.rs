//! A browser per test, and a small server whose pages report what they received.
#![allow(dead_code, reason = "each test file uses its part")]

use std::path::PathBuf;
use std::time::Duration;
use stickpin_backend_web::{WebConfig, WebDevice, WebProvider};
use stickpin_kernel::ErrorCode;
use stickpin_kernel::device::{CancellationToken, OpenRequest};

/// A folder and a browser with an empty tab in it; `None`, with a word about it, where no browser is installed.
pub async fn start() -> Option<(tempfile::TempDir, WebDevice)> {
    let dir = tempfile::tempdir().unwrap();
    match provider().start(&request(&dir, "about:blank")).await {
        Ok(device) => Some((dir, device)),
        Err(e)
            if e.code == ErrorCode::ToolMissing
                && std::env::var_os("STICKPIN_REQUIRE_CHROMIUM").is_none() =>
        {
            eprintln!("skipped: {e} ({})", e.hint);
            None
        }
        Err(e) => panic!("{e} ({})", e.hint),
    }
}

pub fn provider() -> WebProvider {
    WebProvider::new(WebConfig {
        chromium: std::env::var_os("STICKPIN_CHROMIUM").map(PathBuf::from),
        path: std::env::var_os("PATH"),
        no_sandbox: false,
    })
}

pub fn request(dir: &tempfile::TempDir, what: &str) -> OpenRequest {
    OpenRequest {
        what: what.to_owned(),
        session: "test".to_owned(),
        dir: dir.path().to_owned(),
        headed: false,
        viewport: Some((1000, 700)),
        profile: None,
        ready_timeout: Duration::from_secs(10),
        cancel: CancellationToken::new(),
    }
}
