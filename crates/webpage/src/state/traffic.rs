//! The requests of a page that are remembered.

use super::TabState;
use std::time::{Duration, Instant};
use stickpin_device::RequestEnd;

/// Requests that are remembered.
const REMEMBERED: usize = 300;

/// What takes longer than this is held open by the server.
const LONG: Duration = Duration::from_secs(5);

/// A request that was seen.
#[derive(Debug)]
pub(crate) struct Seen {
    pub id: String,
    pub(crate) method: String,
    pub url: String,
    pub(crate) began: Instant,
    /// What it was answered with, while its body still comes.
    pub(crate) status: Option<u16>,
    pub(crate) end: Option<(RequestEnd, Instant)>,
    /// As in [`super::Request`].
    pub(crate) counts: bool,
    /// A script asked, by `fetch` or the like.
    pub(crate) by_script: bool,
    /// It was told as the effect of an act.
    pub(crate) told: bool,
    /// The document of a frame.
    document: bool,
}

impl Seen {
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
            told: false,
            document,
        }
    }

    pub(crate) fn took(&self) -> Duration {
        self.end.as_ref().map_or_else(Instant::now, |(_, at)| *at).duration_since(self.began)
    }

    /// Whether it took so long that it is no answer that anybody waits for.
    pub(crate) fn is_long(&self) -> bool {
        self.by_script && self.took() >= LONG
    }

    /// Whether two ask for the same, queries aside.
    pub(crate) fn asks_like(&self, other: &Self) -> bool {
        let path = |url: &str| url.split(['?', '#']).next().unwrap_or_default().to_owned();
        self.method == other.method && path(&self.url) == path(&other.url)
    }

    /// Whether it belongs to what came after a moment.
    pub(crate) fn is_since(&self, begun: Instant) -> bool {
        self.began >= begun || self.end.as_ref().is_none_or(|(_, at)| *at >= begun)
    }
}

impl TabState {
    /// Remembers a request.
    pub(crate) fn saw(&mut self, seen: Seen) {
        if self.traffic.len() == REMEMBERED {
            self.traffic.pop_front();
        }
        self.traffic.push_back(seen);
    }

    /// The document went away, and what its scripts waited for with it.
    pub(crate) fn left_traffic(&mut self) {
        for seen in self.traffic.iter_mut().filter(|s| !s.document && s.end.is_none()) {
            seen.end = Some((RequestEnd::Failed("the page was left".to_owned()), Instant::now()));
        }
    }

    /// What the last document that was asked for since then was answered with.
    pub fn answered_with(&self, since: Instant) -> Option<u16> {
        self.traffic.iter().rev().find(|s| s.document && s.began >= since)?.status
    }

    /// Whether something that began since then, and that an act may have set off, is not over.
    pub(crate) fn under_way(&self, begun: Instant) -> bool {
        let request = |s: &Seen| s.by_script && s.counts && s.end.is_none() && s.began >= begun;
        self.navigating.is_some() || self.traffic.iter().any(request)
    }
}
