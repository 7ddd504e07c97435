//! One connection: the answers that are waited for, and the signals that come by themselves.
//!
//! Calls go out in batches and are answered while the next are still being sent: over one socket an app answers a
//! thousand questions in the time of fifty that wait for each other. Answers and signals are taken in by one task, in
//! the order in which the app sent them, so an answer proves that what was signalled before it has been heard.
//!
//! What is asked in the same moment is written in one go, whoever asks: an app takes in what has come before it goes on
//! drawing, and one that draws answers later (ADR 35).

use super::body::{Call, Message};
use crate::bus::fault::Fault;
use crate::bus::limits::PATIENCE;
use hashbrown::{HashMap, HashSet};
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use zbus::export::futures_core::Stream;
use zbus::message::Type;
use zbus::{Connection, MessageStream, connection};

/// Who hears the signals of a connection, in their order. Called by the task that reads: it must not wait.
pub(crate) type Listener = Box<dyn Fn(&Message) + Send + Sync>;

/// A connection to a bus or to an app.
#[derive(Debug)]
pub(crate) struct Wire {
    shared: Arc<Shared>,
    connection: Connection,
    reader: tokio::task::JoinHandle<()>,
    writer: tokio::task::JoinHandle<()>,
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.reader.abort();
        self.writer.abort();
    }
}

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    /// What is to be written next, in the order in which it was asked.
    outbox: Mutex<Vec<zbus::Message>>,
    /// Something was put there.
    posted: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Which batch a call belongs to, and its place there.
    calls: HashMap<NonZeroU32, (Arc<Batch>, usize)>,
    /// Calls to an app that were given up after it had been silent for too long, and may be answered yet.
    overdue: HashSet<NonZeroU32>,
    /// One of them was an order, or asked behind one: what else waits here need not find that out by itself.
    blocked: bool,
    closed: Option<String>,
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Nothing panics while it is held; if something did, the state would still be whole.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has messages written with whatever else is posted until the writer comes to it.
    fn post(&self, messages: &[Result<zbus::Message, Fault>]) {
        lock(&self.outbox).extend(messages.iter().flatten().cloned());
        self.posted.notify_one();
    }

    fn close(&self, why: &str) {
        let mut waiting = self.waiting();
        waiting.closed.get_or_insert_with(|| why.to_owned());
        for (_, (batch, _)) in waiting.calls.drain() {
            batch.done.notify_one();
        }
    }
}

/// Calls that wait together.
#[derive(Debug)]
struct Batch {
    answers: Mutex<Answers>,
    done: Notify,
}

impl Batch {
    /// Takes the answer to the call at this place. One that comes after the batch was collected has no place any more.
    fn take(&self, at: usize, answer: Result<Message, Fault>) {
        let mut answers = lock(&self.answers);
        let Some(slot) = answers.slots.get_mut(at) else { return };
        *slot = Some(answer);
        answers.missing -= 1;
        answers.last = Instant::now();
        if answers.missing == 0 {
            self.done.notify_one();
        }
    }
}

#[derive(Debug)]
struct Answers {
    slots: Vec<Option<Result<Message, Fault>>>,
    missing: usize,
    last: Instant,
}

impl Wire {
    /// Connects to the first of the addresses that answers (`unix:path=…;unix:abstract=…`), each within `patience`. An app
    /// names its own address, so other transports are refused: `unixexec:` starts a program.
    ///
    /// # Errors
    /// `Closed` when none does.
    pub(crate) async fn connect(
        addresses: &str,
        bus: bool,
        patience: Duration,
        listener: Listener,
    ) -> Result<Self, Fault> {
        let mut failed = Fault::Closed(format!("{addresses:?} names nothing to connect to"));
        for address in addresses.split(';').filter(|address| !address.is_empty()) {
            if !address.starts_with("unix:") {
                failed = Fault::Closed(format!(
                    "{}: not an address of a socket (unix:)",
                    stickpin_tree::quote(address)
                ));
                continue;
            }
            let builder = connection::Builder::address(address);
            let builder = if bus { builder } else { builder.p2p() };
            match timeout(patience, builder.build()).await {
                Ok(Ok(connection)) => return Ok(Self::over(connection, listener)),
                Ok(Err(e)) => failed = Fault::Closed(format!("{address}: {e}")),
                Err(_) => failed = Fault::Silent(patience.as_millis()),
            }
        }
        Err(failed)
    }

    fn over(connection: Connection, listener: Listener) -> Self {
        let shared = Arc::new(Shared::default());
        let stream = MessageStream::from(&connection);
        let reader = tokio::spawn(read_all(stream, Arc::clone(&shared), listener));
        let writer = tokio::spawn(write_all(connection.clone(), Arc::clone(&shared)));
        Self { shared, connection, reader, writer }
    }

    /// Our name on the bus; empty for a connection to an app.
    pub(crate) fn name(&self) -> &str {
        self.connection.unique_name().map_or("", |name| name.as_str())
    }

