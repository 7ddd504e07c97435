//! Tracks requests: which of them delay quiet, and which failed.

use super::{clip, read};
use crate::state::traffic::LoggedRequest;
use crate::state::{Request, TabState};
use serde_json::value::RawValue;
use std::time::Instant;
use stickpin_device::{Notice, RequestEnd};
use stickpin_devtools::protocol as cdp;

/// The types of requests that never delay quiet: they stay open, or nothing visible depends on
/// them.
const LONG_LIVED_TYPES: &[&str] =
    &["EventSource", "WebSocket", "Ping", "Media", "CSPViolationReport", "Prefetch", "Preflight", "Manifest"];

/// The types of requests without an expected answer: a failure of such a request is not worth a
/// notice.
const UNANSWERED_TYPES: &[&str] = &["Ping", "CSPViolationReport", "Prefetch", "Preflight"];

/// The maximum number of worker URLs that a tab remembers.
const WORKERS: usize = 50;

/// The types of requests that scripts make. Their responses may last as long as the page.
const BY_SCRIPT: &[&str] = &["Fetch", "XHR"];

/// Records an event from the `Network` domain. Returns `None` only if the event was not understood
/// or its request is unknown.
pub(super) fn event(tab: &mut TabState, name: &str, params: &RawValue) -> Option<()> {
    match name {
        "requestWillBeSent" => request_began(tab, read(name, params)?),
        "responseReceived" => response_received(tab, &read(name, params)?),
        "loadingFinished" => {
            let cdp::LoadingFinished { request_id } = read(name, params)?;
            request_ended(tab, &request_id, None);
            remove_request(tab, &request_id);
        }
        "loadingFailed" => {
            let event: cdp::LoadingFailed = read(name, params)?;
            let cors = event.cors_error_status.map(|e| format!("blocked by CORS: {}", e.cors_error));
            let why = cors.or(event.blocked_reason.filter(|r| !r.is_empty())).unwrap_or(event.error_text);
            request_ended(tab, &event.request_id, Some(RequestEnd::Failed(why.clone())));
            let request = remove_request(tab, &event.request_id)?;
            if !event.canceled && why != "net::ERR_ABORTED" && request.reported {
                tab.notice(failure_notice(&request, why));
            }
        }
        _ => {}
    }
    Some(())
}

fn request_began(tab: &mut TabState, event: cdp::RequestWillBeSent) {
    if let Some(redirect) = event.redirect_response {
        request_ended(tab, &event.request_id, Some(RequestEnd::Status(status(redirect.status))));
    }
    let kind = event.r#type.unwrap_or_default();
    let favicon = kind == "Other" && event.request.url.ends_with("/favicon.ico");
    let by_script = BY_SCRIPT.contains(&kind.as_str());
    let is_long_lived = LONG_LIVED_TYPES.contains(&kind.as_str()) || favicon;
    let mut seen =
        LoggedRequest::new(event.request_id.clone(), event.request.method, event.request.url, &kind);
    let request = Request {
        // A repeat of a request that took long is a poll that the server holds open.
        counts: !(is_long_lived
            || tab.workers.contains(&seen.url)
            || by_script && tab.traffic.iter().any(|s| s.is_long() && s.is_repeat_of(&seen))),
        reported: !favicon && !UNANSWERED_TYPES.contains(&kind.as_str()),
        method: seen.method.clone(),
        url: seen.url.clone(),
        since: seen.began,
        answered: None,
    };
    if request.counts {
        tab.note_activity();
    }
    (seen.counts, seen.by_script) = (request.counts, by_script);
    tab.log_request(seen);
    tab.requests.insert(event.request_id, request);
}

/// Records that a worker runs this script. Only the worker itself learns how the request for the
/// script ended.
pub fn worker(tab: &mut TabState, url: String) {
    let mut waits = false;
    for request in tab.requests.values_mut().filter(|r| r.counts && r.url == url) {
        request.counts = false;
        waits = true;
    }
    if waits {
        tab.note_activity();
    }
    if !tab.workers.contains(&url) {
        tab.workers.push_back(url);
    }
    if tab.workers.len() > WORKERS {
        tab.workers.pop_front();
    }
}

fn response_received(tab: &mut TabState, event: &cdp::ResponseReceived) {
    let cdp::ResponseReceived { request_id, response, .. } = event;
    let mut ends = false;
    if let Some(seen) = tab.traffic.iter_mut().rev().find(|s| s.id == *request_id && s.end.is_none()) {
        seen.status = Some(status(response.status));
        // The body of a script's request may never end: an unread body stays in the pipe.
        ends = !seen.counts || seen.by_script;
    }
    let Some(request) = tab.requests.get_mut(request_id) else { return };
    // An event stream requested by `fetch` is recognizable only from its response.
    if response.mime_type == "text/event-stream" {
        request.counts = false;
        ends = true;
    }
    if event.r#type.as_deref().is_some_and(|kind| BY_SCRIPT.contains(&kind)) {
        request.answered = Some(Instant::now());
    }
    if response.status >= 400 && request.reported {
        let notice = failure_notice(request, response.status.to_string());
        tab.notice(notice);
    }
    if ends {
        request_ended(tab, request_id, None);
    }
}

fn status(status: i64) -> u16 {
    u16::try_from(status).unwrap_or(0)
}

/// Marks a request as ended: with `end` or, if that is `None`, with the status of its response.
fn request_ended(tab: &mut TabState, id: &str, end: Option<RequestEnd>) {
    if let Some(seen) = tab.traffic.iter_mut().rev().find(|s| s.id == id && s.end.is_none()) {
        let end = end.unwrap_or_else(|| RequestEnd::Status(seen.status.unwrap_or(200)));
        seen.end = Some((end, Instant::now()));
    }
}

fn remove_request(tab: &mut TabState, id: &str) -> Option<Request> {
    let request = tab.requests.remove(id)?;
    if request.counts {
        tab.note_activity();
    }
    Some(request)
}

fn failure_notice(request: &Request, reason: String) -> Notice {
    Notice::RequestFailed { method: request.method.clone(), url: clip(&request.url), why: reason }
}
