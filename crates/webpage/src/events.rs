//! Writes a page's events into the [state](crate::state). Runs on the task that reads the
//! transport, so nothing here waits. New targets are also prepared here, because a paused target
//! must get all of its commands at once.

mod network;
mod runtime;

use crate::agent;
use crate::state::{Chooser, Frame, LoadStage, SharedState, State, TabState, World};
use crate::text::{clip, clip_to};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;
use stickpin_device::{Dialog, Notice, TabEndReason};
use stickpin_devtools::protocol as cdp;
use stickpin_devtools::{CallError, Client, Method, Refusal, Reply};

pub use network::worker;

/// The length in bytes at which the text of an open dialog is cut.
const MAX_DIALOG: usize = 2_000;

/// The maximum number of requested tabs that have not appeared yet and whose addresses are kept.
const MAX_OPENING: usize = 256;

/// Parses the parameters of an event. Logs and skips an event that cannot be parsed.
pub fn read<T: DeserializeOwned>(method: &str, params: &RawValue) -> Option<T> {
    match serde_json::from_str(params.get()) {
        Ok(event) => Some(event),
        Err(error) => {
            tracing::warn!(method, %error, "an event from the browser cannot be parsed");
            None
        }
    }
}

/// Sends a command and ignores its answer: a failure shows in the commands that depend on it.
fn send<M: Method>(client: &Client, session: &str, command: &M) {
    drop(client.send(Some(session), command));
}

/// A pending answer to a set-up command.
type SetUpAnswer = Pin<Box<dyn Future<Output = Result<(), CallError>> + Send>>;

/// Sends the commands that set up a target, and collects their pending answers.
struct TargetSetup<'a> {
    client: &'a Client,
    session: &'a str,
    answers: Vec<SetUpAnswer>,
}

impl TargetSetup<'_> {
    fn send<M: Method + 'static>(&mut self, command: &M)
    where
        M::Output: Send,
    {
        let reply: Reply<M> = self.client.send(Some(self.session), command);
        self.answers.push(Box::pin(async { reply.await.map(drop) }));
    }
}

/// Sends the commands that set up a paused target; the last one resumes it. None of the target's
/// code runs before the Page domain is enabled, because a dialog that opened earlier could never be
/// answered. The next use of the tab reports the first command that the browser refused.
pub fn prepare(
    client: &Client,
    shared: &Arc<SharedState>,
    state: &State,
    session: &str,
    file_filter: Option<&cdp::EnableFetch>,
) {
    let mut set_up = TargetSetup { client, session, answers: Vec::new() };
    if let Some(gate) = file_filter {
        set_up.send(gate);
    }
    set_up.send(&cdp::EnablePage {});
    set_up.send(&cdp::EnableLifecycle { enabled: true });
    set_up.send(&cdp::EnableRuntime {});
    set_up.send(&cdp::AddBinding { name: agent::BINDING, execution_context_name: agent::WORLD });
    set_up.send(&cdp::AddScript {
        source: agent::AGENT.to_owned(),
        world_name: agent::WORLD,
        run_immediately: true,
    });
    set_up.send(&cdp::EnablePerformance {});
    set_up.send(&cdp::EnableInspector {});
    set_up.send(&cdp::EnableNetwork { max_total_buffer_size: 0, max_resource_buffer_size: 0 });
    set_up.send(&cdp::EmulateFocus { enabled: true });
    set_up.send(&cdp::InterceptFileChooser { enabled: true, cancel: true });
    set_up.send(&cdp::SetAutoAttach {
        auto_attach: true,
        wait_for_debugger_on_start: true,
        flatten: true,
        filter: None,
    });
    set_up.send(&cdp::Resume {});
    let answers = set_up.answers;
    let root = state.root_of(session).to_owned();
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        for answer in answers {
            match answer.await {
                Err(error @ CallError::Malformed { .. }) => shared.note_setup_refused(&root, &error),
                Err(error) if error.refusal() == Some(Refusal::Protocol) => {
                    shared.note_setup_refused(&root, &error)
                }
                // A target that is gone needs no set-up. A lost browser or a hanging page is
                // reported elsewhere.
                _ => {}
            }
        }
    });
}

