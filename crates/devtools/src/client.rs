//! Commands, their answers, and events.

use crate::error::{CallError, Refusal};
use crate::json::to_valid_utf8;
use crate::transport::{FrameReader, FrameWriter};
use hashbrown::HashMap;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Sleep, sleep};

/// The default timeout of a command. A page whose script runs longer counts as hung.
const LIMIT: Duration = Duration::from_secs(20);

/// A command of the protocol. Its fields are the parameters.
pub trait Method: Serialize {
    /// The wire name, `Domain.method`.
    const NAME: &'static str;
    /// The parts of the answer that are needed.
    type Output: DeserializeOwned;
    /// The timeout, counted from the first poll of the reply.
    const LIMIT: Duration = LIMIT;
}

/// Receives events in the order in which they arrive, never from two threads at once. An
/// implementation must not block but may send commands.
pub trait Sink: Send + 'static {
    /// Receives one event of a session, or of the browser itself when `session` is `None`.
    fn event(&mut self, client: &Client, session: Option<&str>, method: &str, params: &RawValue);
    /// Reports that the connection to the browser ended. No event follows.
    fn lost(&mut self, reason: &str);
}

/// The size, in bytes, at which no more frames are added to a write: a pipe accepts this amount
/// without waiting for its reader.
const MAX_BATCH_BYTES: usize = 64 << 10;

type Answer = Result<Box<RawValue>, Refused>;

/// An error as the browser reports it.
#[derive(Debug, Deserialize)]
struct Refused {
    code: i64,
    message: String,
    #[serde(default)]
    data: Option<String>,
}

/// The commands that are waiting for answers.
#[derive(Default)]
struct Pending {
    table: Mutex<PendingTable>,
    next: AtomicU64,
}

#[derive(Default)]
struct PendingTable {
    pending_calls: HashMap<u64, oneshot::Sender<Answer>>,
    /// The reason why no more answers will come.
    lost: Option<String>,
}

impl Pending {
    fn table(&self) -> MutexGuard<'_, PendingTable> {
        // No code panics while holding the lock; even if it did, the table would still be
        // consistent.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail_all(&self, reason: &str) {
        let mut table = self.table();
        table.lost.get_or_insert_with(|| reason.to_owned());
        // The waiting callers find the reason in the table.
        table.pending_calls.clear();
    }

    fn lost(&self) -> Option<String> {
        self.table().lost.clone()
    }
}

/// A connection to a browser. Clones share the connection. When the last clone is dropped, the pipe
/// closes, and a browser that reads from a pipe exits.
#[derive(Clone)]
pub struct Client {
    outgoing: mpsc::UnboundedSender<Vec<u8>>,
    pending: Arc<Pending>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("open_calls", &self.pending.table().pending_calls.len()).finish()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outgoing<'a, M> {
    id: u64,
    method: &'static str,
    params: &'a M,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Incoming<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Refused>,
}

impl Client {
    /// Creates a client on a connection to a browser. Must be called within a Tokio runtime.
    #[must_use]
    pub fn new(from_browser: impl FrameReader, to_browser: impl FrameWriter, sink: impl Sink) -> Self {
        let (out, queue) = mpsc::unbounded_channel();
        let pending = Arc::new(Pending::default());
        let client = Self { outgoing: out, pending };
        tokio::spawn(write(to_browser, queue, Arc::clone(&client.pending)));
        tokio::spawn(read(from_browser, client.outgoing.downgrade(), Arc::clone(&client.pending), sink));
        client
    }

    /// Writes a command to a session, or to the browser itself when `session` is `None`, without
    /// waiting. Commands arrive in the order in which they are sent.
    pub fn send<M: Method>(&self, session: Option<&str>, method: &M) -> Reply<M> {
        let (reply, answer) = oneshot::channel();
        let id = self.pending.next.fetch_add(1, Ordering::Relaxed) + 1;
        let frame = Outgoing { id, method: M::NAME, params: method, session_id: session };
        let failure = match serde_json::to_vec(&frame) {
            Ok(bytes) => {
                let mut table = self.pending.table();
                if let Some(why) = &table.lost {
                    Some(CallError::Lost(why.clone()))
                } else {
                    table.pending_calls.insert(id, reply);
                    drop(table);
                    self.outgoing.send(bytes).err().map(|_| CallError::Lost("the browser is gone".to_owned()))
                }
            }
            Err(e) => Some(CallError::Malformed { method: M::NAME, message: e.to_string() }),
        };
        Reply { id, answer, failure, limit: None, pending: Arc::clone(&self.pending), output: PhantomData }
    }

    /// Writes a command and waits for its answer.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn call<M: Method>(&self, session: Option<&str>, method: &M) -> Result<M::Output, CallError> {
        self.send(session, method).await
    }

    /// Returns the reason why no more answers will come, or `None` while the connection is open.
    #[must_use]
    pub fn lost(&self) -> Option<String> {
        self.pending.lost()
    }
}

/// The pending answer to a command. Dropping the reply does not cancel the command.
#[must_use = "the answer shows whether the command worked; state a reason to drop it"]
pub struct Reply<M: Method> {
    id: u64,
    answer: oneshot::Receiver<Answer>,
    failure: Option<CallError>,
    /// The timer for the command's timeout, set when the reply is first polled.
    limit: Option<Pin<Box<Sleep>>>,
    pending: Arc<Pending>,
    output: PhantomData<fn() -> M>,
}

impl<M: Method> std::fmt::Debug for Reply<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reply").field("method", &M::NAME).field("id", &self.id).finish_non_exhaustive()
    }
}

