//! Events of the browser, written into the [state](crate::state). Runs on the task that reads the pipe: nothing
//! here waits, but new targets are prepared from here, because a paused target has to get everything in one go.

mod network;
mod runtime;

use crate::agent;
use crate::downloads::{download_began, download_progress};
use crate::gate;
use crate::state::{Chooser, Frame, Shared, Stage, State, TabState, World};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use stickpin_device::{Dialog, Notice, TabEnd};
use stickpin_devtools::protocol as cdp;
use stickpin_devtools::{Client, Method, Sink};

/// Bytes of a text of the page that a notice keeps.
const MAX_TEXT: usize = 300;

/// Bytes of the text of a dialog that waits.
const MAX_DIALOG: usize = 2_000;

/// Tabs that a page may ask for before the first of them is there, as far as their addresses are remembered.
const MAX_OPENING: usize = 256;

/// Writes events into the state of a browser.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) shared: Arc<Shared>,
    pub(crate) downloads: PathBuf,
}

impl Sink for Recorder {
    fn event(&mut self, client: &Client, session: Option<&str>, method: &str, params: &RawValue) {
        let shared = Arc::clone(&self.shared);
        {
            let mut state = shared.state();
            match session {
                None => self.of_browser(client, &mut state, None, method, params),
                Some(session) if method.starts_with("Target.") => {
                    self.of_browser(client, &mut state, Some(session), method, params);
                }
                Some(session) if method == "Fetch.requestPaused" => {
                    if let Some(event) = read(method, params) {
                        gate::paused(client, &shared, &state, session, event);
                    }
                }
                Some(session) => of_session(client, &mut state, session, method, params),
            }
        }
        shared.touch();
    }

    fn lost(&mut self, why: &str) {
        self.shared.state().lost = Some(why.to_owned());
        self.shared.touch();
    }
}

/// Reads the parameters of an event; what is not understood is skipped, with a word in the log.
fn read<T: DeserializeOwned>(method: &str, params: &RawValue) -> Option<T> {
    match serde_json::from_str(params.get()) {
        Ok(event) => Some(event),
        Err(error) => {
            tracing::warn!(method, %error, "an event of the browser is not understood");
            None
        }
    }
}

/// Sends a command whose answer nobody reads: a failure shows itself in what is built on it.
fn send<M: Method>(client: &Client, session: &str, command: &M) {
    drop(client.send(Some(session), command));
}

impl Recorder {
    fn of_browser(
        &self,
        client: &Client,
        state: &mut State,
        parent: Option<&str>,
        method: &str,
        params: &RawValue,
    ) {
        match method {
            "Target.attachedToTarget" => {
                if let Some(event) = read(method, params) {
                    attached(client, state, parent, event);
                }
            }
            "Target.detachedFromTarget" => {
                if let Some(cdp::DetachedFromTarget { session_id }) = read(method, params) {
                    if state.tabs.contains_key(&session_id) {
                        state.end_tab(&session_id, TabEnd::Closed);
                    } else if let Some(root) = state.children.remove(&session_id)
                        && let Some(tab) = state.tabs.get_mut(&root)
                    {
                        tab.frames.retain(|_, frame| frame.session != session_id || frame.id == tab.main);
                        tab.active();
                    }
                }
            }
            "Browser.downloadWillBegin" => {
                if let Some(event) = read::<cdp::DownloadWillBegin>(method, params) {
                    download_began(&mut state.downloads, event.guid, &event.suggested_filename);
                }
            }
            "Browser.downloadProgress" => {
                if let Some(event) = read(method, params)
                    && let Some(notice) = download_progress(&mut state.downloads, &self.downloads, &event)
                {
                    // Whoever drives the session is told, whichever tab it came from.
                    for tab in state.tabs.values_mut() {
                        tab.notice(notice.clone());
                    }
                }
            }
            _ => {}
        }
    }
}