    /// Whether nothing more will be answered.
    pub(crate) fn closed(&self) -> bool {
        self.shared.waiting().closed.is_some()
    }

    /// Whether an app still owes an answer here: it hangs, or it answers when what it shows from inside a call is closed
    /// (`gtk_dialog_run`), and takes in nothing more on this connection before.
    pub(super) fn stuck(&self) -> bool {
        !self.shared.waiting().overdue.is_empty()
    }

    /// One call.
    ///
    /// # Errors
    /// Why there is no answer.
    pub(crate) async fn call(
        &self,
        destination: Option<&str>,
        call: &Call<'_>,
        deadline: Duration,
    ) -> Result<Message, Fault> {
        let mut answers = self.calls(destination, std::slice::from_ref(call), deadline).await;
        answers.pop().unwrap_or(Err(Fault::Silent(deadline.as_millis())))
    }

    /// Many calls at once; their answers in the same order. `patience` is how long nothing at all may come: each answer
    /// gives the next as long.
    pub(crate) async fn calls(
        &self,
        destination: Option<&str>,
        calls: &[Call<'_>],
        patience: Duration,
    ) -> Vec<Result<Message, Fault>> {
        let messages: Vec<_> = calls.iter().map(|call| call.message(destination)).collect();
        let missing = messages.iter().filter(|message| message.is_ok()).count();
        let slots = messages.iter().map(|message| message.as_ref().err().cloned().map(Err)).collect();
        let batch = Arc::new(Batch {
            answers: Mutex::new(Answers { slots, missing, last: Instant::now() }),
            done: Notify::new(),
        });
        let forget = Forget { shared: &self.shared, messages: &messages };
        let closed = {
            let mut waiting = self.shared.waiting();
            for (at, serial) in forget.serials() {
                waiting.calls.insert(serial, (Arc::clone(&batch), at));
            }
            waiting.closed.clone()
        };
        let failed = match closed {
            Some(why) => Some(Fault::Closed(why)),
            None => {
                self.shared.post(&messages);
                self.collect(&batch, patience).await
            }
        };
        if destination.is_none() && matches!(failed, Some(Fault::Silent(_))) {
            let waiting = &mut *self.shared.waiting();
            let late: Vec<_> = forget.serials().map(|(_, serial)| serial).collect();
            waiting.overdue.extend(late.into_iter().filter(|serial| waiting.calls.contains_key(serial)));
            // Questions have their own time, an order less. It may have been answered just now.
            if patience < PATIENCE && !waiting.overdue.is_empty() {
                waiting.blocked = true;
                waiting.calls.values().for_each(|(behind, _)| behind.done.notify_one());
            }
        }
        drop(forget);
        let mut answers = lock(&batch.answers);
        let failed = failed.unwrap_or(Fault::Silent(patience.as_millis()));
        answers.slots.drain(..).map(|slot| slot.unwrap_or_else(|| Err(failed.clone()))).collect()
    }

    /// As many calls to an app as `count` says, of which at most `at_once` are under way. They are made when it is their
    /// turn: the app has something to do while the next are made. What their answers say is read in between, too.
    pub(super) async fn in_parts<'a, T>(
        &self,
        destination: Option<&str>,
        count: usize,
        call: impl Fn(usize) -> Call<'a>,
        said: impl Fn(usize, Result<Message, Fault>) -> T,
        at_once: usize,
    ) -> Vec<T> {
        let mut out = Vec::with_capacity(count);
        while out.len() < count {
            let part: Vec<Call<'_>> = (out.len()..count).take(at_once).map(&call).collect();
            let answers = self.calls(destination, &part, PATIENCE).await;
            let lost = |fault: &&Fault| matches!(fault, Fault::Closed(_) | Fault::Silent(_) | Fault::Stuck);
            let lost = answers.iter().filter_map(|answer| answer.as_ref().err()).find(lost).cloned();
            answers.into_iter().for_each(|answer| out.push(said(out.len(), answer)));
            if let Some(fault) = lost {
                // An app that has just been silent for so long is not asked the rest.
                (out.len()..count).for_each(|n| out.push(said(n, Err(fault.clone()))));
            }
        }
        out
    }

    /// Waits for the answers of a batch; why some are missing, if some are.
    async fn collect(&self, batch: &Batch, patience: Duration) -> Option<Fault> {
        loop {
            let (missing, last) = {
                let answers = lock(&batch.answers);
                (answers.missing, answers.last)
            };
            if missing == 0 {
                return None;
            }
            if let Some(why) = &self.shared.waiting().closed {
                return Some(Fault::Closed(why.clone()));
            }
            if self.shared.waiting().blocked {
                return Some(Fault::Stuck);
            }
            if last.elapsed() >= patience {
                return Some(Fault::Silent(patience.as_millis()));
            }
            // Whether it was woken or not: it looks again.
            drop(tokio::time::timeout_at(last + patience, batch.done.notified()).await);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the calls of a batch out of those that are waited for, also when whoever waited does not any more.
struct Forget<'a> {
    shared: &'a Shared,
    messages: &'a [Result<zbus::Message, Fault>],
}

impl Forget<'_> {
    /// The places of the calls that are sent, and what their answers name.
    fn serials(&self) -> impl Iterator<Item = (usize, NonZeroU32)> {
        let sent = self.messages.iter().enumerate();
        sent.filter_map(|(at, message)| Some((at, message.as_ref().ok()?.primary_header().serial_num())))
    }
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        let mut waiting = self.shared.waiting();
        for (_, serial) in self.serials() {
            waiting.calls.remove(&serial);
        }
    }
}