impl<M: Method> Future for Reply<M> {
    type Output = Result<M::Output, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(failure) = self.failure.take() {
            return Poll::Ready(Err(failure));
        }
        let Poll::Ready(answer) = Pin::new(&mut self.answer).poll(cx) else {
            let limit = self.limit.get_or_insert_with(|| Box::pin(sleep(M::LIMIT)));
            return limit
                .as_mut()
                .poll(cx)
                .map(|()| Err(CallError::TimedOut { method: M::NAME, limit: M::LIMIT }));
        };
        Poll::Ready(match answer {
            Ok(Ok(result)) => serde_json::from_str(result.get())
                .map_err(|e| CallError::Malformed { method: M::NAME, message: e.to_string() }),
            Ok(Err(Refused { code, message, data })) => {
                let message = data.map_or(message.clone(), |data| format!("{message} ({data})"));
                let reason = Refusal::from_answer(code, &message);
                Err(CallError::Refused { method: M::NAME, code, message, reason })
            }
            Err(_) => {
                let ended = || "the connection to the browser ended".to_owned();
                Err(CallError::Lost(self.pending.lost().unwrap_or_else(ended)))
            }
        })
    }
}

impl<M: Method> Drop for Reply<M> {
    fn drop(&mut self) {
        self.pending.table().pending_calls.remove(&self.id);
    }
}

async fn write(
    mut browser: impl FrameWriter,
    mut queue: mpsc::UnboundedReceiver<Vec<u8>>,
    pending: Arc<Pending>,
) {
    while let Some(first) = queue.recv().await {
        // Frames that are sent together arrive together.
        let mut bytes = first.len();
        let mut frames = vec![first];
        while bytes < MAX_BATCH_BYTES
            && let Ok(next) = queue.try_recv()
        {
            bytes += next.len();
            frames.push(next);
        }
        if let Err(e) = browser.write(frames).await {
            pending.fail_all(&format!("the browser is gone ({e})"));
            return;
        }
    }
}

async fn read(
    mut browser: impl FrameReader,
    out: mpsc::WeakUnboundedSender<Vec<u8>>,
    pending: Arc<Pending>,
    mut sink: impl Sink,
) {
    let reason = loop {
        let frame = match browser.next().await {
            Ok(Some(frame)) => frame,
            Ok(None) => break "the browser closed the connection".to_owned(),
            Err(e) => break e.to_string(),
        };
        let text = to_valid_utf8(frame);
        let incoming: Incoming<'_> = match serde_json::from_str(&text) {
            Ok(incoming) => incoming,
            Err(e) => {
                tracing::warn!(error = %e, bytes = text.len(), "cannot parse a message from the browser");
                continue;
            }
        };
        match incoming {
            Incoming { id: Some(id), result, error, .. } => {
                let answer = match (result, error) {
                    (_, Some(refusal)) => Err(refusal),
                    (Some(result), None) => Ok(result.to_owned()),
                    (None, None) => Ok(RawValue::NULL.to_owned()),
                };
                if let Some(reply) = pending.table().pending_calls.remove(&id) {
                    // The caller may have stopped waiting.
                    let _ = reply.send(answer);
                }
            }
            Incoming { method: Some(method), session_id, params, .. } => {
                // The last client is gone, so the event is dropped.
                let Some(out) = out.upgrade() else { continue };
                let client = Client { outgoing: out, pending: Arc::clone(&pending) };
                sink.event(&client, session_id.as_deref(), &method, params.unwrap_or(RawValue::NULL));
            }
            Incoming { .. } => tracing::warn!("a message from the browser has neither id nor method"),
        }
    };
    // Tell the sink first: a caller woken by a lost call must find the reason in the state.
    sink.lost(&reason);
    pending.fail_all(&reason);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipe::{PipeReader, PipeWriter};
    use crate::protocol::Done;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::unix::pipe;

    /// A command that times out immediately.
    #[derive(Serialize)]
    struct Unanswered {}

    impl Method for Unanswered {
        const NAME: &'static str = "Test.impatient";
        type Output = Done;
        const LIMIT: Duration = Duration::ZERO;
    }

    struct IgnoreEvents;

    impl Sink for IgnoreEvents {
        fn event(&mut self, _: &Client, _: Option<&str>, _: &str, _: &RawValue) {}
        fn lost(&mut self, _: &str) {}
    }

    #[tokio::test]
    async fn every_call_ends_in_an_answer_a_refusal_or_at_its_limit() {
        let (mut theirs, from_browser) = pipe::pipe().unwrap();
        let (to_browser, mut read) = pipe::pipe().unwrap();
        let client = Client::new(PipeReader::new(from_browser), PipeWriter::new(to_browser), IgnoreEvents);
        let limit = client.call(None, &Unanswered {}).await.unwrap_err();
        assert_eq!(limit, CallError::TimedOut { method: "Test.impatient", limit: Duration::ZERO });
        assert_eq!(client.pending.table().pending_calls.len(), 0, "nobody waits for it any more");

        let refused = client.send(Some("s"), &crate::protocol::GetVersion {});
        let mut frame = vec![0; 256];
        assert!(read.read(&mut frame).await.unwrap() > 0);
        let answer = br#"{"id":2,"error":{"code":-32000,"message":"Execution context was destroyed."}}"#;
        theirs.write_all(&[answer, &b"\0"[..]].concat()).await.unwrap();
        let error = refused.await.unwrap_err();
        assert_eq!(error.refusal(), Some(Refusal::DocumentGone));

        drop(theirs);
        let lost = client.call(None, &crate::protocol::GetVersion {}).await.unwrap_err();
        assert!(matches!(lost, CallError::Lost(_)), "{lost}");
    }
}
