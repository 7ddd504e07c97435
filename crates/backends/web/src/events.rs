//! Writes browser events into the [state](stickpin_webpage::state). Runs on the task that reads the
//! pipe, so nothing here waits. New targets are also prepared here, because a paused target must
//! get all of its commands in one go.

use crate::browser_state::SharedBrowserState;
use crate::downloads::{download_began, download_progress};
use crate::file_gate;
use serde_json::value::RawValue;
use std::path::PathBuf;
use std::sync::Arc;
use stickpin_device::{Notice, TabEndReason};
use stickpin_devtools::protocol as cdp;
use stickpin_devtools::{Client, Method, Sink};
use stickpin_webpage::events::{self, read};
use stickpin_webpage::state::{SharedState, State, TabState};
use stickpin_webpage::text::clip;

/// Writes events into the state of a browser.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) shared: Arc<SharedState>,
    pub(crate) browser_state: Arc<SharedBrowserState>,
    pub(crate) downloads: PathBuf,
}

impl Sink for Recorder {
    fn event(&mut self, client: &Client, session: Option<&str>, method: &str, params: &RawValue) {
        let shared = Arc::clone(&self.shared);
        {
            let mut state = shared.state();
            match session {
                Some(session) if method == "Fetch.requestPaused" => {
                    if let Some(event) = read(method, params) {
                        let roots = self.browser_state.file_roots();
                        file_gate::answer_paused_request(client, &shared, roots, session, event);
                    }
                }
                Some(session) if !method.starts_with("Target.") => {
                    events::record(client, &mut state, session, method, params);
                }
                parent => _ = self.browser_event(client, &mut state, parent, method, params),
            }
        }
        shared.wake_waiters();
    }

    fn lost(&mut self, why: &str) {
        self.shared.state().lost = Some(why.to_owned());
        self.shared.wake_waiters();
    }
}

/// Sends a command and ignores its answer: a failure becomes visible in the commands that depend on
/// this one.
fn send<M: Method>(client: &Client, session: &str, command: &M) {
    drop(client.send(Some(session), command));
}

impl Recorder {
    /// Records an event of the browser itself. The result has no meaning; it only allows `?` in the
    /// function.
    fn browser_event(
        &self,
        client: &Client,
        state: &mut State,
        parent: Option<&str>,
        method: &str,
        params: &RawValue,
    ) -> Option<()> {
        match method {
            "Target.attachedToTarget" => self.add_target(client, state, parent, read(method, params)?),
            "Target.detachedFromTarget" => {
                let cdp::DetachedFromTarget { session_id } = read(method, params)?;
                if state.tabs.contains_key(&session_id) {
                    state.end_tab(&session_id, TabEndReason::Closed);
                } else {
                    let tab = state.tabs.get_mut(&state.children.remove(&session_id)?)?;
                    tab.frames.retain(|_, frame| frame.session != session_id || frame.id == tab.main);
                    tab.note_visible_change();
                }
            }
            "Browser.downloadWillBegin" => {
                let event: cdp::DownloadWillBegin = read(method, params)?;
                let known = &mut self.browser_state.lock();
                download_began(&mut known.downloads, event.guid, &event.suggested_filename);
            }
            "Browser.downloadProgress" => {
                let event = read(method, params)?;
                let downloads = &mut self.browser_state.lock().downloads;
                let notice = download_progress(downloads, &self.downloads, &event)?;
                // Notify every tab: the driven one reports the download, whichever tab caused it.
                state.tabs.values_mut().for_each(|tab| tab.notice(notice.clone()));
            }
            _ => {}
        }
        Some(())
    }

    /// Prepares a new target. A page, or an iframe in one, stays paused until the last command of
    /// its preparation, so that none of its code runs before the Page domain is enabled. A dialog
    /// that opened before then could never be answered. Other targets resume at once.
    fn add_target(
        &self,
        client: &Client,
        state: &mut State,
        parent: Option<&str>,
        event: cdp::AttachedToTarget,
    ) {
        let known = &mut *self.browser_state.lock();
        let cdp::AttachedToTarget { session_id: session, target_info: info, .. } = event;
        match info.r#type.as_str() {
            "page" => {
                let tab_url = opened_url(state, &info);
                known.last_tab += 1;
                let number = known.last_tab;
                let leads_to = tab_url.clone().filter(|url| will_navigate(url));
                let tab = TabState::new(info, &session, number, leads_to);
                let id = tab.id();
                state.tabs.insert(session.clone(), tab);
                if let Some(what) = tab_url
                    && let Some(active) = state.tabs.get_mut(&state.active)
                {
                    active.notice(Notice::TabOpened { id, what });
                    active.note_visible_change();
                }
                state.show_dialogs();
                if let Some((width, height)) = known.viewport {
                    send(client, &session, &metrics(width, height));
                }
            }
            "iframe" => {
                let Some(parent) = parent else { return send(client, &session, &cdp::Resume {}) };
                let root = state.root_of(parent).to_owned();
                if let Some(tab) = state.tabs.get_mut(&root) {
                    tab.frame_moved(info, &session);
                    state.children.insert(session.clone(), root);
                }
            }
            kind => {
                if kind.contains("worker")
                    && let Some(parent) = parent
                    && let Some(tab) = state.tab_of(parent)
                {
                    events::worker(tab, info.url);
                }
                return send(client, &session, &cdp::Resume {});
            }
        }
        let file_filter = known.file_roots.is_some().then(file_gate::pause_file_requests);
        events::prepare(client, &self.shared, state, &session, file_filter.as_ref());
    }
}

/// Returns the command that sets the viewport to this size, in CSS pixels.
pub(crate) fn metrics(width: u32, height: u32) -> cdp::SetDeviceMetrics {
    cdp::SetDeviceMetrics { width, height, device_scale_factor: 0.0, mobile: false }
}

/// Returns whether a tab opened with this address will navigate.
fn will_navigate(url: &str) -> bool {
    !url.is_empty() && !url.starts_with("about:") && !url.starts_with("javascript:")
}

/// Returns the address with which a page opened this tab; `None` for a tab without an opener, such
/// as one that a command opened. The new tab itself is still empty, so the address comes from the
/// opener's request or, if there is none, from the URL or the title of the target.
fn opened_url(state: &mut State, info: &cdp::TargetInfo) -> Option<String> {
    let opener = info.opener_id.as_ref()?;
    let opener_tab = state.tabs.values_mut().find(|t| t.target == *opener || t.frames.contains_key(opener));
    let requested_url = opener_tab.and_then(|tab| tab.opening.pop_front()).filter(|url| !url.is_empty());
    let url = requested_url.unwrap_or_else(|| info.url.clone());
    Some(clip(if url.is_empty() { &info.title } else { &url }))
}