/// Prepares a new target. It is paused until the last of these commands, so that nothing of it runs before Page is
/// enabled: a dialog that opened earlier could never be answered.
fn attached(client: &Client, state: &mut State, parent: Option<&str>, event: cdp::AttachedToTarget) {
    let cdp::AttachedToTarget { session_id: session, target_info: info, .. } = event;
    match info.r#type.as_str() {
        "page" => {
            let what = opened(state, &info);
            state.last_tab += 1;
            let number = state.last_tab;
            let main = info.target_id.clone();
            let frame =
                Frame { id: main.clone(), session: session.clone(), url: info.url, ..Frame::default() };
            let mut tab = TabState {
                target: info.target_id,
                number,
                opener: info.opener_id,
                main: main.clone(),
                ..TabState::default()
            };
            tab.frames.insert(main, frame);
            // It is on its way to what it was opened for, and shows an empty page until then.
            tab.navigating =
                what.as_ref().filter(|url| leads_away(url)).map(|url| (url.clone(), Instant::now()));
            let id = tab.id();
            state.tabs.insert(session.clone(), tab);
            if let Some(what) = what
                && let Some(active) = state.tabs.get_mut(&state.active)
            {
                active.notice(Notice::Opened { id, what });
                active.active();
            }
            state.show_dialogs();
            if let Some((width, height)) = state.viewport {
                send(client, &session, &metrics(width, height));
            }
        }
        "iframe" => {
            let Some(parent) = parent else { return send(client, &session, &cdp::Resume {}) };
            let root = state.children.get(parent).map_or(parent, String::as_str).to_owned();
            if let Some(tab) = state.tabs.get_mut(&root) {
                tab.next_order += 1;
                let order = tab.next_order;
                let id = info.target_id;
                let frame = tab.frames.entry(id.clone()).or_insert_with(|| Frame {
                    id,
                    parent: info.parent_frame_id.clone(),
                    order,
                    ..Frame::default()
                });
                frame.session.clone_from(&session);
                frame.url = info.url;
                frame.world = None;
                // It goes on in another process because a navigation was committed there.
                frame.navigating = false;
                state.children.insert(session.clone(), root);
            }
        }
        kind => {
            if kind.contains("worker")
                && let Some(parent) = parent
            {
                let root = state.children.get(parent).map_or(parent, String::as_str).to_owned();
                if let Some(tab) = state.tabs.get_mut(&root) {
                    network::worker(tab, info.url);
                }
            }
            return send(client, &session, &cdp::Resume {});
        }
    }
    let auto_attach = cdp::SetAutoAttach {
        auto_attach: true,
        wait_for_debugger_on_start: true,
        flatten: true,
        filter: None,
    };
    if state.file_roots.is_some() {
        send(client, &session, &gate::closed());
    }
    send(client, &session, &cdp::EnablePage {});
    send(client, &session, &cdp::EnableLifecycle { enabled: true });
    send(client, &session, &cdp::EnableRuntime {});
    send(client, &session, &cdp::AddBinding { name: agent::BINDING, execution_context_name: agent::WORLD });
    send(
        client,
        &session,
        &cdp::AddScript { source: agent::SOURCE.to_owned(), world_name: agent::WORLD, run_immediately: true },
    );
    send(client, &session, &cdp::EnablePerformance {});
    send(client, &session, &cdp::EnableInspector {});
    send(client, &session, &cdp::EnableNetwork { max_total_buffer_size: 0, max_resource_buffer_size: 0 });
    send(client, &session, &cdp::EmulateFocus { enabled: true });
    send(client, &session, &cdp::InterceptFileChooser { enabled: true, cancel: true });
    send(client, &session, &auto_attach);
    send(client, &session, &cdp::Resume {});
}

/// How a viewport of this size is asked for.
pub(crate) fn metrics(width: u32, height: u32) -> cdp::SetDeviceMetrics {
    cdp::SetDeviceMetrics { width, height, device_scale_factor: 0.0, mobile: false }
}

/// Whether a tab that is opened with this address goes somewhere.
fn leads_away(url: &str) -> bool {
    !url.is_empty() && !url.starts_with("about:") && !url.starts_with("javascript:")
}

