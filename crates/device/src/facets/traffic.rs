//! What an app exchanges with the world outside: requests and downloads.

use crate::error::Result;
use async_trait::async_trait;
use std::path::PathBuf;
use std::time::Duration;
use stickpin_tree::{quote, quote_url};

/// Methods that stand for themselves; another one is a word of the page.
const METHODS: &[&str] = &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"];

/// `GET "http://127.0.0.1/api/orders"`: a request in words. What the page chose of it stands in quotes.
#[must_use]
pub fn request_words(method: &str, url: &str) -> String {
    let method = if METHODS.contains(&method) { method.to_owned() } else { quote(method) };
    format!("{method} {}", quote_url(url))
}

/// A request of the app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenRequest {
    /// Method.
    pub method: String,
    /// The whole address.
    pub url: String,
    /// How it ended; none while it is under way.
    pub end: Option<RequestEnd>,
    /// How long it took, or has taken so far.
    pub took: Duration,
    /// Whether anybody would wait for it: connections that stay open, beacons and media do not count.
    pub counts: bool,
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestEnd {
    /// It was answered with this status.
    Status(u16),
    /// It was not answered, for this reason.
    Failed(String),
}

/// A file that the app gave out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    /// Its name as a file name of this machine.
    pub name: String,
    /// Bytes that are here.
    pub received: u64,
    /// Bytes in all, where that is known.
    pub total: Option<u64>,
    /// Where it stands.
    pub state: DownloadState,
}

/// Where a download stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DownloadState {
    /// Still coming.
    UnderWay,
    /// It lies here.
    Done(PathBuf),
    /// It was cancelled or broke off, for this reason.
    Failed(String),
}

/// Requests and downloads since the last act began ([`Lifecycle::act_begins`](super::Lifecycle::act_begins)).
#[async_trait]
pub trait Traffic: Send {
    /// The requests that began since the last act did, and those that were under way then, oldest first, bounded.
    ///
    /// # Errors
    /// `UNSUPPORTED`, `BACKEND_LOST`.
    async fn requests(&mut self) -> Result<Vec<SeenRequest>>;

    /// The downloads that began since the last act did, and those that were under way then, oldest first, bounded.
    ///
    /// # Errors
    /// `UNSUPPORTED`, `BACKEND_LOST`.
    async fn downloads(&mut self) -> Result<Vec<Download>>;
}
