//! Serving: connections, calls, and the reasons to go.

use crate::lanes::Lanes;
use crate::{DiskNumbers, Options, leftovers};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use std::os::unix::net::UnixListener as StdListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use stickpin_kernel::device::CancellationToken;
use stickpin_kernel::{Error, ErrorCode, Host, HostConfig, Result, io_error};
use stickpin_wire::rpc::{
    self, Answer, Cancel, Hello, Message, Status, Stop, Stopping, Verdict, Welcome, code, method,
};
use stickpin_wire::{Frame, Frames, Place, encode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{SignalKind, signal};

/// How long answers that are under way may take when the daemon goes.
const FAREWELL: Duration = Duration::from_secs(2);

/// What all connections share.
struct Daemon {
    host: Host,
    numbers: Arc<DiskNumbers>,
    place: Place,
    started: Instant,
    /// Calls that were read and not answered.
    calls: AtomicUsize,
    last_used: Mutex<Instant>,
    /// Set when the daemon goes: no connection and no call is taken any more.
    going: CancellationToken,
}

/// Serves until something ends it, then closes all sessions.
pub(crate) async fn serve(options: &Options, place: Place, listener: StdListener) -> Result<()> {
    let socket = place.socket().to_path_buf();
    let failed = |e: std::io::Error| io_error("listen at", &socket, &e);
    let listener = UnixListener::from_std(listener).map_err(failed)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;

    let daemon = Arc::new(Daemon::new(options, place));
    daemon.repair().await;
    let lanes = Lanes::new(std::thread::available_parallelism().map_or(1, usize::from));
    let idle = daemon.idle(options.idle_exit);
    tokio::pin!(idle);
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    // A client that has just gone is no reason to begin another thread for the next one.
                    tokio::task::yield_now().await;
                    let daemon = Arc::clone(&daemon);
                    lanes.take(stream, move |stream| Arc::clone(&daemon).connection(stream));
                }
                // No file descriptor is free, or the peer went: the next one may be luckier.
                Err(e) => {
                    tracing::warn!("accept: {e}");
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            },
            () = daemon.going.cancelled() => break,
            () = &mut idle => {
                tracing::info!("no sessions for {} s", options.idle_exit.as_secs());
                break;
            }
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
        }
    }
    daemon.going.cancel();
    // From here on a client finds nobody and starts the next daemon, which waits for our lock.
    drop(listener);
    if let Err(e) = std::fs::remove_file(&socket) {
        tracing::warn!("{} could not be removed: {e}", socket.display());
    }
    daemon.host.shutdown().await;
    // Whoever waits for the end of its connection waits for this process.
    let _ = tokio::time::timeout(FAREWELL, daemon.answered()).await;
    daemon.numbers.settle();
    lanes.end().await;
    Ok(())
}

impl Daemon {
    fn new(options: &Options, place: Place) -> Self {
        let mut config = HostConfig::new(place.state_dir(), (options.providers)());
        config.scribe = Arc::clone(&options.scribe);
        let numbers = DiskNumbers::new(place.state_dir(), Arc::clone(&config.clock));
        let source = Arc::clone(&numbers);
        config.numbers = Arc::new(move |session| Ok(source.of(session)));
        Self {
            numbers,
            host: Host::new(config),
            place,
            started: Instant::now(),
            calls: AtomicUsize::new(0),
            last_used: Mutex::new(Instant::now()),
            going: CancellationToken::new(),
        }
    }

    /// Ends what a killed daemon left running, and begins to remove its folders. Clients can connect meanwhile and
    /// wait.
    async fn repair(&self) {
        let state_dir = self.place.state_dir();
        for done in self.host.sweep().await {
            tracing::info!("after a daemon that was killed: {done}");
        }
        let (left, going) = (leftovers::of(state_dir), self.going.clone());
        if !left.is_empty() {
            // Nobody waits for it, not even its end: it says in the log what it did.
            drop(tokio::task::spawn_blocking(move || leftovers::remove(&left, &going)));
        }
        let forgotten = self.numbers.sweep();
        tracing::debug!("{forgotten} names of sessions are forgotten");
    }