/// Records an event from a page's session. Returns `None` only if the event was not understood, is
/// about something unknown, or does not matter.
pub fn record(
    client: &Client,
    state: &mut State,
    session: &str,
    method: &str,
    params: &RawValue,
) -> Option<()> {
    let root = state.root_of(session).to_owned();
    match method {
        "Page.javascriptDialogOpening" => {
            dialog_opening(client, state, session, &root, read(method, params)?);
            return Some(());
        }
        "Page.javascriptDialogClosed" => {
            state.dialogs.retain(|(s, _)| *s != root);
            state.show_dialogs();
            for tab in state.tabs.values_mut() {
                tab.answers += 1;
                tab.note_visible_change();
            }
            return Some(());
        }
        "Inspector.targetCrashed" => return note_crash(state, session, &root),
        _ => {}
    }
    let State { tabs, last_scope, .. } = state;
    let tab = tabs.get_mut(&root)?;
    match method.split_once('.')? {
        ("Page", name) => page(tab, session, name, params),
        ("Runtime", name) => runtime::event(tab, session, name, params, last_scope),
        ("Network", name) => network::event(tab, name, params),
        ("Input", "dragIntercepted") => {
            let cdp::DragIntercepted { data } = read(method, params)?;
            tab.drag = Some(data);
            Some(())
        }
        _ => None,
    }
}

fn note_crash(state: &mut State, session: &str, root: &str) -> Option<()> {
    let tab = state.tabs.get_mut(root)?;
    if tab.main_frame().is_some_and(|frame| frame.session == session) {
        state.end_tab(root, TabEndReason::Crashed);
        return Some(());
    }
    for frame in tab.frames.values_mut().filter(|f| f.session == session) {
        frame.world = None;
    }
    tab.note_visible_change();
    Some(())
}

/// Records an event from the `Page` domain. Returns `None` only if the event was not understood, is
/// about something unknown, or does not matter.
fn page(tab: &mut TabState, session: &str, name: &str, params: &RawValue) -> Option<()> {
    match name {
        "frameAttached" => {
            let cdp::FrameAttached { frame_id, parent_frame_id } = read(name, params)?;
            tab.next_order += 1;
            let order = tab.next_order;
            let frame = tab.frames.entry(frame_id.clone()).or_default();
            frame.id = frame_id;
            frame.parent = Some(parent_frame_id);
            session.clone_into(&mut frame.session);
            frame.order = order;
            tab.note_visible_change();
        }
        "frameDetached" => {
            let cdp::FrameDetached { frame_id, reason } = read(name, params)?;
            if reason != "swap" {
                tab.remove_frame(&frame_id);
            } else if let Some(frame) = tab.frames.get_mut(&frame_id)
                && frame.session == session
            {
                // The frame continues in another process; the events of its new session follow or
                // have already arrived.
                frame.world = None;
            }
            tab.note_visible_change();
        }
        "frameNavigated" => {
            let cdp::FrameNavigated { frame } = read(name, params)?;
            note_navigation(tab, session, frame);
        }
        "navigatedWithinDocument" => {
            let cdp::NavigatedWithinDocument { frame_id, url } = read(name, params)?;
            if let Some(frame) = tab.frames.get_mut(&frame_id) {
                frame.url.clone_from(&url);
            }
            if frame_id == tab.main {
                tab.arrivals += 1;
                tab.notice(Notice::Navigated { url });
            }
            tab.note_visible_change();
        }
        "frameStartedNavigating" => {
            let cdp::FrameStartedNavigating { frame_id, url, navigation_type, .. } = read(name, params)?;
            if matches!(navigation_type.as_str(), "sameDocument" | "historySameDocument") {
                return None;
            }
            if frame_id == tab.main {
                tab.navigating = Some((url, Instant::now()));
            } else {
                tab.frames.get_mut(&frame_id)?.navigating = true;
            }
        }
        "frameStoppedLoading" => {
            let cdp::FrameEvent { frame_id } = read(name, params)?;
            if frame_id == tab.main {
                tab.navigating = None;
            } else if let Some(frame) = tab.frames.get_mut(&frame_id) {
                frame.navigating = false;
            }
            tab.note_visible_change();
        }
        "lifecycleEvent" => {
            let cdp::LifecycleEvent { frame_id, loader_id, name } = read(name, params)?;
            let frame = tab.frames.get_mut(&frame_id).filter(|frame| frame.loader == loader_id)?;
            match name.as_str() {
                "DOMContentLoaded" => frame.stage = frame.stage.max(LoadStage::Ready),
                "load" => frame.stage = LoadStage::Loaded,
                _ => return None,
            }
            tab.note_visible_change();
        }
        "windowOpen" => {
            let cdp::WindowOpen { url } = read(name, params)?;
            if tab.opening.len() < MAX_OPENING {
                tab.opening.push_back(url);
            }
        }
        "fileChooserOpened" => {
            let cdp::FileChooserOpened { frame_id, backend_node_id } = read(name, params)?;
            if tab.chooser == Chooser::Expected {
                tab.chooser = Chooser::Opened(frame_id, backend_node_id);
            } else {
                tab.notice(Notice::FileChooser);
            }
        }
        _ => {}
    }
    Some(())
}

