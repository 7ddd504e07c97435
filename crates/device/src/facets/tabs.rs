//! Tabs and windows: an app may show several trees, and one session looks at one of them at a time.

use crate::error::Result;
use crate::navigation::{Arrived, Leave};
use crate::notice::Dialog;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use stickpin_tree::SurfaceId;
use tokio_util::sync::CancellationToken;

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

/// Tabs and windows of an app, of which one is the active one.
#[async_trait]
pub trait Tabs: Send {
    /// All tabs and windows, oldest first.
    ///
    /// # Errors
    /// `UNSUPPORTED` where there is only one, `BACKEND_LOST`.
    async fn list_tabs(&mut self) -> Result<Vec<TabEntry>>;

    /// Opens a tab in the background, makes it the active one, and goes there if an address is given. When that fails
    /// there is no such tab, and the one that was active still is.
    ///
    /// # Errors
    /// As `list_tabs` and `navigate`.
    async fn new_tab(
        &mut self,
        what: Option<&str>,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<Arrived>;

    /// Makes a tab the active one. What a person sees does not change.
    ///
    /// # Errors
    /// As `list_tabs`; `DEVICE_NOT_FOUND` when there is none of that id.
    async fn switch_tab(&mut self, id: &str) -> Result<()>;

    /// Closes a tab, and goes on with another one when it was the active one.
    ///
    /// # Errors
    /// As `switch_tab`; `DIALOG_OPEN` when the page asks before it is left, `INVALID_ARGS` for the last one.
    async fn close_tab(&mut self, id: &str, leave: Leave, cancel: &CancellationToken) -> Result<()>;

    /// Brings the active tab and its window before the person at this machine, which nothing else does.
    ///
    /// # Errors
    /// `UNSUPPORTED` where there is no window.
    async fn show_tab(&mut self) -> Result<()>;

    /// The tabs that ended since this was last asked. Where the active one is among them, the device goes on in another
    /// one from here on; until then everything about it is an error, so that no input goes to a tab that nobody chose.
    fn ended_tabs(&mut self) -> Vec<TabEnded> {
        Vec::new()
    }
}
