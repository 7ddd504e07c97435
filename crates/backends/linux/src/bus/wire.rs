//! One connection: the answers that are waited for, and the signals that come by themselves.
//!
//! Calls go out in batches and are answered while the next are still being sent: over one socket an
//! app answers a thousand questions in the time of fifty that wait for each other. Answers and
//! signals are taken in by one task, in the order in which the app sent them, so an answer proves
//! that what was signalled before it has been heard.
//!
//! What is asked in the same moment is written in one go, whoever asks: an app takes in what has
//! come before it goes on drawing, and one that draws answers later (ADR 35).

use super::body::{Call, Message};
use crate::bus::fault::Fault;
use crate::bus::limits::{AT_ONCE, PATIENCE};
use hashbrown::HashMap;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::timeout;
use zbus::export::futures_core::Stream;
use zbus::message::Type;
use zbus::{Connection, MessageStream, connection};

/// Who hears the signals of a connection, in their order. Called by the task that reads: it must
/// not wait.
pub(crate) type Listener = Box<dyn Fn(&Message) + Send + Sync>;

/// A connection to a bus or to an app.
#[derive(Debug)]
pub(crate) struct Wire {
    shared: Arc<Shared>,
    connection: Connection,
    /// What is to be written, in the order in which it was asked. The writer ends with it.
    outbox: mpsc::UnboundedSender<zbus::Message>,
    /// Ends with the connection.
    _reader: JoinSet<()>,
}

/// The answer to a call, or why there is none.
pub(crate) type Answer = Result<Message, Fault>;

#[derive(Debug, Default)]
struct Shared(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// Who waits for the answer to a call. One that nobody waits for any more is owed all the same.
    calls: HashMap<NonZeroU32, oneshot::Sender<Answer>>,
    closed: Option<String>,
    /// How often something was written.
    #[cfg(test)]
    trips: usize,
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Nothing panics while it is held; if something did, the state would still be whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self, why: &str) {
        let mut waiting = self.waiting();
        let why = waiting.closed.get_or_insert_with(|| why.to_owned()).clone();
        for (_, call) in waiting.calls.drain() {
            // Whoever gave up waiting knows.
            call.send(Err(Fault::Closed(why.clone()))).ok();
        }
    }
}

impl Wire {
    /// Connects to the first of the addresses that answers (`unix:path=…;unix:abstract=…`), each
    /// within `patience`. An app names its own address, so other transports are refused:
    /// `unixexec:` starts a program.
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
                let address = stickpin_tree::quote(address);
                failed = Fault::Closed(format!("{address}: not an address of a socket (unix:)"));
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
        let (outbox, posted) = mpsc::unbounded_channel();
        let mut reader = JoinSet::new();
        reader.spawn(read_all(stream, Arc::clone(&shared), listener));
        tokio::spawn(write_all(connection.clone(), posted, Arc::clone(&shared)));
        Self { shared, connection, outbox, _reader: reader }
    }

    /// Our name on the bus; empty for a connection to an app.
    pub(crate) fn name(&self) -> &str {
        self.connection.unique_name().map_or("", |name| name.as_str())
    }

    /// Whether nothing more will be answered.
    pub(crate) fn closed(&self) -> bool {
        self.shared.waiting().closed.is_some()
    }

    /// Whether an app still owes an answer here that nobody waits for any more: it hangs, or it
    /// answers when what it shows from inside a call is closed (`gtk_dialog_run`), and takes in
    /// nothing more on this connection before.
    pub(super) fn stuck(&self) -> bool {
        self.shared.waiting().calls.values().any(oneshot::Sender::is_closed)
    }

    /// One call.
    ///
    /// # Errors
    /// Why there is no answer.
    pub(crate) async fn call(&self, to: Option<&str>, call: &Call<'_>, deadline: Duration) -> Answer {
        let mut answers = self.calls(to, std::slice::from_ref(call), deadline).await;
        answers.pop().unwrap_or(Err(Fault::Silent(deadline.as_millis())))
    }

    /// Many calls at once; their answers in the same order. `patience` is how long nothing at all
    /// may come: each answer gives the next as long.
    pub(crate) async fn calls(
        &self,
        to: Option<&str>,
        calls: &[Call<'_>],
        patience: Duration,
    ) -> Vec<Answer> {
        let under_way: Vec<_> = {
            let mut waiting = self.shared.waiting();
            if to.is_some() {
                // The bus says itself when an app that owes an answer has left.
                waiting.calls.retain(|_, call| !call.is_closed());
            }
            calls.iter().map(|call| self.post(&mut waiting, call.message(to)?)).collect()
        };
        let mut answers = Vec::with_capacity(calls.len());
        let mut silent = false;
        for call in under_way {
            let answer = match call {
                Err(fault) => Some(Err(fault)),
                Ok(mut call) if silent => call.try_recv().ok(),
                Ok(call) => timeout(patience, call).await.ok().and_then(Result::ok),
            };
            silent |= answer.is_none();
            answers.push(answer.unwrap_or(Err(Fault::Silent(patience.as_millis()))));
        }
        answers
    }

    /// Has a message written with whatever else is posted until the writer comes to it.
    fn post(
        &self,
        waiting: &mut Waiting,
        message: zbus::Message,
    ) -> Result<oneshot::Receiver<Answer>, Fault> {
        if let Some(why) = &waiting.closed {
            return Err(Fault::Closed(why.clone()));
        }
        let (call, answer) = oneshot::channel();
        waiting.calls.insert(message.primary_header().serial_num(), call);
        let gone = |_| Fault::Closed("it is not written to any more".to_owned());
        self.outbox.send(message).map(|()| answer).map_err(gone)
    }
}

