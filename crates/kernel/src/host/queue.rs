//! A session's task and its mailbox.
//!
//! The task owns what is open and lends it to one command at a time, in the order of asking; [`Lane::Ahead`]
//! comes before all that wait. A command that only waits gives the loan back between its looks. A loan that is
//! dropped instead of returned was held by a command that hung or panicked: the session is lost then, and no
//! other is touched by it.
//!
//! While nobody asks, the device may read the app ahead ([`Device::rest`](stickpin_device::Device::rest)).

use crate::api::spec::Lane;
use crate::host::open_session::Live;
use std::collections::VecDeque;
use std::time::Duration;
use stickpin_device::{Error, Result};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long who asks waits for a reading that was begun ahead: most commands would have to make it anyway.
const READING: Duration = Duration::from_millis(500);

/// Where commands ask for the session.
#[derive(Debug, Clone)]
pub(crate) struct Mailbox {
    asks: mpsc::UnboundedSender<Ask>,
}

/// Where in the queue an ask goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Before all others.
    Ahead,
    /// After those that came before.
    Next,
    /// After all others: a wait that gave its loan back and wants to look again.
    Again,
}

impl From<Lane> for Turn {
    fn from(lane: Lane) -> Self {
        match lane {
            Lane::Ahead => Self::Ahead,
            Lane::InTurn | Lane::Beside => Self::Next,
        }
    }
}

#[derive(Debug)]
struct Ask {
    turn: Turn,
    reply: oneshot::Sender<Result<Loan>>,
}

/// What is open, lent to one command.
#[derive(Debug)]
pub(crate) struct Loan {
    /// Nothing while the session is being opened.
    pub(crate) live: Option<Box<Live>>,
    back: oneshot::Sender<Returned>,
    /// Set as soon as another command asks: a command that only waits gives the loan back then.
    pub(crate) wanted: CancellationToken,
    /// Set as soon as another wait wants to look again: it gets its turn after a look of this one, not at once, or
    /// two waits would hand the session to and fro without end.
    pub(crate) wanted_again: CancellationToken,
}

#[derive(Debug)]
struct Returned(Option<Box<Live>>);

impl Loan {
    /// Ends the loan in good order.
    pub(crate) fn give_back(self) {
        // A task that is gone has nothing to keep: the session was closed meanwhile.
        drop(self.back.send(Returned(self.live)));
    }
}

impl Mailbox {
    /// Starts the task of a session that is not open yet; `end` runs when it is over.
    pub(crate) fn start<F>(name: &str, end: impl FnOnce(End) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send,
    {
        let (asks, inbox) = mpsc::unbounded_channel();
        let task = Task { name: name.to_owned(), inbox, waiting: Default::default() };
        tokio::spawn(async move {
            let ended = task.serve().await;
            end(ended).await;
        });
        Self { asks }
    }

    /// Waits for the turn.
    ///
    /// # Errors
    /// `BACKEND_LOST`, `SESSION_NOT_FOUND` when it was closed meanwhile, `TIMEOUT` when `cancel` was set.
    pub(crate) async fn borrow(&self, name: &str, turn: Turn, cancel: &CancellationToken) -> Result<Loan> {
        let (reply, mut answer) = oneshot::channel();
        if self.asks.send(Ask { turn, reply }).is_err() {
            return Err(closed(name));
        }
        tokio::select! {
            biased;
            answer = &mut answer => answer.unwrap_or_else(|_| Err(closed(name))),
            () = cancel.cancelled() => {
                // A loan that was sent in this moment goes back: dropped, it would count as one that hung.
                answer.close();
                if let Ok(Ok(loan)) = answer.try_recv() {
                    loan.give_back();
                }
                Err(Error::timeout(format!("the command was ended while other commands of session `{name}` ran"),
                ))
            }
        }
    }
}

/// Why a session's task ended.
#[derive(Debug)]
pub(crate) enum End {
    /// Nobody holds the mailbox any more.
    Closed,
    /// Nothing was asked for the session's idle time.
    Idle(Box<Live>),
    /// What was open is gone: the loan that did not come back took it along, or its holder found it dead.
    Lost(Option<Box<Live>>),
}

/// No such session, or no longer.
pub(crate) fn closed(name: &str) -> Error {
    Error::session_not_found(format!("session `{name}` is not open"))
        .hint("stickpin open URL, or stickpin session list")
}

pub(crate) fn lost(name: &str) -> Error {
    Error::backend_lost(format!("the app behind session `{name}` no longer answers"))
        .hint("stickpin open it again: that starts a new lifetime")
}

/// Returns when what is open is worth reading ahead.
async fn rest(live: Option<&mut Live>) {
    match live.and_then(|live| live.device.lifecycle()) {
        Some(life) => life.idle_for_readahead().await,
        None => std::future::pending().await,
    }
}

struct Task {
    name: String,
    inbox: mpsc::UnboundedReceiver<Ask>,
    /// Who waits, by [`Turn`].
    waiting: [VecDeque<oneshot::Sender<Result<Loan>>>; 3],
}

impl Task {
    async fn serve(mut self) -> End {
        let mut live: Option<Box<Live>> = None;
        loop {
            let Some(reply) = self.next(live.as_deref_mut()).await else {
                return match live {
                    Some(live) if !self.inbox.is_closed() => End::Idle(live),
                    _ => End::Closed,
                };
            };
            live = match self.lend(live, reply).await {
                Ok(Some(live)) if live.lost => return self.lost(Some(live)),
                Ok(live) => live,
                Err(NotReturned) => return self.lost(None),
            };
        }
    }

