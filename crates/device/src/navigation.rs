//! Navigation, and waiting until the app is quiet.

use crate::setters::setters;
use std::fmt;
use std::time::Duration;

/// The criteria for a quiet app.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SettleRequest {
    /// How long the app must remain unchanged.
    pub quiet: Duration,
    /// The maximum time to wait.
    pub cap: Duration,
}

impl SettleRequest {
    /// Creates a request to wait until nothing has changed for `quiet`, but for at most `cap`.
    #[must_use]
    pub const fn new(quiet: Duration, cap: Duration) -> Self {
        Self { quiet, cap }
    }
}

/// The result of waiting for a quiet app.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SettleResult {
    /// Whether the app became quiet.
    pub is_quiet: bool,
    /// What was still active.
    pub pending: Vec<PendingActivity>,
}

impl SettleResult {
    /// Creates the result of a wait.
    #[must_use]
    pub fn new(settled: bool, still: Vec<PendingActivity>) -> Self {
        Self { is_quiet: settled, pending: still }
    }

    /// Creates the result of a wait that ended because the app was quiet.
    #[must_use]
    pub const fn quiet() -> Self {
        Self { is_quiet: true, pending: Vec::new() }
    }
}

/// An activity that keeps an app from being quiet.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PendingActivity {
    /// A pending request: `GET "/api"`.
    Request(String),
    /// Any other activity: `animation on div.spinner`, `mutations of ul#feed`.
    Other(String),
}

impl fmt::Display for PendingActivity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(words) => write!(f, "request {words}"),
            Self::Other(words) => f.write_str(words),
        }
    }
}

/// The destination of a navigation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Navigation {
    /// An address, or another app of the same kind.
    To(String),
    /// One step back.
    Back,
    /// One step forward.
    Forward,
    /// Reload of the current document.
    Reload,
    /// The start screen of the device.
    Home,
}

/// The result of a navigation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct NavigationResult {
    /// Whether the app navigated: false at the end of the history, if there is no start screen, or
    /// if nothing had to be done.
    pub moved: bool,
    /// The current address.
    pub url: String,
    /// The current title.
    pub title: String,
    /// Whether the new document became quiet in time, and what was still active.
    pub quiet: SettleResult,
}

setters!(NavigationResult { moved: bool, url: String, title: String, quiet: SettleResult });

/// How to leave a page that asks for confirmation, typically because of unsaved input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LeavePolicy {
    /// The page's dialog stays open, and the call fails with
    /// [`DIALOG_OPEN`](crate::ErrorCode::DialogOpen).
    #[default]
    Ask,
    /// Unsaved input is discarded.
    Discard,
}
