//! Tabs and windows: an app may show several trees, and one session looks at one of them at a time.

use crate::notice::Dialog;
use serde::{Deserialize, Serialize};
use stickpin_tree::SurfaceId;

/// A tab or window of the app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TabEntry {
    /// What to call it: `t1`. Never given to another one while the device is open.
    pub id: String,
    /// The address that it shows.
    pub url: String,
    /// The title; empty if it has none.
    pub title: String,
    /// Whether captures and acts are of this one.
    pub active: bool,
    /// The tab that opened it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opener: Option<String>,
    /// The dialog of this tab that waits for an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog: Option<Dialog>,
}

/// A tab that is not there any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TabEnded {
    /// What it was called.
    pub id: String,
    /// What its captures were of: none of its elements ever comes back.
    pub surface: SurfaceId,
    /// How it ended.
    pub how: TabEnd,
    /// It was the active one, and this tab is now, in words: `t1 http://127.0.0.1:3000/`.
    pub now: Option<String>,
}

/// How a tab ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TabEnd {
    /// Somebody asked us to close it.
    Asked,
    /// Its page closed it, or a person did.
    Closed,
    /// What it showed crashed.
    Crashed,
}
