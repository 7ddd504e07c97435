//! Requests: which of them quiet waits for, and which have failed.

use super::{clip, read};
use crate::cdp::protocol as cdp;
use crate::state::{Request, TabState};
use serde_json::value::RawValue;
use std::time::Instant;
use stickpin_kernel::device::Notice;

/// The types of requests that quiet never waits for: they stay open, or nobody looks at their end.
const LONG_LIVED: &[&str] =
    &["EventSource", "WebSocket", "Ping", "Media", "CSPViolationReport", "Prefetch", "Preflight", "Manifest"];

/// Writes down what an event of the domain `Network` says.
pub(super) fn event(tab: &mut TabState, name: &str, params: &RawValue) {
    match name {
        "requestWillBeSent" => {
            if let Some(event) = read::<cdp::RequestWillBeSent>(name, params) {
                let kind = event.r#type.unwrap_or_default();
                let favicon = kind == "Other" && event.request.url.ends_with("/favicon.ico");
                let request = Request {
                    counts: !LONG_LIVED.contains(&kind.as_str()) && !favicon,
                    reported: !favicon,
                    method: event.request.method,
                    url: event.request.url,
                    since: Instant::now(),
                };
                if request.counts {
                    tab.active();
                }
                tab.requests.insert(event.request_id, request);
            }
        }
        "responseReceived" => {
            if let Some(cdp::ResponseReceived { request_id, response, .. }) = read(name, params)
                && let Some(request) = tab.requests.get_mut(&request_id)
            {
                // A stream of events that was asked for by `fetch` shows only now what it is.
                if response.mime_type == "text/event-stream" {
                    request.counts = false;
                }
                if response.status >= 400 && request.reported {
                    let notice = failed(request, response.status.to_string());
                    tab.notice(notice);
                }
            }
        }
        "loadingFinished" => {
            if let Some(cdp::LoadingFinished { request_id }) = read(name, params) {
                finished(tab, &request_id);
            }
        }
        "loadingFailed" => {
            if let Some(event) = read::<cdp::LoadingFailed>(name, params)
                && let Some(request) = finished(tab, &event.request_id)
                && !event.canceled
                && event.error_text != "net::ERR_ABORTED"
                && request.reported
            {
                let why = event.blocked_reason.filter(|r| !r.is_empty()).unwrap_or(event.error_text);
                tab.notice(failed(&request, why));
            }
        }
        _ => {}
    }
}

fn finished(tab: &mut TabState, id: &str) -> Option<Request> {
    let request = tab.requests.remove(id)?;
    if request.counts {
        tab.active();
    }
    Some(request)
}

fn failed(request: &Request, why: String) -> Notice {
    Notice::RequestFailed { method: request.method.clone(), url: clip(&request.url), why }
}
