//! The responses to recent requests. A client that lost its connection repeats its request with the
//! same id, and gets the stored response: nothing is claimed or done twice.

use parking_lot::Mutex;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use stickpin_session::turn::AgentId;
use tokio::sync::watch;
use tokio::time::Instant;

/// The maximum number of stored responses. The oldest is dropped first.
const MAX_RESPONSES: usize = 1024;

/// The maximum size of all stored responses, in bytes of JSON.
const MAX_BYTES: usize = 8 << 20;

/// How long a response is stored.
const LIFETIME: Duration = Duration::from_secs(10 * 60);

/// The maximum length of a request id, in bytes.
pub(crate) const MAX_ID: usize = 128;

/// An agent and the id of one of its requests.
type Key = (AgentId, String);

/// The running requests, and the responses to recent ones.
#[derive(Debug, Default)]
pub(crate) struct ResponseCache(Mutex<Responses>);

#[derive(Debug, Default)]
struct Responses {
    running: BTreeMap<Key, watch::Receiver<()>>,
    stored: BTreeMap<Key, Arc<RawValue>>,
    /// The keys of `stored` and the times at which they were stored, oldest first.
    order: VecDeque<(Instant, Key)>,
    /// The total size of the responses in `stored`, in bytes.
    bytes: usize,
}

/// What is known about the id of a request.
#[derive(Debug)]
pub(crate) enum Lookup {
    /// The id is new, so the request has to run.
    New(RunningRequest),
    /// The request is running. The receiver fails when the request has ended.
    Running(watch::Receiver<()>),
    /// The request was answered.
    Stored(Arc<RawValue>),
}

/// A running request. When it is dropped without a response, its id becomes free again.
#[derive(Debug)]
pub(crate) struct RunningRequest {
    cache: Arc<ResponseCache>,
    key: Key,
    _ended: watch::Sender<()>,
}

impl RunningRequest {
    /// Stores the response, for repetitions of the request.
    pub(crate) fn store(self, response: Arc<RawValue>) {
        self.cache.0.lock().store(self.key.clone(), response);
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.cache.0.lock().running.remove(&self.key);
    }
}

impl ResponseCache {
    /// Looks up the id of a request. From then on, a request with a new id counts as running.
    pub(crate) fn lookup(self: &Arc<Self>, agent: &AgentId, id: &str) -> Lookup {
        let key = (agent.clone(), id.to_owned());
        let mut responses = self.0.lock();
        responses.drop_expired();
        if let Some(response) = responses.stored.get(&key) {
            return Lookup::Stored(Arc::clone(response));
        }
        if let Some(running) = responses.running.get(&key) {
            return Lookup::Running(running.clone());
        }
        let (ended, running) = watch::channel(());
        responses.running.insert(key.clone(), running);
        Lookup::New(RunningRequest { cache: Arc::clone(self), key, _ended: ended })
    }
}

impl Responses {
    fn store(&mut self, key: Key, response: Arc<RawValue>) {
        let size = response.get().len();
        if size > MAX_BYTES {
            return;
        }
        self.bytes += size;
        self.order.push_back((Instant::now(), key.clone()));
        self.stored.insert(key, response);
        while self.order.len() > MAX_RESPONSES || self.bytes > MAX_BYTES {
            self.drop_oldest();
        }
    }

    fn drop_expired(&mut self) {
        while self.order.front().is_some_and(|(stored, _)| stored.elapsed() >= LIFETIME) {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        let oldest = self.order.pop_front().and_then(|(_, key)| self.stored.remove(&key));
        self.bytes -= oldest.map_or(0, |response| response.get().len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::to_raw_value;

    fn response(text: &str) -> Arc<RawValue> {
        to_raw_value(text).unwrap().into()
    }

    fn begin(cache: &Arc<ResponseCache>, id: &str) -> RunningRequest {
        match cache.lookup(&AgentId::new("claude:ada"), id) {
            Lookup::New(running) => running,
            known => panic!("{id}: {known:?}"),
        }
    }

    fn stored(cache: &Arc<ResponseCache>, id: &str) -> Option<String> {
        match cache.lookup(&AgentId::new("claude:ada"), id) {
            Lookup::Stored(response) => Some(response.get().to_owned()),
            Lookup::New(_) | Lookup::Running(_) => None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn response_is_stored_for_its_agent_and_for_ten_minutes() {
        let cache = Arc::default();
        begin(&cache, "a").store(response("done"));
        assert_eq!(stored(&cache, "a").as_deref(), Some("\"done\""));
        assert!(matches!(cache.lookup(&AgentId::new("codex:bob"), "a"), Lookup::New(_)));
        tokio::time::advance(LIFETIME).await;
        assert_eq!(stored(&cache, "a"), None);
        assert_eq!(cache.0.lock().bytes, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn repetition_waits_for_the_running_request() {
        let cache = Arc::default();
        let running = begin(&cache, "a");
        let Lookup::Running(mut ended) = cache.lookup(&AgentId::new("claude:ada"), "a") else {
            panic!("it runs");
        };
        running.store(response("done"));
        assert!(ended.changed().await.is_err(), "it has ended");
        assert_eq!(stored(&cache, "a").as_deref(), Some("\"done\""));
        // A request without effect may be repeated.
        drop(begin(&cache, "b"));
        drop(begin(&cache, "b"));
    }

    #[tokio::test(start_paused = true)]
    async fn number_and_size_of_responses_are_limited() {
        let cache = Arc::default();
        for id in 0..=MAX_RESPONSES {
            begin(&cache, &id.to_string()).store(response("done"));
        }
        assert_eq!(stored(&cache, "0"), None);
        assert!(stored(&cache, "1").is_some());
        begin(&cache, "large").store(response(&"x".repeat(MAX_BYTES)));
        assert!(stored(&cache, "large").is_none() && stored(&cache, "1").is_some());
        begin(&cache, "half").store(response(&"x".repeat(MAX_BYTES - 100)));
        assert!(stored(&cache, "half").is_some() && stored(&cache, "1").is_none());
        assert!(cache.0.lock().bytes <= MAX_BYTES);
    }
}
