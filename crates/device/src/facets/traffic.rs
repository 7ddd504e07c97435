//! Requests and downloads of an app.

use crate::error::Result;
use crate::setters::setters;
use async_trait::async_trait;
use std::path::PathBuf;
use std::time::Duration;
use stickpin_tree::{quote, quote_url};

/// The HTTP methods that are shown without quotes; any other method is text from the page.
const METHODS: &[&str] = &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"];

/// Describes a request: `GET "http://127.0.0.1/api/orders"`. Text that the page chose is quoted.
#[must_use]
pub fn describe_request(method: &str, url: &str) -> String {
    let method = if METHODS.contains(&method) { method.to_owned() } else { quote(method) };
    format!("{method} {}", quote_url(url))
}

/// A network request that the app sent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NetworkRequest {
    /// The HTTP method.
    pub method: String,
    /// The whole address.
    pub url: String,
    /// How the request ended; `None` while it is in progress.
    pub end: Option<RequestEnd>,
    /// How long the request took, or has taken so far.
    pub duration: Duration,
    /// Whether a wait for network idle counts the request. Connections that stay open, beacons and
    /// media do not count.
    pub counts: bool,
}

impl NetworkRequest {
    /// Creates a request that is in progress and counts.
    #[must_use]
    pub fn new(method: String, url: String) -> Self {
        Self { method, url, end: None, duration: Duration::ZERO, counts: true }
    }
}

setters!(NetworkRequest { end: Option<RequestEnd>, duration: Duration, counts: bool });

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestEnd {
    /// The request was answered with this HTTP status.
    Status(u16),
    /// The request failed, for this reason.
    Failed(String),
}

/// A download.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Download {
    /// The file name on this machine.
    pub name: String,
    /// The number of bytes received.
    pub received: u64,
    /// The total number of bytes, if known.
    pub total: Option<u64>,
    /// The state of the download.
    pub state: DownloadState,
}

impl Download {
    /// Creates a download of which nothing has been received yet.
    #[must_use]
    pub fn new(name: String, state: DownloadState) -> Self {
        Self { name, received: 0, total: None, state }
    }
}

setters!(Download { received: u64, total: Option<u64> });

/// The state of a download.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DownloadState {
    /// In progress.
    UnderWay,
    /// Complete; the file is at this path.
    Done(PathBuf),
    /// Cancelled or interrupted, for this reason.
    Failed(String),
}

/// Requests and downloads since the last action began
/// ([`Lifecycle::act_begins`](super::Lifecycle::act_begins)).
#[async_trait]
pub trait Traffic: Send {
    /// Returns the requests that have begun since the start of the last action or were in progress
    /// at that time, oldest first and limited in number.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED` or `BACKEND_LOST`.
    async fn requests(&mut self) -> Result<Vec<NetworkRequest>>;

    /// Returns the downloads that have begun since the start of the last action or were in progress
    /// at that time, oldest first and limited in number.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED` or `BACKEND_LOST`.
    async fn downloads(&mut self) -> Result<Vec<Download>>;
}
