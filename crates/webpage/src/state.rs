//! The state of pages as known from events: tabs, frames and our worlds in them, dialogs, requests,
//! notices.
//!
//! Events write this state ([`events`](crate::events) handles those of a page); commands only take
//! values out of it and record what they sent or expect. No command holds the lock across an await,
//! and each waits for the next change instead of asking the browser.

mod tab;
pub(crate) mod traffic;

pub(crate) use tab::{Chooser, LoadStage, Request};
pub use tab::{Frame, TabState, World};

use hashbrown::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use stickpin_device::{Dialog, Notice, TabEndReason};
use stickpin_devtools::CallError;
use tokio::sync::watch;

/// The state of all pages of one connection, shared by the event task and the device.
#[derive(Debug, Default)]
pub struct SharedState {
    state: Mutex<State>,
    version: watch::Sender<u64>,
}

impl SharedState {
    /// Locks the state. The guard must not be held across an await.
    pub fn state(&self) -> MutexGuard<'_, State> {
        // No code panics while holding the lock; even if it did, the state would still be
        // consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the browser refused to set up part of a tab.
    pub(crate) fn note_setup_refused(&self, session: &str, error: &CallError) {
        tracing::warn!(session, %error, "a tab is not fully set up");
        if let Some(tab) = self.state().tabs.get_mut(session) {
            tab.refused.get_or_insert_with(|| error.to_string());
        }
        self.wake_waiters();
    }

    /// Wakes all tasks that are waiting for a change.
    pub fn wake_waiters(&self) {
        self.version.send_modify(|version| *version = version.wrapping_add(1));
    }

    /// Waits until the version differs from `seen`; returns the new version.
    pub(crate) async fn wait_for_change(&self, seen: u64) -> u64 {
        let mut version = self.version.subscribe();
        match version.wait_for(|now| *now != seen).await.map(|now| *now) {
            Ok(now) => now,
            // The sender lives in `self`, so this is unreachable.
            Err(_) => std::future::pending().await,
        }
    }

    /// Waits until a tab or the whole browser is gone.
    pub async fn wait_until_gone(&self, session: &str) {
        let gone = self.until(|state| {
            let is_open = state.tabs.get(session).is_some_and(|tab| tab.gone.is_none());
            (!is_open || state.lost.is_some()).then_some(())
        });
        gone.await;
    }

    /// Waits until `read` returns a value. Calls `read` now and after every event.
    pub async fn until<T>(&self, mut read: impl FnMut(&State) -> Option<T>) -> T {
        let mut version = self.version.subscribe();
        loop {
            version.mark_unchanged();
            if let Some(found) = read(&self.state()) {
                return found;
            }
            if version.changed().await.is_err() {
                // The sender lives in `self`, so this is unreachable.
                std::future::pending::<()>().await;
            }
        }
    }
}

/// The state of all pages of one connection.
#[derive(Debug, Default)]
pub struct State {
    /// The tabs, by the session of their page.
    pub tabs: HashMap<String, TabState>,
    /// The sessions of out-of-process frames, with the session of their tab.
    pub children: HashMap<String, String>,
    /// Why the browser is gone.
    pub lost: Option<String>,
    /// The last scope assigned to a document.
    pub(crate) last_scope: u64,
    /// The session of the driven tab, where events of other tabs are reported.
    pub active: String,
    /// The dialogs that are waiting for an answer, with the session of their tab, oldest first.
    pub(crate) dialogs: Vec<(String, Dialog)>,
}

impl State {
    /// Returns the session of the tab that a session belongs to: that session itself, or the
    /// session of the page around an out-of-process frame.
    pub fn root_of<'s>(&'s self, session: &'s str) -> &'s str {
        self.children.get(session).map_or(session, String::as_str)
    }

    /// Returns the tab that a session belongs to.
    pub fn tab_of(&mut self, session: &str) -> Option<&mut TabState> {
        let root = self.children.get(session).map_or(session, String::as_str);
        self.tabs.get_mut(root)
    }

    /// Assigns to every tab the dialog to answer next: its own or, without one, that of another
    /// tab. Related pages share a process, and a dialog of one stops the scripts of all.
    pub fn show_dialogs(&mut self) {
        let first = self.dialogs.first().and_then(|(session, dialog)| {
            let tab = self.tabs.get(session)?;
            Some(dialog.clone().tab(Some(tab.id())))
        });
        for (session, tab) in &mut self.tabs {
            let tab_dialog =
                self.dialogs.iter().find(|(s, _)| s == session).map(|(_, dialog)| dialog.clone());
            tab.dialog = tab_dialog.or_else(|| first.clone());
        }
    }

    /// Records that a tab is gone or can no longer be driven.
    pub fn end_tab(&mut self, session: &str, reason: TabEndReason) {
        let Some(tab) = self.tabs.get_mut(session) else { return };
        if tab.gone.is_some() {
            return;
        }
        tab.gone = Some(reason);
        let id = tab.id();
        self.dialogs.retain(|(s, _)| s != session);
        self.show_dialogs();
        if let Some(active) = self.tabs.get_mut(&self.active) {
            active.notice(Notice::TabClosed { id });
        }
    }

    /// Returns the tabs that can be driven, oldest first.
    pub fn drivable_tabs(&self) -> Vec<(&String, &TabState)> {
        let mut open_tabs: Vec<_> = self.tabs.iter().filter(|(_, tab)| tab.gone.is_none()).collect();
        open_tabs.sort_by_key(|(_, tab)| tab.number);
        open_tabs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialog_is_in_the_way_of_every_tab_and_names_its_own() {
        let mut state = State::default();
        for (session, number) in [("a", 1), ("b", 2), ("c", 3)] {
            state.tabs.insert(session.into(), TabState { number, ..TabState::default() });
        }
        let dialog_of = |kind: &str| Dialog::new(kind, "");
        state.dialogs = vec![("b".into(), dialog_of("confirm")), ("c".into(), dialog_of("prompt"))];
        state.show_dialogs();
        let words = |state: &State, tab| state.tabs[tab].dialog.as_ref().map(Dialog::describe);
        assert_eq!(words(&state, "a").unwrap(), "confirm in tab t2 \"\"");
        assert_eq!(words(&state, "b").unwrap(), "confirm \"\"");
        assert_eq!(words(&state, "c").unwrap(), "prompt \"\"");
        state.end_tab("b", TabEndReason::Closed);
        assert_eq!(words(&state, "a").unwrap(), "prompt in tab t3 \"\"");
        state.end_tab("c", TabEndReason::Closed);
        assert_eq!(words(&state, "a"), None);
        assert_eq!(state.drivable_tabs().len(), 1);
    }
}
