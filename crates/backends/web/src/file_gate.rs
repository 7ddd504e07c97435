//! Restricts which local files pages may show. When a session is confined to directories, the
//! browser pauses every request for a `file:` URL, and this module answers each one.
//!
//! The gate covers page resources, redirects, and navigations in every tab and frame, regardless of
//! what started them. Symbolic links are resolved before paths are compared. Network requests are
//! not paused.

use crate::address;
use crate::driven::DrivenBrowser;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use stickpin_device::{Error, ErrorCode, Notice, Result, paths};
use stickpin_devtools::{Client, protocol as cdp};
use stickpin_webpage::state::SharedState;
use stickpin_webpage::text::clip;
use url::Url;

/// Returns the command that pauses the file requests of a target.
pub(crate) fn pause_file_requests() -> cdp::EnableFetch {
    cdp::EnableFetch { patterns: vec![json!({"urlPattern": "file:*"})] }
}

/// Parses an address that the browser may open.
///
/// # Errors
/// Returns the errors of [`address::parse`]. If `roots` are given, returns `POLICY_DENIED` for a
/// file outside them, and for a `file:` URL that names no local file.
pub(crate) fn parse_allowed(what: &str, roots: Option<&[PathBuf]>) -> Result<Url> {
    let url = address::parse(what)?;
    check_url(&url, roots).map(|()| url)
}

fn check_url(url: &Url, roots: Option<&[PathBuf]>) -> Result<()> {
    let Some(roots) = roots.filter(|_| url.scheme() == "file") else { return Ok(()) };
    match url.to_file_path() {
        Ok(path) if paths::is_within(&path, roots) => Ok(()),
        Ok(path) => Err(paths::outside_roots_error(&path, roots)),
        Err(()) => Err(Error::new(
            ErrorCode::PolicyDenied,
            format!("{} does not name a file on this machine", clip(url.as_str())),
        )
        .hint("use a path: `stickpin open ./page.html`")),
    }
}

/// Answers a paused request. Paths are checked on another thread, so that a slow disk does not
/// delay browser events.
pub(crate) fn answer_paused_request(
    client: &Client,
    shared: &Arc<SharedState>,
    roots: Option<Vec<PathBuf>>,
    session: &str,
    event: cdp::RequestPaused,
) {
    let (client, shared, session) = (client.clone(), Arc::clone(shared), session.to_owned());
    tokio::task::spawn_blocking(move || {
        let cdp::RequestPaused { request_id, request } = event;
        // An unparsable URL is refused.
        let is_allowed = Url::parse(&request.url).is_ok_and(|url| check_url(&url, roots.as_deref()).is_ok());
        if is_allowed {
            return drop(client.send(Some(&session), &cdp::ContinueRequest { request_id }));
        }
        {
            let mut state = shared.state();
            if let Some(tab) = state.tab_of(&session) {
                let why = "outside the folders of this client".to_owned();
                tab.notice(Notice::RequestFailed { method: request.method, url: clip(&request.url), why });
            }
        }
        // With `Aborted`, the current page stays, and no error page replaces it.
        drop(client.send(Some(&session), &cdp::FailRequest { request_id, error_reason: "Aborted" }));
        shared.wake_waiters();
    });
}

/// Confines all tabs, including future ones, to files in the directories `roots`.
pub(crate) async fn confine_tabs(web: &mut DrivenBrowser, roots: &[PathBuf]) -> Result<()> {
    let sessions: Vec<String> = {
        if web.state.lock().file_roots.replace(roots.to_vec()).is_some() {
            return Ok(());
        }
        let state = web.page.tab.shared.state();
        state.tabs.keys().chain(state.children.keys()).cloned().collect()
    };
    let client = &web.page.tab.client;
    let closing: Vec<_> = sessions.iter().map(|s| client.send(Some(s), &pause_file_requests())).collect();
    for answer in closing {
        match answer.await {
            Ok(_) => {}
            // A target that is gone shows nothing.
            Err(e) if e.is_session_gone() => {}
            Err(e) => return Err(web.page.tab.call_error(&e)),
        }
    }
    Ok(())
}