/// What a tab is opened for, when a page opened it: the address that the page asked for, because the tab itself is still
/// empty. None for those that we asked for.
fn opened(state: &mut State, info: &cdp::TargetInfo) -> Option<String> {
    let opener = info.opener_id.as_ref()?;
    let by = state.tabs.values_mut().find(|t| t.target == *opener || t.frames.contains_key(opener));
    let asked = by.and_then(|tab| tab.opening.pop_front()).filter(|url| !url.is_empty());
    let url = asked.unwrap_or_else(|| info.url.clone());
    Some(clip(if url.is_empty() { &info.title } else { &url }))
}

fn of_session(client: &Client, state: &mut State, session: &str, method: &str, params: &RawValue) {
    let root = state.children.get(session).map_or(session, String::as_str).to_owned();
    match method {
        "Page.javascriptDialogOpening" => {
            if let Some(event) = read(method, params) {
                dialog_opening(client, state, session, &root, event);
            }
            return;
        }
        "Page.javascriptDialogClosed" => {
            state.dialogs.retain(|(s, _)| *s != root);
            state.show_dialogs();
            for tab in state.tabs.values_mut() {
                tab.answers += 1;
                tab.active();
            }
            return;
        }
        "Inspector.targetCrashed" => return crashed(state, session, &root),
        _ => {}
    }
    let State { tabs, last_scope, .. } = state;
    let Some(tab) = tabs.get_mut(&root) else { return };
    let Some((domain, name)) = method.split_once('.') else { return };
    match domain {
        "Page" => page(tab, session, name, params),
        "Runtime" => runtime::event(tab, session, name, params, last_scope),
        "Network" => network::event(tab, name, params),
        "Input" if name == "dragIntercepted" => {
            if let Some(cdp::DragIntercepted { data }) = read(method, params) {
                tab.drag = Some(data);
            }
        }
        _ => {}
    }
}

fn crashed(state: &mut State, session: &str, root: &str) {
    let Some(tab) = state.tabs.get_mut(root) else { return };
    if tab.main_frame().is_some_and(|frame| frame.session == session) {
        return state.end_tab(root, TabEnd::Crashed);
    }
    for frame in tab.frames.values_mut().filter(|f| f.session == session) {
        frame.world = None;
    }
    tab.active();
}

fn page(tab: &mut TabState, session: &str, name: &str, params: &RawValue) {
    match name {
        "frameAttached" => {
            if let Some(cdp::FrameAttached { frame_id, parent_frame_id }) = read(name, params) {
                tab.next_order += 1;
                let order = tab.next_order;
                let frame = tab.frames.entry(frame_id.clone()).or_default();
                frame.id = frame_id;
                frame.parent = Some(parent_frame_id);
                session.clone_into(&mut frame.session);
                frame.order = order;
                tab.active();
            }
        }
        "frameDetached" => {
            if let Some(cdp::FrameDetached { frame_id, reason }) = read(name, params) {
                if reason == "swap" {
                    // It goes on in another process; the events of its new session follow or came already.
                    if let Some(frame) = tab.frames.get_mut(&frame_id)
                        && frame.session == session
                    {
                        frame.world = None;
                    }
                } else {
                    tab.remove_frame(&frame_id);
                }
                tab.active();
            }
        }
        "frameNavigated" => {
            if let Some(cdp::FrameNavigated { frame }) = read(name, params) {
                navigated(tab, session, frame);
            }
        }
        "navigatedWithinDocument" => {
            if let Some(cdp::NavigatedWithinDocument { frame_id, url }) = read(name, params) {
                if let Some(frame) = tab.frames.get_mut(&frame_id) {
                    frame.url.clone_from(&url);
                }
                if frame_id == tab.main {
                    tab.arrivals += 1;
                    tab.notice(Notice::Navigated { url });
                }
                tab.active();
            }
        }
        "frameStartedNavigating" => {
            if let Some(cdp::FrameStartedNavigating { frame_id, url, navigation_type, .. }) =
                read(name, params)
                && !matches!(navigation_type.as_str(), "sameDocument" | "historySameDocument")
            {
                if frame_id == tab.main {
                    tab.navigating = Some((url, Instant::now()));
                } else if let Some(frame) = tab.frames.get_mut(&frame_id) {
                    frame.navigating = true;
                }
            }
        }
        "frameStoppedLoading" => {
            if let Some(cdp::FrameEvent { frame_id }) = read(name, params) {
                if frame_id == tab.main {
                    tab.navigating = None;
                } else if let Some(frame) = tab.frames.get_mut(&frame_id) {
                    frame.navigating = false;
                }
                tab.active();
            }
        }
        "lifecycleEvent" => {
            if let Some(cdp::LifecycleEvent { frame_id, loader_id, name }) = read(name, params)
                && let Some(frame) = tab.frames.get_mut(&frame_id)
                && frame.loader == loader_id
            {
                match name.as_str() {
                    "DOMContentLoaded" => frame.stage = frame.stage.max(Stage::Ready),
                    "load" => frame.stage = Stage::Loaded,
                    _ => return,
                }
                tab.active();
            }
        }
        "windowOpen" => {
            if let Some(cdp::WindowOpen { url }) = read(name, params)
                && tab.opening.len() < MAX_OPENING
            {
                tab.opening.push_back(url);
            }
        }
        "fileChooserOpened" => {
            if let Some(cdp::FileChooserOpened { frame_id, backend_node_id }) = read(name, params) {
                if tab.chooser == Chooser::Expected {
                    tab.chooser = Chooser::Opened(frame_id, backend_node_id);
                } else {
                    tab.notice(Notice::FileChooser);
                }
            }
        }
        _ => {}
    }
}

