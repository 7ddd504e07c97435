//! Requests and downloads as text.

use std::time::Duration;
use stickpin_device::{NetworkRequest, RequestEnd, describe_request};
use stickpin_tree::escape;

/// Describes a request: `GET "/api/orders" pending for 4.2 s`, `POST "/api/order" -> 500`.
pub(crate) fn describe_network_request(request: &NetworkRequest) -> String {
    let what = describe_request(&request.method, &request.url);
    match &request.end {
        None => format!("{what} pending for {}", format_seconds(request.duration)),
        Some(RequestEnd::Status(status)) => format!("{what} -> {status}"),
        Some(RequestEnd::Failed(why)) => format!("{what} -> {}", escape(why, 80)),
        Some(_) => format!("{what} -> ended"),
    }
}

pub(crate) fn format_seconds(time: Duration) -> String {
    match time.as_millis() {
        ms @ 0..1_000 => format!("{ms} ms"),
        ms => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
    }
}

/// Describes the progress of a download: `3 of 120 kB`.
pub(crate) fn describe_progress(received: u64, total: Option<u64>) -> String {
    match total.filter(|t| *t > 0) {
        Some(total) => format!("{} of {} kB", received / 1_000, total.div_ceil(1_000)),
        None => format!("{} kB so far", received / 1_000),
    }
}
