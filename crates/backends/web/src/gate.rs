//! Which files of this machine pages may show: where a session is confined to folders, every request for a `file:` address
//! is paused in the browser and answered here, one by one.
//!
//! This covers navigations of every tab and frame, whoever began them, redirects, and what pages load; links are resolved before
//! a path is compared. What the network serves is not paused.

use crate::driven::Driven;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use stickpin_device::{Error, ErrorCode, Notice, Result, paths};
use stickpin_devtools::{Client, protocol as cdp};
use stickpin_webpage::state::Shared;
use stickpin_webpage::text::clip;
use url::Url;

/// What pauses the requests of a target.
pub(crate) fn closed() -> cdp::EnableFetch {
    cdp::EnableFetch { patterns: vec![json!({"urlPattern": "file:*"})] }
}

/// Checks an address before the browser is sent to it.
///
/// # Errors
/// `POLICY_DENIED` for a file outside of `roots`.
pub(crate) fn admit(url: &Url, roots: Option<&[PathBuf]>) -> Result<()> {
    let Some(roots) = roots.filter(|_| url.scheme() == "file") else { return Ok(()) };
    match url.to_file_path() {
        Ok(path) if paths::is_within(&path, roots) => Ok(()),
        Ok(path) => Err(paths::outside(&path, roots)),
        Err(()) => Err(Error::new(
            ErrorCode::PolicyDenied,
            format!("{} names no file of this machine", clip(url.as_str())),
        )
        .hint("give a path: stickpin open ./page.html")),
    }
}

/// Answers a paused request. Paths are looked at elsewhere: a slow disk does not hold up the events of the browser.
pub(crate) fn paused(
    client: &Client,
    shared: &Arc<Shared>,
    roots: Option<Vec<PathBuf>>,
    session: &str,
    event: cdp::RequestPaused,
) {
    let (client, shared, session) = (client.clone(), Arc::clone(shared), session.to_owned());
    tokio::task::spawn_blocking(move || {
        let cdp::RequestPaused { request_id, request } = event;
        // An address that cannot be read is no reason to let it pass.
        let admitted = Url::parse(&request.url).is_ok_and(|url| admit(&url, roots.as_deref()).is_ok());
        if admitted {
            return drop(client.send(Some(&session), &cdp::ContinueRequest { request_id }));
        }
        {
            let mut state = shared.state();
            let root = state.children.get(&session).unwrap_or(&session).clone();
            if let Some(tab) = state.tabs.get_mut(&root) {
                let why = "not in a folder that is open to this client".to_owned();
                tab.notice(Notice::RequestFailed { method: request.method, url: clip(&request.url), why });
            }
        }
        // Aborted: what was shown stays, and no error page takes its place.
        drop(client.send(Some(&session), &cdp::FailRequest { request_id, error_reason: "Aborted" }));
        shared.touch();
    });
}

/// Confines all tabs, also those to come.
pub(crate) async fn close_gate(web: &mut Driven, roots: &[PathBuf]) -> Result<()> {
    let sessions: Vec<String> = {
        if web.around.known().file_roots.replace(roots.to_vec()).is_some() {
            return Ok(());
        }
        let state = web.page.tab.shared.state();
        state.tabs.keys().chain(state.children.keys()).cloned().collect()
    };
    let client = &web.page.tab.client;
    let closing: Vec<_> = sessions.iter().map(|s| client.send(Some(s), &closed())).collect();
    for answer in closing {
        match answer.await {
            Ok(_) => {}
            // A target that has gone shows nothing.
            Err(e) if e.session_gone() => {}
            Err(e) => return Err(web.page.tab.call_error(&e)),
        }
    }
    Ok(())
}
