//! A session's task and its queue.
//!
//! The task owns the open session and lends it to one command at a time, in the order of the
//! requests. A request in [`Lane::Ahead`] precedes everything in the queue. A command that only
//! waits returns its checkout between checks.
//!
//! A checkout that is dropped instead of returned belonged to a command that hung or panicked: its
//! session is then lost, and no other session is affected.
//!
//! While the queue is empty, the device may read the app ahead
//! ([`Lifecycle::idle_for_readahead`](stickpin_device::Lifecycle::idle_for_readahead)).

use crate::api::spec::Lane;
use crate::host::open_session::OpenSession;
use std::collections::VecDeque;
use std::time::Duration;
use stickpin_device::{Error, Result};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The maximum time that a command waits for a read-ahead in progress. Most commands would have to
/// read the app themselves anyway.
const READ_AHEAD_TIMEOUT: Duration = Duration::from_millis(500);

/// The handle through which commands request the session.
#[derive(Debug, Clone)]
pub(crate) struct Mailbox {
    requests: mpsc::UnboundedSender<CheckoutRequest>,
}

/// The position of a request in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// Before all other requests.
    First,
    /// After earlier requests of this kind.
    Next,
    /// After all other requests: a wait that returned its checkout and wants to check again.
    Yielded,
}

impl From<Lane> for Position {
    fn from(lane: Lane) -> Self {
        match lane {
            Lane::Ahead => Self::First,
            Lane::InTurn | Lane::Beside => Self::Next,
        }
    }
}

#[derive(Debug)]
struct CheckoutRequest {
    position: Position,
    reply: oneshot::Sender<Result<Checkout>>,
}

/// The open session, lent to one command.
#[derive(Debug)]
pub(crate) struct Checkout {
    /// The session; `None` while it is being opened.
    pub(crate) session: Option<Box<OpenSession>>,
    return_to: oneshot::Sender<Option<Box<OpenSession>>>,
    /// Cancelled as soon as a command, other than a wait that yielded its checkout, requests the
    /// session. A command that only waits then returns its checkout.
    pub(crate) requested: CancellationToken,
    /// Cancelled as soon as another wait wants to check again. That wait checks only after this one
    /// has checked, because otherwise two waits would pass the session back and forth forever.
    pub(crate) requested_by_wait: CancellationToken,
}

impl Checkout {
    /// Returns the session to its task.
    pub(crate) fn give_back(self) {
        // If the task is gone, the session has been closed meanwhile.
        drop(self.return_to.send(self.session));
    }
}

impl Mailbox {
    /// Starts the task of a session that is not open yet. `end` runs when the task ends.
    pub(crate) fn start<F>(name: &str, end: impl FnOnce(TaskEnd) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send,
    {
        let (asks, inbox) = mpsc::unbounded_channel();
        let task = SessionTask { name: name.to_owned(), inbox, waiting: Default::default() };
        tokio::spawn(async move {
            let ended = task.serve().await;
            end(ended).await;
        });
        Self { requests: asks }
    }

    /// Waits in the queue of the session for the checkout.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST` when the session lost its app, `SESSION_NOT_FOUND` when it was closed
    /// in the meantime, and `TIMEOUT` when `cancel` was cancelled.
    pub(crate) async fn acquire(
        &self,
        name: &str,
        position: Position,
        cancel: &CancellationToken,
    ) -> Result<Checkout> {
        let (reply, mut answer) = oneshot::channel();
        if self.requests.send(CheckoutRequest { position, reply }).is_err() {
            return Err(not_open_error(name));
        }
        tokio::select! {
            biased;
            answer = &mut answer => answer.unwrap_or_else(|_| Err(not_open_error(name))),
            () = cancel.cancelled() => {
                // If a checkout is being sent at this moment, return it: a dropped checkout would
                // count as hung.
                answer.close();
                if let Ok(Ok(checkout)) = answer.try_recv() {
                    checkout.give_back();
                }
                Err(Error::timeout(format!("the command was cancelled while it was waiting for other commands in session `{name}`"),
                ))
            }
        }
    }
}

/// The reason why a session's task ended.
#[derive(Debug)]
pub(crate) enum TaskEnd {
    /// All mailbox handles were dropped.
    Closed,
    /// The idle timeout elapsed.
    Idle(Box<OpenSession>),
    /// The app is gone. Either a dropped checkout took the session with it, or a command found the
    /// app dead.
    Lost(Option<Box<OpenSession>>),
}

/// Creates the error for a session that is not open.
pub(crate) fn not_open_error(name: &str) -> Error {
    Error::session_not_found(format!("session `{name}` is not open"))
        .hint("run `stickpin open URL`, or `stickpin session list` to see what is open")
}

pub(crate) fn lost_app_error(name: &str) -> Error {
    ended_error(format!("session `{name}` lost its app"))
}

/// Creates the error for a command whose session has ended. `message` states why.
pub(crate) fn ended_error(message: String) -> Error {
    Error::backend_lost(message).hint("open the app again; this starts a new lifetime")
}

/// Waits until reading the app ahead is worthwhile. Never returns if no app is open or the device
/// cannot read ahead.
async fn rest(live: Option<&mut OpenSession>) {
    match live.and_then(|live| live.device.lifecycle()) {
        Some(life) => life.idle_for_readahead().await,
        None => std::future::pending().await,
    }
}

struct SessionTask {
    name: String,
    inbox: mpsc::UnboundedReceiver<CheckoutRequest>,
    /// The queues of requests, indexed by [`Position`].
    waiting: [VecDeque<oneshot::Sender<Result<Checkout>>>; 3],
}

impl SessionTask {
    async fn serve(mut self) -> TaskEnd {
        let mut live: Option<Box<OpenSession>> = None;
        loop {
            let Some(reply) = self.next(live.as_deref_mut()).await else {
                return match live {
                    Some(live) if !self.inbox.is_closed() => TaskEnd::Idle(live),
                    _ => TaskEnd::Closed,
                };
            };
            live = match self.lend(live, reply).await {
                Ok(Some(live)) if live.lost => return self.fail_queued(Some(live)),
                Ok(live) => live,
                Err(_) => return self.fail_queued(None),
            };
        }
    }

