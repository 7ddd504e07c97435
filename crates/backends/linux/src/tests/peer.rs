//! Apps that hang, die in the middle of an answer, or send invalid messages, all simulated by a
//! test socket.

use crate::bus::error::BusError;
use crate::bus::wire::Wire;
use crate::bus::{Call, Link, Listener};
use crate::events::AppEvents;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

/// How the simulated app reacts to each call: answers with its serial, or misbehaves.
#[derive(Clone, Copy)]
enum Peer {
    Answers,
    /// Answers this many calls at once, last first.
    Backwards(usize),
    /// Stays silent after this many answers.
    Silent(usize),
    /// Closes the connection after this many answers.
    Dies(usize),
    Garbage,
}

/// Returns a peer behind a socket, and a connection to it.
async fn connected_to(peer: Peer, dir: &std::path::Path) -> Wire {
    let path = dir.join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        greet(&mut stream).await;
        answer(peer, stream).await;
    });
    let address = format!("unix:path={}", path.display());
    Wire::connect(&address, false, Duration::from_secs(3), Box::new(|_| {})).await.unwrap()
}

/// Performs the server's part of the handshake (D-Bus specification, "Authentication Protocol").
async fn greet(stream: &mut UnixStream) {
    let mut line = Vec::new();
    loop {
        line.push(stream.read_u8().await.unwrap());
        if !line.ends_with(b"\r\n") {
            continue;
        }
        let said = String::from_utf8(std::mem::take(&mut line)).unwrap();
        let answer = match said.trim_start_matches('\0').split_whitespace().next() {
            Some("AUTH") => "OK 0123456789abcdef0123456789abcdef\r\n",
            Some("NEGOTIATE_UNIX_FD") => "AGREE_UNIX_FD\r\n",
            Some("BEGIN") => return,
            _ => panic!("{said}"),
        };
        stream.write_all(answer.as_bytes()).await.unwrap();
    }
}

async fn answer(peer: Peer, mut stream: UnixStream) {
    let mut bytes = Vec::new();
    let mut answered = 0;
    let mut kept = Vec::new();
    loop {
        while let Some(length) = message_length(&bytes)
            && bytes.len() >= length
        {
            let serial = u32::from_le_bytes(bytes[8..12].try_into().unwrap());
            bytes.drain(..length);
            match peer {
                Peer::Silent(after) if answered >= after => std::future::pending().await,
                Peer::Dies(after) if answered >= after => return,
                Peer::Backwards(many) => {
                    kept.push(serial);
                    if kept.len() == many {
                        let all: Vec<u8> = kept.drain(..).rev().flat_map(reply).collect();
                        stream.write_all(&all).await.unwrap();
                    }
                }
                Peer::Garbage => stream
                    .write_all(&[b'l', 9, 0, 1, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0])
                    .await
                    .unwrap(),
                _ => stream.write_all(&reply(serial)).await.unwrap(),
            }
            answered += 1;
        }
        if stream.read_buf(&mut bytes).await.unwrap() == 0 {
            return;
        }
    }
}

/// Builds a reply to the given serial.
fn reply(serial: u32) -> Vec<u8> {
    let mut out = vec![b'l', 2, 0, 1, 4, 0, 0, 0, 1, 0, 0, 0, 15, 0, 0, 0];
    out.extend_from_slice(&[5, 1, b'u', 0]);
    out.extend_from_slice(&serial.to_le_bytes());
    out.extend_from_slice(&[8, 1, b'g', 0, 1, b'u', 0, 0]);
    out.extend_from_slice(&serial.to_le_bytes());
    out
}

async fn ask(peer: Peer, calls: usize) -> (Vec<Result<u32, BusError>>, Wire) {
    let dir = tempfile::tempdir().unwrap();
    let wire = connected_to(peer, dir.path()).await;
    let call = Call::new("/", "a.b", "C");
    let answers = wire.calls(None, &vec![call; calls], Duration::from_millis(200)).await;
    (answers.into_iter().map(|a| a.and_then(|m| m.read())).collect(), wire)
}

