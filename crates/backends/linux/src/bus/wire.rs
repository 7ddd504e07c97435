//! One connection with its pending answers and its signals.
//!
//! Calls are sent in batches, and answered while further ones are being sent: an app answers a
//! thousand batched queries in the time of fifty sequential ones. One task receives answers and
//! signals in the order in which the app sent them. An answer thus proves that all earlier signals
//! have been received.
//!
//! Calls that several callers make at the same time are written together. Before drawing, an app
//! reads everything that has arrived; calls that arrive later wait until it has drawn (ADR 35).

use super::body::{Call, Message};
use crate::bus::error::{BusError, BusResult};
use crate::limits::{AT_ONCE, PATIENCE};
use futures_util::StreamExt;
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;
use zbus::message::Type;
use zbus::{Connection, MessageStream, connection};

/// The function that receives signals, in order. It is called by the reading task, so it must not
/// block.
pub(crate) type Listener = Box<dyn Fn(&Message) + Send + Sync>;

/// A connection to a bus or to an app.
#[derive(Debug)]
pub(crate) struct Wire {
    pending: Arc<Mutex<PendingCalls>>,
    connection: Connection,
    /// Messages that are waiting to be written. The writer ends when this queue is dropped.
    outbox: mpsc::UnboundedSender<zbus::Message>,
    /// Aborted when the connection is dropped.
    _reader: AbortOnDropHandle<()>,
}

/// The answer to a call, or the error.
pub(crate) type Answer = BusResult<Message>;

#[derive(Debug, Default)]
struct PendingCalls {
    /// The receivers of pending answers. An answer stays pending even after its receiver is gone;
    /// on a bus, only until the next call.
    calls: HashMap<NonZeroU32, oneshot::Sender<Answer>>,
    closed: Option<String>,
    /// The number of writes.
    #[cfg(test)]
    trips: usize,
}

impl PendingCalls {
    fn close(&mut self, why: &str) {
        let why = self.closed.get_or_insert_with(|| why.to_owned()).clone();
        for (_, call) in self.calls.drain() {
            // The caller may have stopped waiting.
            call.send(Err(BusError::Closed(why.clone()))).ok();
        }
    }
}

impl Wire {
    /// Connects to the first responding address of a list (`unix:path=…;unix:abstract=…`), with a
    /// timeout for each address. Only Unix sockets are accepted, because the app chooses the
    /// address: `unixexec:` would start a program.
    ///
    /// # Errors
    /// Returns `Closed` if no address can be used, or `Silent` if the last one does not respond in
    /// time.
    pub(crate) async fn connect(
        addresses: &str,
        bus: bool,
        patience: Duration,
        listener: Listener,
    ) -> BusResult<Self> {
        let mut failed = BusError::Closed(format!("{addresses:?} contains no address"));
        for address in addresses.split(';').filter(|address| !address.is_empty()) {
            if !address.starts_with("unix:") {
                let address = stickpin_tree::quote(address);
                failed = BusError::Closed(format!("{address} is not the address of a Unix socket (unix:)"));
                continue;
            }
            let builder = connection::Builder::address(address);
            let builder = if bus { builder } else { builder.p2p() };
            match timeout(patience, builder.build()).await {
                Ok(Ok(connection)) => return Ok(Self::over(connection, listener)),
                Ok(Err(e)) => failed = BusError::Closed(format!("{address}: {e}")),
                Err(_) => failed = BusError::Silent(patience.as_millis()),
            }
        }
        Err(failed)
    }

    fn over(connection: Connection, listener: Listener) -> Self {
        let pending = Arc::<Mutex<PendingCalls>>::default();
        let stream = MessageStream::from(&connection);
        let (outbox, posted) = mpsc::unbounded_channel();
        let reader = AbortOnDropHandle::new(tokio::spawn(read_all(stream, Arc::clone(&pending), listener)));
        tokio::spawn(write_all(connection.clone(), posted, Arc::clone(&pending)));
        Self { pending, connection, outbox, _reader: reader }
    }

    /// Returns our name on the bus; empty for a connection to an app.
    pub(crate) fn name(&self) -> &str {
        self.connection.unique_name().map_or("", |name| name.as_str())
    }

    /// Returns whether there will be no more answers.
    pub(crate) fn closed(&self) -> bool {
        self.pending.lock().closed.is_some()
    }

    /// Returns whether an answer is pending that nobody is waiting for any more. The app hangs, or
    /// will answer when a dialog that it shows from inside a call is closed (`gtk_dialog_run`);
    /// until then, it reads nothing from this connection.
    pub(super) fn is_stuck(&self) -> bool {
        self.pending.lock().calls.values().any(oneshot::Sender::is_closed)
    }