    fn busy(&self) -> bool {
        self.host.sessions() > 0 || self.host.running() > 0 || self.calls.load(Ordering::Relaxed) > 0
    }

    fn used(&self) {
        *self.last_used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Returns when there was nothing to do for `limit`.
    async fn idle(&self, limit: Duration) {
        loop {
            if self.busy() {
                self.used();
            } else {
                self.numbers.settle();
            }
            let unused = self.last_used.lock().unwrap_or_else(PoisonError::into_inner).elapsed();
            let Some(left) = limit.checked_sub(unused).filter(|left| !left.is_zero()) else { return };
            // Sessions end by themselves too, so the rest of the time is not slept in one go.
            tokio::time::sleep(left.min(limit / 16).max(Duration::from_millis(5))).await;
        }
    }

    /// Returns when no call is under way.
    async fn answered(&self) {
        while self.calls.load(Ordering::Relaxed) > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn connection(self: Arc<Self>, stream: UnixStream) {
        let ours = rustix::process::geteuid().as_raw();
        match stream.peer_cred() {
            Ok(peer) if peer.uid() == ours => {}
            Ok(peer) => return tracing::warn!(uid = peer.uid(), "another user was turned away"),
            Err(e) => return tracing::warn!("a client without credentials was turned away: {e}"),
        }
        let (read, write) = stream.into_split();
        let peer = Arc::new(Peer {
            daemon: self,
            out: tokio::sync::Mutex::new(write),
            calls: Mutex::default(),
            gone: CancellationToken::new(),
        });
        let verdict = Arc::clone(&peer).read(read).await;
        tracing::trace!(?verdict, "a client went");
        peer.gone.cancel();
    }
}

/// One connection.
struct Peer {
    daemon: Arc<Daemon>,
    out: tokio::sync::Mutex<OwnedWriteHalf>,
    /// Calls under way, by the id of their message.
    calls: Mutex<HashMap<String, CancellationToken>>,
    /// Set when the client has gone: its calls end.
    gone: CancellationToken,
}

impl Peer {
    /// Reads messages until the client goes, or the daemon. Returns what it was told at hello.
    async fn read(self: Arc<Self>, mut read: OwnedReadHalf) -> Option<Verdict> {
        let mut frames = Frames::default();
        let mut buf = vec![0; 32 << 10];
        let mut verdict = None;
        loop {
            while let Some(frame) = frames.next_frame() {
                match frame {
                    Frame::Line(line) => self.message(&line, &mut verdict).await,
                    Frame::TooLong => {
                        let why = format!("a message of more than {} MiB", stickpin_wire::MAX_FRAME >> 20);
                        self.fault(Value::Null, code::INVALID_REQUEST, invalid(why)).await;
                    }
                }
            }
            match read.read(&mut buf).await {
                Ok(0) | Err(_) => return verdict,
                Ok(n) => frames.push(&buf[..n]),
            }
        }
    }

    async fn message(self: &Arc<Self>, line: &[u8], verdict: &mut Option<Verdict>) {
        let message: Message = match serde_json::from_slice::<Value>(line) {
            Err(e) => {
                let why = invalid(format!("the message is not JSON: {e}"));
                return self.fault(Value::Null, code::PARSE, why).await;
            }
            Ok(value) => match serde_json::from_value(value) {
                Ok(message) => message,
                Err(e) => {
                    let why = invalid(format!("the message is not a JSON-RPC 2.0 request: {e}"));
                    return self.fault(Value::Null, code::INVALID_REQUEST, why).await;
                }
            },
        };
        let Message { id, method, params, .. } = message;
        match method.as_str() {
            method::HELLO => match params_of::<Hello>(params) {
                Ok(hello) => {
                    let welcome = self.welcome(&hello);
                    *verdict = Some(welcome.verdict);
                    self.result(id, welcome).await;
                }
                Err(e) => self.fault(id, code::INVALID_PARAMS, e).await,
            },
            method::CALL if *verdict == Some(Verdict::Serve) => self.call(id, params).await,
            method::CALL => self.fault(id, code::REFUSED, not_welcome(*verdict)).await,
            method::CANCEL => {
                if let Ok(Cancel { id }) = params_of(params)
                    && let Some(call) = self.calls().get(&id.to_string())
                {
                    call.cancel();
                }
            }
            method::STATUS => self.result(id, self.daemon.status()).await,
            method::STOP => match params_of::<Option<Stop>>(params) {
                Ok(stop) => self.stop(id, stop.unwrap_or_default()).await,
                Err(e) => self.fault(id, code::INVALID_PARAMS, e).await,
            },
            other => {
                let why = invalid(format!("there is no method {other:?}"));
                self.fault(id, code::UNKNOWN_METHOD, why).await;
            }
        }
    }

    fn welcome(&self, hello: &Hello) -> Welcome {
        let ours = (rpc::PROTOCOL, rpc::VERSION);
        let verdict = Welcome::verdict(ours, self.daemon.place.state_dir(), hello, self.daemon.busy());
        if verdict == Verdict::Replace {
            tracing::info!(version = hello.version, "a newer client starts another daemon");
            self.daemon.going.cancel();
        }
        Welcome {
            protocol: rpc::PROTOCOL,
            version: rpc::VERSION.to_owned(),
            pid: std::process::id(),
            state_dir: self.daemon.place.state_dir().to_path_buf(),
            verdict,
        }
    }

    async fn call(self: &Arc<Self>, id: Value, params: Value) {
        if self.daemon.going.is_cancelled() {
            return self.fault(id, code::REFUSED, going()).await;
        }
        let request = match params_of(params) {
            Ok(request) => request,
            Err(e) => return self.fault(id, code::INVALID_PARAMS, e).await,
        };
        let token = self.gone.child_token();
        self.calls().insert(id.to_string(), token.clone());
        self.daemon.calls.fetch_add(1, Ordering::Relaxed);
        let peer = Arc::clone(self);
        tokio::spawn(async move {
            let response = peer.daemon.host.call(request, token).await;
            peer.calls().remove(&id.to_string());
            peer.result(id, response).await;
            peer.daemon.calls.fetch_sub(1, Ordering::Relaxed);
            peer.daemon.used();
        });
    }

    async fn stop(&self, id: Value, stop: Stop) {
        let sessions = self.daemon.host.session_names();
        if !stop.force && !sessions.is_empty() {
            let message = format!("sessions are open: {}", sessions.join(", "));
            let error = Error::new(ErrorCode::SessionExists, message)
                .hint("stickpin close --all, or end them with the daemon: stickpin daemon stop --force");
            return self.fault(id, code::REFUSED, error).await;
        }
        self.result(id, Stopping { pid: std::process::id(), sessions }).await;
        self.daemon.going.cancel();
    }

    async fn result<R: Serialize>(&self, id: Value, result: R) {
        self.send(&Answer::ok(id, result)).await;
    }

    async fn fault(&self, id: Value, code: i32, error: Error) {
        self.send(&Answer::<Value>::fault(id, code, error)).await;
    }

    async fn send<R: Serialize>(&self, answer: &Answer<R>) {
        // A client that has gone gets no answer; reading from it ends the connection.
        let _ = self.out.lock().await.write_all(&encode(answer)).await;
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Daemon {
    fn status(&self) -> Status {
        Status {
            pid: std::process::id(),
            version: rpc::VERSION.to_owned(),
            protocol: rpc::PROTOCOL,
            uptime_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            sessions: self.host.session_names(),
            running: self.host.running(),
            socket: self.place.socket().to_path_buf(),
            state_dir: self.place.state_dir().to_path_buf(),
        }
    }
}

fn params_of<P: serde::de::DeserializeOwned>(params: Value) -> Result<P> {
    serde_json::from_value(params)
        .map_err(|e| invalid(format!("the params are not of the method's form: {e}")))
}

fn invalid(why: String) -> Error {
    Error::new(ErrorCode::InvalidArgs, why)
}

fn going() -> Error {
    Error::new(ErrorCode::DaemonUnreachable, "the daemon is just going")
        .hint("type it again: another one is started")
}

fn not_welcome(verdict: Option<Verdict>) -> Error {
    let why = match verdict {
        None => "call before hello",
        Some(_) => "the versions or the state dirs do not fit, as the answer to hello said",
    };
    Error::new(ErrorCode::ProtocolMismatch, why)
}