#[tokio::test]
async fn every_call_of_a_batch_gets_its_own_answer() {
    let (answers, wire) = ask(Peer::Answers, 300).await;
    let expected: Vec<_> = (1..=300).map(Ok).collect();
    assert_eq!(answers, expected);
    assert!(!wire.closed());
}

#[tokio::test]
async fn answers_reach_their_calls_in_whatever_order_they_come() {
    let (answers, _wire) = ask(Peer::Backwards(7), 7).await;
    assert_eq!(answers, (1..=7).map(Ok).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_app_that_hangs_is_given_up_and_what_it_answered_is_kept() {
    let (answers, wire) = ask(Peer::Silent(2), 5).await;
    assert_eq!(answers[..2], [Ok(1), Ok(2)]);
    assert!(answers[2..].iter().all(|a| *a == Err(BusError::Silent(200))), "{answers:?}");
    // The app may resume: the connection stays open.
    assert!(!wire.closed());
}

#[tokio::test]
async fn an_app_that_dies_in_the_middle_is_gone_at_once() {
    let (answers, wire) = ask(Peer::Dies(1), 3).await;
    assert_eq!(answers[0], Ok(1));
    assert!(answers[1..].iter().all(|a| matches!(a, Err(BusError::Closed(_)))), "{answers:?}");
    assert!(wire.closed());
}

#[tokio::test]
async fn what_is_no_message_ends_the_connection() {
    let (answers, wire) = ask(Peer::Garbage, 2).await;
    assert!(answers.iter().all(|a| matches!(a, Err(BusError::Closed(_)))), "{answers:?}");
    assert!(wire.closed());
}

/// Returns the length of the little-endian message that starts with these bytes, or `None` while
/// the message is incomplete.
fn message_length(bytes: &[u8]) -> Option<usize> {
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    Some((16 + word(12)?).next_multiple_of(8) + word(4)?)
}

/// An app that answers only requests for a role, and counts them. It can delay its answer and send
/// a signal first.
pub(crate) struct App {
    dir: tempfile::TempDir,
    state: Arc<State>,
}

struct State {
    connections: AtomicUsize,
    calls: watch::Sender<usize>,
    held: watch::Sender<bool>,
    /// The number of signals that the app sends before its next answer.
    signals: AtomicUsize,
    /// Whether the app sends a signal before each answer.
    always: AtomicBool,
}

impl App {
    pub(crate) fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(dir.path().join("app")).unwrap();
        let (calls, held) = (watch::Sender::new(0), watch::Sender::new(false));
        let (connections, signals) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let state = Arc::new(State { connections, calls, held, signals, always: AtomicBool::default() });
        let theirs = Arc::clone(&state);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                theirs.connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(refuse_all(stream, Arc::clone(&theirs)));
            }
        });
        Self { dir, state }
    }

    pub(crate) async fn connect(&self, listener: Listener) -> Wire {
        Wire::connect(&self.address(), false, Duration::from_secs(3), listener).await.unwrap()
    }

    /// Returns the address that the app listens on.
    pub(crate) fn address(&self) -> String {
        format!("unix:path={}", self.dir.path().join("app").display())
    }

    /// Returns the number of connections to the app.
    pub(crate) fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// Returns a link to the app over the bus, whose signals are received.
    pub(crate) async fn link(&self, heard: &Arc<AppEvents>) -> Link {
        Link::over(self.hearing(heard).await, None)
    }

    /// Returns a link to the app over the bus, and over the socket of `own`.
    pub(crate) async fn link_and_own(&self, heard: &Arc<AppEvents>, own: &Self) -> Link {
        Link::over(self.hearing(heard).await, Some(own.connect(Box::new(|_| {})).await))
    }

    /// Sends this many signals before the next answer.
    pub(crate) fn signals_first(&self, many: usize) {
        self.state.signals.store(many, Ordering::SeqCst);
    }

    /// Sends a signal before each answer.
    pub(crate) fn signals_always(&self) {
        self.state.always.store(true, Ordering::SeqCst);
    }

    async fn hearing(&self, heard: &Arc<AppEvents>) -> Wire {
        heard.state().app = SENDER.to_owned();
        let heard = Arc::clone(heard);
        self.connect(Box::new(move |message| heard.handle_signal(message))).await
    }

    /// Waits until the app has received a request.
    pub(crate) async fn asked(&self) {
        self.state.calls.subscribe().wait_for(|calls| *calls > 0).await.unwrap();
    }

    /// Returns the number of calls that the app has received.
    pub(crate) fn calls(&self) -> usize {
        *self.state.calls.borrow()
    }

    /// Answers nothing until [`App::go_on`] is called.
    pub(crate) fn hold(&self) {
        self.state.held.send_replace(true);
    }

    pub(crate) fn go_on(&self) {
        self.state.held.send_replace(false);
    }
}