    /// Makes one call.
    ///
    /// # Errors
    /// Returns the error of the answer.
    pub(crate) async fn call(&self, to: Option<&str>, call: &Call<'_>, deadline: Duration) -> Answer {
        let mut answers = self.calls(to, std::slice::from_ref(call), deadline).await;
        answers.pop().unwrap_or(Err(BusError::Silent(deadline.as_millis())))
    }

    /// Sends all calls together and returns their answers in the same order. `patience` is the
    /// timeout for each further answer.
    pub(crate) async fn calls(
        &self,
        to: Option<&str>,
        calls: &[Call<'_>],
        patience: Duration,
    ) -> Vec<Answer> {
        let under_way: Vec<_> = {
            let mut waiting = self.pending.lock();
            if to.is_some() {
                // The bus itself reports when an app with a pending answer leaves.
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
            answers.push(answer.unwrap_or(Err(BusError::Silent(patience.as_millis()))));
        }
        answers
    }

    /// Queues a message. It is written together with all others that are queued before the writer
    /// runs.
    fn post(
        &self,
        waiting: &mut PendingCalls,
        message: zbus::Message,
    ) -> BusResult<oneshot::Receiver<Answer>> {
        if let Some(why) = &waiting.closed {
            return Err(BusError::Closed(why.clone()));
        }
        let (call, answer) = oneshot::channel();
        waiting.calls.insert(message.primary_header().serial_num(), call);
        let gone = |_| BusError::Closed("the task that sends messages has ended".to_owned());
        self.outbox.send(message).map(|()| answer).map_err(gone)
    }
}

/// Writes all queued messages together, until the queue is dropped.
///
/// This is a separate task: it runs while callers wait for answers, and completes partially written
/// messages even if a caller stops waiting.
async fn write_all(
    connection: Connection,
    mut posted: mpsc::UnboundedReceiver<zbus::Message>,
    pending: Arc<Mutex<PendingCalls>>,
) {
    let mut messages = Vec::new();
    while posted.recv_many(&mut messages, AT_ONCE).await > 0 {
        #[cfg(test)]
        (pending.lock().trips += 1);
        let why = match timeout(PATIENCE, connection.send_all(&messages)).await {
            Ok(Ok(())) => {
                messages.clear();
                continue;
            }
            Ok(Err(e)) => e.to_string(),
            // A message may have been written partially, so the connection is unusable.
            Err(_) => "the peer does not read messages".to_owned(),
        };
        return pending.lock().close(&why);
    }
}

/// Reads messages until the other side closes the connection or reading fails.
async fn read_all(mut stream: MessageStream, pending: Arc<Mutex<PendingCalls>>, listener: Listener) {
    let why = loop {
        match stream.next().await {
            Some(Ok(message)) => handle_message(&pending, &listener, message),
            Some(Err(e)) => break e.to_string(),
            None => break "the peer closed it".to_owned(),
        }
    };
    pending.lock().close(&why);
}

fn handle_message(pending: &Mutex<PendingCalls>, listener: &Listener, message: zbus::Message) {
    let kind = message.message_type();
    match kind {
        Type::Signal => listener(&Message::new(message)),
        // No method calls are served.
        Type::MethodCall => {}
        Type::MethodReturn | Type::Error => {
            let Some(to) = message.header().reply_serial() else { return };
            let Some(call) = pending.lock().calls.remove(&to) else { return };
            let answer = Message::new(message);
            // The receiver of a late answer is gone.
            call.send(if kind == Type::Error { Err(answer.fault()) } else { Ok(answer) }).ok();
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
        /// Returns the number of writes: messages that are queued at the same moment are written
        /// together.
        pub(in crate::bus) fn trips(&self) -> usize {
            self.pending.lock().trips
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
        assert!(silent.iter().all(|answer| matches!(answer, Err(BusError::Silent(50)))), "{silent:?}");
        assert!(wire.is_stuck());
        app.go_on();
        let answer = wire.call(None, &unknown, Duration::from_secs(5)).await;
        assert_eq!(answer.map(drop), Err(BusError::Unknown));
        assert!(!wire.is_stuck() && !wire.closed());
    }

    #[tokio::test]
    async fn address_of_another_transport_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("started");
        let program = format!("unixexec:path=/usr/bin/touch,argv1={}", mark.display());
        for address in [program.as_str(), "tcp:host=127.0.0.1,port=1", "autolaunch:"] {
            let refused = Wire::connect(address, false, Duration::from_secs(5), Box::new(|_| {})).await;
            let Err(BusError::Closed(why)) = refused else { panic!("{address}: {refused:?}") };
            assert!(why.contains("not the address of a Unix socket"), "{why}");
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
        assert_eq!(second.await.map(drop), Err(BusError::Unknown));
        assert_eq!(app.calls(), 2);
    }
}
