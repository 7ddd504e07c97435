//! The log of a page's requests.

use super::TabState;
use std::time::{Duration, Instant};
use stickpin_device::RequestEnd;

/// The maximum number of requests that are remembered.
const MAX_LOGGED_REQUESTS: usize = 300;

/// The duration from which a request counts as held open by the server.
const LONG_REQUEST: Duration = Duration::from_secs(5);

/// A request in the log.
#[derive(Debug)]
pub(crate) struct LoggedRequest {
    pub id: String,
    pub(crate) method: String,
    pub url: String,
    pub(crate) began: Instant,
    /// The status of the response; `None` before it has begun to arrive.
    pub(crate) status: Option<u16>,
    pub(crate) end: Option<(RequestEnd, Instant)>,
    /// Whether a wait for quiet includes the request, as in [`super::Request`].
    pub(crate) counts: bool,
    /// Whether a script made the request, through `fetch` or a similar function.
    pub(crate) by_script: bool,
    /// Whether the request was reported as the effect of an action.
    pub(crate) reported: bool,
    /// Whether the request is for the document of a frame.
    document: bool,
}

impl LoggedRequest {
    pub fn new(id: String, method: String, url: String, kind: &str) -> Self {
        let document = kind == "Document";
        let began = Instant::now();
        Self {
            id,
            method,
            url,
            began,
            status: None,
            end: None,
            counts: true,
            by_script: false,
            reported: false,
            document,
        }
    }

    pub(crate) fn duration(&self) -> Duration {
        self.end.as_ref().map_or_else(Instant::now, |(_, at)| *at).duration_since(self.began)
    }

    /// Returns whether this is a script's request that the server held open for a long time.
    pub(crate) fn is_long(&self) -> bool {
        self.by_script && self.duration() >= LONG_REQUEST
    }

    /// Returns whether two requests have the same method and URL, ignoring queries and fragments.
    pub(crate) fn is_repeat_of(&self, other: &Self) -> bool {
        let path = |url: &str| url.split(['?', '#']).next().unwrap_or_default().to_owned();
        self.method == other.method && path(&self.url) == path(&other.url)
    }

    /// Returns whether the request began or ended at or after `since`, or is still pending.
    pub(crate) fn overlaps_since(&self, since: Instant) -> bool {
        self.began >= since || self.end.as_ref().is_none_or(|(_, at)| *at >= since)
    }
}

impl TabState {
    /// Adds a request to the log.
    pub(crate) fn log_request(&mut self, request: LoggedRequest) {
        if self.traffic.len() == MAX_LOGGED_REQUESTS {
            self.traffic.pop_front();
        }
        self.traffic.push_back(request);
    }

    /// Records that the document was left: its pending requests fail, except those for documents.
    pub(crate) fn discard_requests(&mut self) {
        for request in self.traffic.iter_mut().filter(|s| !s.document && s.end.is_none()) {
            request.end = Some((RequestEnd::Failed("the page was left".to_owned()), Instant::now()));
        }
    }

    /// Returns the response status of the last document requested at or after `since`.
    pub fn document_status(&self, since: Instant) -> Option<u16> {
        self.traffic.iter().rev().find(|s| s.document && s.began >= since)?.status
    }

    /// Returns whether a navigation is pending, or a script's request that began at or after
    /// `since` and delays quiet.
    pub(crate) fn is_loading_since(&self, since: Instant) -> bool {
        let request = |s: &LoggedRequest| s.by_script && s.counts && s.end.is_none() && s.began >= since;
        self.navigating.is_some() || self.traffic.iter().any(request)
    }
}