/// The bus name of the simulated app.
pub(crate) const SENDER: &str = ":1.2";

pub(super) fn signal() -> zbus::Message {
    let body = ("focused", 1_i32, 0_i32, zbus::Variant::from(0_i32));
    let signal = zbus::Message::signal("/a", "org.a11y.atspi.Event.Object", "StateChanged");
    signal.sender(SENDER).build(&body).unwrap()
}

async fn refuse_all(mut stream: UnixStream, state: Arc<State>) {
    greet(&mut stream).await;
    let mut bytes = Vec::new();
    loop {
        while let Some(length) = message_length(&bytes)
            && bytes.len() >= length
        {
            let serial = u32::from_le_bytes(bytes[8..12].try_into().unwrap());
            let known = bytes.drain(..length).as_slice().windows(7).any(|name| name == b"GetRole");
            state.calls.send_modify(|calls| *calls += 1);
            state.held.subscribe().wait_for(|held| !held).await.unwrap();
            let always = usize::from(state.always.load(Ordering::SeqCst));
            for _ in 0..state.signals.swap(0, Ordering::SeqCst) + always {
                stream.write_all(signal().data()).await.unwrap();
            }
            let answer = if known { reply(serial) } else { refusal(serial) };
            stream.write_all(&answer).await.unwrap();
        }
        // The test may have ended.
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
    }
}

/// Builds the error reply to an unknown method.
fn refusal(serial: u32) -> Vec<u8> {
    let name = b"org.freedesktop.DBus.Error.UnknownMethod\0";
    let length = u32::try_from(name.len()).unwrap();
    let mut out = vec![b'l', 3, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0];
    out.extend_from_slice(&(16 + length).to_le_bytes());
    out.extend_from_slice(&[5, 1, b'u', 0]);
    out.extend_from_slice(&serial.to_le_bytes());
    out.extend_from_slice(&[4, 1, b's', 0]);
    out.extend_from_slice(&(length - 1).to_le_bytes());
    out.extend_from_slice(name);
    out.resize(out.len().next_multiple_of(8), 0);
    out
}

#[tokio::test]
async fn signals_before_a_socket_answer_are_processed() {
    let (bus, own, heard) = (App::start(), App::start(), Arc::new(AppEvents::default()));
    let link = bus.link_and_own(&heard, &own).await;
    // The signals are still in transit on the bus when the app's own socket answers.
    bus.signals_first(3);
    let call = Call::new("/a", "a.b", "C");
    let answers = link.calls_in_order(&[call.clone(), call]).await.unwrap();
    assert!(matches!(answers[..], [Err(BusError::Unknown), Err(BusError::Unknown)]), "{answers:?}");
    assert_eq!((own.calls(), bus.calls(), heard.state().changes), (2, 1, 3), "the bus was asked, too");
}

#[tokio::test]
async fn signals_before_a_bus_answer_are_processed() {
    let (bus, heard) = (App::start(), Arc::new(AppEvents::default()));
    let link = bus.link(&heard).await;
    bus.signals_first(2);
    let call = Call::new("/a", "a.b", "C");
    let answers = link.calls_in_order(&[call]).await.unwrap();
    assert!(matches!(answers[..], [Err(BusError::Unknown)]), "{answers:?}");
    assert_eq!(
        (bus.calls(), heard.state().changes),
        (1, 2),
        "answers come behind the signals: no more is asked"
    );
}