    /// Waits for the next request. Returns `None` after the idle timeout, or when all mailbox
    /// handles are gone.
    async fn next(
        &mut self,
        mut live: Option<&mut OpenSession>,
    ) -> Option<oneshot::Sender<Result<Checkout>>> {
        let now = Instant::now();
        let until = live.as_ref().and_then(|live| live.idle_timeout).map(|idle| now + idle);
        loop {
            while let Ok(ask) = self.inbox.try_recv() {
                self.sort(ask);
            }
            if let Some(reply) = self.waiting.iter_mut().find_map(VecDeque::pop_front) {
                // Skip requests that were cancelled.
                if reply.is_closed() {
                    continue;
                }
                return Some(reply);
            }
            tokio::select! {
                biased;
                ask = self.inbox.recv() => self.sort(ask?),
                () = tokio::time::sleep_until(until.unwrap_or(now)), if until.is_some() => return None,
                () = rest(live.as_deref_mut()) => self.read_ahead(live.as_deref_mut()?).await,
            }
        }
    }

    /// Reads the app ahead. A request that arrives meanwhile waits for the read-ahead, but not
    /// longer than [`READ_AHEAD_TIMEOUT`].
    async fn read_ahead(&mut self, live: &mut OpenSession) {
        let mut reading = std::pin::pin!(live.read_ahead());
        let ask = tokio::select! {
            biased;
            () = &mut reading => return,
            ask = self.inbox.recv() => ask,
        };
        let Some(ask) = ask else { return };
        self.sort(ask);
        if tokio::time::timeout(READ_AHEAD_TIMEOUT, reading).await.is_err() {
            tracing::debug!(session = self.name, "a read-ahead was abandoned");
        }
    }

    fn sort(&mut self, ask: CheckoutRequest) {
        self.waiting[ask.position as usize].push_back(ask.reply);
    }

    /// Lends the session to a command and waits for its return. An error means that the borrower
    /// hung or panicked.
    async fn lend(
        &mut self,
        live: Option<Box<OpenSession>>,
        reply: oneshot::Sender<Result<Checkout>>,
    ) -> Result<Option<Box<OpenSession>>, oneshot::error::RecvError> {
        let (wanted, wanted_again) = (CancellationToken::new(), CancellationToken::new());
        self.notify_borrower(&wanted, &wanted_again);
        let (back, mut returned) = oneshot::channel();
        if let Err(Ok(checkout)) = reply.send(Ok(Checkout {
            session: live,
            return_to: back,
            requested: wanted.clone(),
            requested_by_wait: wanted_again.clone(),
        })) {
            return Ok(checkout.session);
        }
        loop {
            tokio::select! {
                biased;
                returned = &mut returned => return returned,
                Some(ask) = self.inbox.recv() => {
                    self.sort(ask);
                    self.notify_borrower(&wanted, &wanted_again);
                }
            }
        }
    }

    /// Notifies the borrower of the kinds of requests that are queued.
    fn notify_borrower(&self, wanted: &CancellationToken, wanted_again: &CancellationToken) {
        let waits = |position: Position| !self.waiting[position as usize].is_empty();
        if waits(Position::First) || waits(Position::Next) {
            wanted.cancel();
        }
        if waits(Position::Yielded) {
            wanted_again.cancel();
        }
    }

    /// Fails all queued requests with `BACKEND_LOST`. Later requests find no task; the host reports
    /// why the session ended.
    fn fail_queued(&mut self, live: Option<Box<OpenSession>>) -> TaskEnd {
        self.inbox.close();
        while let Ok(ask) = self.inbox.try_recv() {
            self.sort(ask);
        }
        for reply in self.waiting.iter_mut().flat_map(|queue| queue.drain(..)) {
            // The requester may be gone.
            drop(reply.send(Err(lost_app_error(&self.name))));
        }
        TaskEnd::Lost(live)
    }
}