/// Writes what is posted, all that there is at once, until nobody reads it any more.
///
/// A task of its own: it comes to it when who posts waits for an answer, and a half-written message is finished, whoever
/// has given up waiting meanwhile.
async fn write_all(connection: Connection, shared: Arc<Shared>) {
    let why = loop {
        let messages = std::mem::take(&mut *lock(&shared.outbox));
        if messages.is_empty() {
            shared.posted.notified().await;
            continue;
        }
        match timeout(PATIENCE, connection.send_all(&messages)).await {
            Ok(Ok(())) => {}
            Ok(Err(e)) => break e.to_string(),
            // Half a message may have been written: nothing can be said on this connection any more.
            Err(_) => break "it reads nothing that is written to it".to_owned(),
        }
    };
    shared.close(&why);
}

/// Reads until the other side closes the connection.
async fn read_all(mut stream: MessageStream, shared: Arc<Shared>, listener: Listener) {
    let why = loop {
        match std::future::poll_fn(|cx| Pin::new(&mut stream).poll_next(cx)).await {
            Some(Ok(message)) => received(&shared, &listener, message),
            Some(Err(e)) => break e.to_string(),
            None => break "it was closed by the other side".to_owned(),
        }
    };
    shared.close(&why);
}

fn received(shared: &Shared, listener: &Listener, message: zbus::Message) {
    match message.message_type() {
        Type::Signal => listener(&Message::new(message)),
        // Nobody has anything to ask of us.
        Type::MethodCall => {}
        Type::MethodReturn | Type::Error => {
            let Some(to) = message.header().reply_serial() else { return };
            let mut waiting = shared.waiting();
            waiting.overdue.remove(&to);
            waiting.blocked &= !waiting.overdue.is_empty();
            let Some((batch, at)) = waiting.calls.remove(&to) else { return };
            drop(waiting);
            let answer = Message::new(message);
            let answer = answer.fault().map_or(Ok(answer), Err);
            batch.take(at, answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::body::Args;
    use crate::tests::peer::App;
    use std::future::Future;
    use std::pin::pin;
    use std::task::Poll;

    #[test]
    fn answer_after_collection_has_no_place() {
        let answers = Answers { slots: Vec::new(), missing: 0, last: Instant::now() };
        let batch = Batch { answers: Mutex::new(answers), done: Notify::new() };
        batch.take(3, Err(Fault::Vanished));
        assert_eq!(lock(&batch.answers).slots.len(), 0);
    }

    #[tokio::test]
    async fn address_of_another_transport_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("started");
        let program = format!("unixexec:path=/usr/bin/touch,argv1={}", mark.display());
        for address in [program.as_str(), "tcp:host=127.0.0.1,port=1", "autolaunch:"] {
            let refused = Wire::connect(address, false, Duration::from_secs(5), Box::new(|_| {})).await;
            let Err(Fault::Closed(why)) = refused else { panic!("{address}: {refused:?}") };
            assert!(why.contains("not an address of a socket"), "{why}");
        }
        assert!(!mark.exists());
        let app = App::start();
        let both = format!("{program};{}", app.address());
        assert!(Wire::connect(&both, false, Duration::from_secs(5), Box::new(|_| {})).await.is_ok());
    }

    #[tokio::test]
    async fn what_is_asked_in_the_same_moment_is_written_in_one_go_whoever_gives_up_waiting() {
        let app = App::start();
        let wire = app.connect(Box::new(|_| {})).await;
        let call = Call { path: "/a", interface: "a.b", member: "C", args: Args::new() };
        let patience = Duration::from_secs(5);
        let mut second = pin!(wire.call(None, &call, patience));
        {
            let mut first = pin!(wire.call(None, &call, patience));
            std::future::poll_fn(|cx| {
                assert!(first.as_mut().poll(cx).is_pending() && second.as_mut().poll(cx).is_pending());
                Poll::Ready(())
            })
            .await;
            assert_eq!(lock(&wire.shared.outbox).len(), 2, "nothing is written while there is more to ask");
        }
        assert_eq!(second.await.map(drop), Err(Fault::Unknown));
        assert!(lock(&wire.shared.outbox).is_empty());
        assert_eq!(app.calls(), 2);
    }
}
