//! Tabs and windows: an app may show several trees, and a session reads one of them at a time.

use crate::error::Result;
use crate::navigation::{LeavePolicy, NavigationResult};
use crate::notice::Dialog;
use crate::setters::setters;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use stickpin_tree::SurfaceId;
use tokio_util::sync::CancellationToken;

/// A tab or window of the app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TabEntry {
    /// The tab's id, such as `t1`. Never reused while the device is open.
    pub id: String,
    /// The address.
    pub url: String,
    /// The title; empty if the tab has none.
    pub title: String,
    /// Whether captures and actions go to this tab.
    pub active: bool,
    /// The id of the tab that opened this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opener: Option<String>,
    /// The dialog of this tab that is waiting for an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog: Option<Dialog>,
}

impl TabEntry {
    /// Creates an inactive tab that no other tab opened.
    #[must_use]
    pub fn new(id: String, url: String, title: String) -> Self {
        Self { id, url, title, active: false, opener: None, dialog: None }
    }
}

setters!(TabEntry { active: bool, opener: Option<String>, dialog: Option<Dialog> });

/// A tab that no longer exists.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndedTab {
    /// The id that the tab had.
    pub id: String,
    /// The surface of the tab's captures. None of its elements ever comes back.
    pub surface: SurfaceId,
    /// How the tab ended.
    pub reason: TabEndReason,
    /// The tab that is active now, in words (`t1 http://127.0.0.1:3000/`), if the ended tab was the
    /// active one.
    pub active_tab: Option<String>,
}

impl EndedTab {
    /// Describes the end of a tab that was not the active one.
    #[must_use]
    pub fn new(id: String, surface: SurfaceId, how: TabEndReason) -> Self {
        Self { id, surface, reason: how, active_tab: None }
    }
}

setters!(EndedTab { active_tab: Option<String> });

/// How a tab ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TabEndReason {
    /// Closed by a command.
    ByCommand,
    /// Closed by its page or by a person.
    Closed,
    /// Crashed.
    Crashed,
}

/// Lists, opens, switches and closes tabs and windows. Exactly one of them is active.
#[async_trait]
pub trait Tabs: Send {
    /// Returns all tabs and windows, oldest first.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED` if the app always has exactly one tab or window, and `BACKEND_LOST`.
    async fn list_tabs(&mut self) -> Result<Vec<TabEntry>>;

    /// Opens a tab in the background, makes it active, and navigates to `what` if given. On
    /// failure, the tab is removed and the previous tab stays active.
    ///
    /// # Errors
    /// Returns the errors of `list_tabs` and `navigate`.
    async fn new_tab(
        &mut self,
        what: Option<&str>,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<NavigationResult>;

    /// Makes a tab the active one. What a person sees does not change.
    ///
    /// # Errors
    /// Returns the errors of `list_tabs`, and `DEVICE_NOT_FOUND` when no tab has that id.
    async fn switch_tab(&mut self, id: &str) -> Result<()>;

    /// Closes a tab. If the tab was the active one, another tab becomes active, at the latest when
    /// [`Tabs::ended_tabs`] is called.
    ///
    /// # Errors
    /// Returns the errors of `switch_tab`, `DIALOG_OPEN` when the page asks for confirmation and
    /// `leave` is [`LeavePolicy::Ask`], `TIMEOUT` when the tab does not close, and `INVALID_ARGS`
    /// for the last tab.
    async fn close_tab(&mut self, id: &str, leave: LeavePolicy, cancel: &CancellationToken) -> Result<()>;

    /// Brings the active tab and its window to the front for the person at this machine. No other
    /// method does that.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED` if there is no window.
    async fn show_tab(&mut self) -> Result<()>;

    /// Returns the tabs that ended since the last call. If the active tab is among them, this call
    /// makes another tab active.
    ///
    /// Until then, every call about the ended tab fails, so that no input goes to a tab that nobody
    /// chose.
    fn ended_tabs(&mut self) -> Vec<EndedTab> {
        Vec::new()
    }
}