fn navigated(tab: &mut TabState, session: &str, info: cdp::FrameInfo) {
    let main = info.parent_id.is_none() && tab.frames.get(&tab.main).is_some_and(|f| f.session == session);
    let url =
        format!("{}{}", info.unreachable_url.unwrap_or(info.url), info.url_fragment.unwrap_or_default());
    if main {
        // Whatever was below went with the document.
        tab.frames.retain(|id, _| *id == info.id);
        tab.main.clone_from(&info.id);
        tab.navigating = None;
        tab.silenced = None;
        tab.requests.clear();
        tab.left_traffic();
        tab.arrivals += 1;
        tab.notice(Notice::Navigated { url: url.clone() });
    } else {
        let below: Vec<String> = tab
            .frames
            .values()
            .filter(|f| f.parent.as_deref() == Some(info.id.as_str()))
            .map(|f| f.id.clone())
            .collect();
        for child in below {
            tab.remove_frame(&child);
        }
    }
    let frame = tab.frames.entry(info.id.clone()).or_default();
    frame.id = info.id;
    if !main && info.parent_id.is_some() {
        frame.parent = info.parent_id;
    }
    session.clone_into(&mut frame.session);
    frame.navigating = false;
    if frame.loader != info.loader_id {
        frame.stage = Stage::Loading;
        frame.committed = Some(Instant::now());
    }
    frame.loader = info.loader_id;
    frame.url = url;
    tab.active();
}

/// An alert has only one answer; everything else waits for whoever drives the app.
fn dialog_opening(client: &Client, state: &mut State, session: &str, root: &str, event: cdp::DialogOpening) {
    let Some(tab) = state.tabs.get_mut(root) else { return };
    if event.r#type == "alert" {
        tab.notice(Notice::DialogShown { text: clip(&event.message) });
        send(client, session, &cdp::HandleDialog { accept: true, prompt_text: None });
        return tab.active();
    }
    if tab.silenced.as_ref().is_some_and(|(kind, message)| {
        *kind == event.r#type && *message == clip_to(&event.message, MAX_DIALOG)
    }) {
        return send(client, session, &cdp::HandleDialog { accept: false, prompt_text: None });
    }
    let dialog = Dialog {
        kind: event.r#type,
        message: clip_to(&event.message, MAX_DIALOG),
        default: clip_to(&event.default_prompt.unwrap_or_default(), MAX_DIALOG),
        tab: None,
    };
    state.dialogs.push((root.to_owned(), dialog));
    state.show_dialogs();
    // Whoever waits for something else has to hear of it, in whichever tab.
    state.tabs.values_mut().for_each(TabState::active);
}

/// Cuts a text of the page to what a notice keeps.
pub(crate) fn clip(text: &str) -> String {
    clip_to(text, MAX_TEXT)
}

fn clip_to(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let mut cut = text[..text.floor_char_boundary(bytes)].to_owned();
    cut.push('…');
    cut
}