fn note_navigation(tab: &mut TabState, session: &str, info: cdp::FrameInfo) {
    let main = info.parent_id.is_none() && tab.frames.get(&tab.main).is_some_and(|f| f.session == session);
    let url =
        format!("{}{}", info.unreachable_url.unwrap_or(info.url), info.url_fragment.unwrap_or_default());
    if main {
        // All child frames went away with the document.
        tab.frames.retain(|id, _| *id == info.id);
        tab.main.clone_from(&info.id);
        tab.navigating = None;
        tab.silenced = None;
        tab.requests.clear();
        tab.discard_requests();
        tab.arrivals += 1;
        tab.notice(Notice::Navigated { url: url.clone() });
    } else {
        tab.remove_frames_below(&info.id);
    }
    let frame = tab.frames.entry(info.id.clone()).or_default();
    frame.id = info.id;
    if !main && info.parent_id.is_some() {
        frame.parent = info.parent_id;
    }
    session.clone_into(&mut frame.session);
    frame.navigating = false;
    if frame.loader != info.loader_id {
        frame.stage = LoadStage::Loading;
        frame.committed = Some(Instant::now());
    }
    frame.loader = info.loader_id;
    frame.url = url;
    tab.note_visible_change();
}

/// Records a dialog. An alert has only one answer, which is given at once. A silenced dialog is
/// dismissed; any other one waits for the caller.
fn dialog_opening(client: &Client, state: &mut State, session: &str, root: &str, event: cdp::DialogOpening) {
    let Some(tab) = state.tabs.get_mut(root) else { return };
    if event.r#type == "alert" {
        tab.notice(Notice::DialogShown { text: clip(&event.message) });
        send(client, session, &cdp::HandleDialog { accept: true, prompt_text: None });
        return tab.note_visible_change();
    }
    if tab.silenced.as_ref().is_some_and(|(kind, message)| {
        *kind == event.r#type && *message == clip_to(&event.message, MAX_DIALOG)
    }) {
        return send(client, session, &cdp::HandleDialog { accept: false, prompt_text: None });
    }
    let dialog = Dialog::new(event.r#type, clip_to(&event.message, MAX_DIALOG))
        .default_answer(clip_to(&event.default_prompt.unwrap_or_default(), MAX_DIALOG));
    state.dialogs.push((root.to_owned(), dialog));
    state.show_dialogs();
    // Wake every waiting command, in any tab.
    state.tabs.values_mut().for_each(TabState::note_visible_change);
}