/// Writes what is posted, all that there is at once, until nobody reads it any more.
///
/// A task of its own: it comes to it when who posts waits for an answer, and a half-written message
/// is finished, whoever has given up waiting meanwhile.
async fn write_all(
    connection: Connection,
    mut posted: mpsc::UnboundedReceiver<zbus::Message>,
    shared: Arc<Shared>,
) {
    let mut messages = Vec::new();
    while posted.recv_many(&mut messages, AT_ONCE).await > 0 {
        #[cfg(test)]
        (shared.waiting().trips += 1);
        let why = match timeout(PATIENCE, connection.send_all(&messages)).await {
            Ok(Ok(())) => {
                messages.clear();
                continue;
            }
            Ok(Err(e)) => e.to_string(),
            // Half a message may have been written: nothing can be said on this connection any
            // more.
            Err(_) => "it reads nothing that is written to it".to_owned(),
        };
        return shared.close(&why);
    }
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
            let Some(call) = shared.waiting().calls.remove(&to) else { return };
            let answer = Message::new(message);
            // One that comes too late is waited for by nobody.
            call.send(answer.fault().map_or(Ok(answer), Err)).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::peer::App;
    use std::future::Future;
    use std::pin::pin;
    use std::task::Poll;

    impl Wire {
        /// How often something was written: what is asked in the same moment is one trip.
        pub(in crate::bus) fn trips(&self) -> usize {
            self.shared.waiting().trips
        }
    }

    #[tokio::test]
    async fn answer_that_comes_too_late_is_no_answer_to_another_call() {
        let app = App::start();
        let wire = app.connect(Box::new(|_| {})).await;
        let known = Call::new("/a", "a.b", "GetRole");
        let unknown = Call { member: "C", ..known.clone() };
        app.hold();
        let silent = wire.calls(None, &[known.clone(), known], Duration::from_millis(50)).await;
        assert!(silent.iter().all(|answer| matches!(answer, Err(Fault::Silent(50)))), "{silent:?}");
        assert!(wire.stuck());
        app.go_on();
        let answer = wire.call(None, &unknown, Duration::from_secs(5)).await;
        assert_eq!(answer.map(drop), Err(Fault::Unknown));
        assert!(!wire.stuck() && !wire.closed());
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
    async fn what_was_asked_is_written_whoever_gives_up_waiting() {
        let app = App::start();
        let wire = app.connect(Box::new(|_| {})).await;
        let call = Call::new("/a", "a.b", "C");
        let patience = Duration::from_secs(5);
        let mut second = pin!(wire.call(None, &call, patience));
        {
            let mut first = pin!(wire.call(None, &call, patience));
            std::future::poll_fn(|cx| {
                assert!(first.as_mut().poll(cx).is_pending() && second.as_mut().poll(cx).is_pending());
                Poll::Ready(())
            })
            .await;
        }
        assert_eq!(second.await.map(drop), Err(Fault::Unknown));
        assert_eq!(app.calls(), 2);
    }
}
