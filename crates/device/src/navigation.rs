//! Going somewhere, and waiting until the app is quiet.

use std::fmt;
use std::time::Duration;

/// When an app counts as quiet.
#[derive(Debug, Clone, Copy)]
pub struct SettleRequest {
    /// How long nothing may move.
    pub quiet: Duration,
    /// When to give up.
    pub cap: Duration,
}

/// How waiting for quiet ended.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settled {
    /// Whether it became quiet.
    pub settled: bool,
    /// What was still moving.
    pub still: Vec<Moving>,
}

/// What still moves in an app.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Moving {
    /// A request without an answer: `GET "/api"`.
    Request(String),
    /// Anything else: `animation on div.spinner`, `mutations of ul#feed`.
    Other(String),
}

impl fmt::Display for Moving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(words) => write!(f, "request {words}"),
            Self::Other(words) => f.write_str(words),
        }
    }
}

/// Where to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Navigation {
    /// An address, or another app of the same kind.
    To(String),
    /// One step back.
    Back,
    /// One step forward.
    Forward,
    /// The same again.
    Reload,
    /// The start screen of the device.
    Home,
}

/// How a navigation ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arrived {
    /// Whether there was anywhere to go (history).
    pub moved: bool,
    /// The address now.
    pub url: String,
    /// The title now.
    pub title: String,
    /// Whether the document became ready and quiet in time.
    pub settled: bool,
}

/// What becomes of a draft when a page that asks before it is left is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Leave {
    /// The page's question waits for an answer: [`DIALOG_OPEN`](crate::ErrorCode::DialogOpen).
    #[default]
    Ask,
    /// The draft is thrown away.
    Discard,
}