    /// The next who asks; `None` when nobody did in time, or nobody can any more.
    async fn next(&mut self, mut live: Option<&mut Live>) -> Option<oneshot::Sender<Result<Loan>>> {
        let now = Instant::now();
        let until = live.as_ref().and_then(|live| live.idle_timeout).map(|idle| now + idle);
        loop {
            while let Ok(ask) = self.inbox.try_recv() {
                self.sort(ask);
            }
            if let Some(reply) = self.waiting.iter_mut().find_map(VecDeque::pop_front) {
                // Who gave up meanwhile is passed over.
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

    /// Has the app read; whoever asks meanwhile waits for that, but not for long.
    async fn read_ahead(&mut self, live: &mut Live) {
        let mut reading = std::pin::pin!(live.read_ahead());
        let ask = tokio::select! {
            biased;
            () = &mut reading => return,
            ask = self.inbox.recv() => ask,
        };
        let Some(ask) = ask else { return };
        self.sort(ask);
        if tokio::time::timeout(READING, reading).await.is_err() {
            tracing::debug!(session = self.name, "a reading ahead was given up");
        }
    }

    fn sort(&mut self, ask: Ask) {
        self.waiting[ask.turn as usize].push_back(ask.reply);
    }

    /// Lends it and takes it back.
    async fn lend(
        &mut self,
        live: Option<Box<Live>>,
        reply: oneshot::Sender<Result<Loan>>,
    ) -> Result<Option<Box<Live>>, NotReturned> {
        let (wanted, wanted_again) = (CancellationToken::new(), CancellationToken::new());
        self.tell(&wanted, &wanted_again);
        let (back, mut returned) = oneshot::channel();
        if let Err(Ok(loan)) =
            reply.send(Ok(Loan { live, back, wanted: wanted.clone(), wanted_again: wanted_again.clone() }))
        {
            return Ok(loan.live);
        }
        loop {
            tokio::select! {
                biased;
                returned = &mut returned => return returned.map(|Returned(live)| live).map_err(|_| NotReturned),
                Some(ask) = self.inbox.recv() => {
                    self.sort(ask);
                    self.tell(&wanted, &wanted_again);
                }
            }
        }
    }

    /// Tells the holder of the loan who waits.
    fn tell(&self, wanted: &CancellationToken, wanted_again: &CancellationToken) {
        let waits = |turn: Turn| !self.waiting[turn as usize].is_empty();
        if waits(Turn::Ahead) || waits(Turn::Next) {
            wanted.cancel();
        }
        if waits(Turn::Again) {
            wanted_again.cancel();
        }
    }

    /// Answers everyone who waits that the app is gone. Who asks later finds no task, and the host says why.
    fn lost(&mut self, live: Option<Box<Live>>) -> End {
        self.inbox.close();
        while let Ok(ask) = self.inbox.try_recv() {
            self.sort(ask);
        }
        for reply in self.waiting.iter_mut().flat_map(|queue| queue.drain(..)) {
            // Who no longer listens needs no answer.
            drop(reply.send(Err(lost(&self.name))));
        }
        End::Lost(live)
    }
}

/// The holder of a loan hung or panicked.
struct NotReturned;
