//! One connection: its messages, its calls, and the sessions bound to its client.

use crate::delivery::Deliveries;
use crate::response_cache::{Lookup, MAX_ID};
use crate::serve::Daemon;
use crate::{agents, unfinished};
use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use stickpin_coordinator::{Connection, Unfinished, connect};
use stickpin_kernel::{CancellationToken, Dispatched, Error, ErrorCode, Request, Response};
use stickpin_session::agent::Process;
use stickpin_session::turn::AgentId;
use stickpin_wire::rpc::{
    self, Acknowledge, Answer, Begun, Bind, Cancel, Hello, Message, Stop, Stopping, Verdict, Welcome, code,
    method,
};
use stickpin_wire::{Frame, Frames, encode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::timeout;

/// The maximum number of concurrent calls per connection. The next call waits until one is
/// answered, and nothing after that call is read: a client must read its answers to be served.
const MAX_CALLS: u32 = 128;

/// The timeout for a client to read an answer, and to finish a message that it began.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// The size in bytes above which a message counts against the limit for all connections.
const MAX_UNCOUNTED_BYTES: usize = 1 << 20;

/// Long messages are counted in units of this many bytes.
pub(crate) const BYTES_PER_PERMIT: usize = 64 << 10;

/// The interval between checks of whether a client that has closed its sending side is still
/// waiting for answers.
const HANGUP_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Serves a connection until its client disconnects, or has sent its last message and received all
/// answers. Rejects a client of another user.
pub(crate) async fn serve(daemon: Arc<Daemon>, stream: UnixStream) {
    let ours = rustix::process::geteuid().as_raw();
    let pid = match stream.peer_cred() {
        Ok(peer) if peer.uid() == ours => peer.pid().and_then(|pid| u32::try_from(pid).ok()),
        Ok(peer) => return tracing::warn!(uid = peer.uid(), "a connection from another user was rejected"),
        Err(e) => return tracing::warn!("a client without credentials was rejected: {e}"),
    };
    let (read, write) = stream.into_split();
    let peer = Arc::new(Peer {
        daemon,
        pid,
        ancestry: OnceLock::new(),
        out: tokio::sync::Mutex::new(write),
        calls: Mutex::default(),
        bound: Mutex::default(),
        agents: Mutex::default(),
        reads_begun: AtomicBool::default(),
        deliveries: Deliveries::default(),
        connections: Mutex::default(),
        free: Arc::new(Semaphore::new(MAX_CALLS as usize)),
        gone: CancellationToken::new(),
    });
    match peer.read(read).await {
        Ok(End::Closed) => {}
        // Only a client that was killed leaves a response unread.
        Ok(End::Reset) => peer.deliveries.take_back(&peer.daemon.coordinator),
        Err(why) => peer.fault(Value::Null, code::INVALID_REQUEST, invalid(why)).await,
    }
    tracing::trace!("a client sends nothing more");
    peer.wait_until_answered().await;
    peer.gone.cancel();
    let connections = std::mem::take(&mut *peer.connections.lock());
    // On shutdown, the links of the connections stay, for the next daemon.
    if !peer.daemon.shutdown.is_cancelled() {
        connections.iter().for_each(|connection| peer.daemon.agents.disconnect(connection));
    }
    // A call that is still running keeps the peer alive, although its agent is no longer connected.
    peer.agents.lock().clear();
    peer.close_bound().await;
}

/// How a client stopped sending.
enum End {
    /// The client closed its side, or the connection failed.
    Closed,
    /// The client disconnected with unread responses.
    Reset,
}

/// One connection of a client, and the calls that arrived over it.
struct Peer {
    daemon: Arc<Daemon>,
    /// The process id of the client, if this host can see the process.
    pid: Option<u32>,
    /// The ancestry of the client when it made its first call. A client stays in the harness that
    /// started it.
    ancestry: OnceLock<Vec<Process>>,
    out: tokio::sync::Mutex<OwnedWriteHalf>,
    /// The tokens that cancel the running calls, by message id.
    calls: Mutex<HashMap<String, CancellationToken>>,
    /// Sessions that end with the connection.
    bound: Mutex<BTreeSet<String>>,
    /// The agents whose calls arrived over this connection.
    agents: Mutex<BTreeMap<AgentId, Connection>>,
    /// The MCP connections whose requests arrived over this one.
    connections: Mutex<BTreeSet<String>>,
    /// Limits the number of concurrent calls.
    free: Arc<Semaphore>,
    /// Whether the client reads notifications about commands that have begun.
    reads_begun: AtomicBool,
    /// The responses that the client may not have received yet.
    deliveries: Deliveries,
    /// Cancelled when the client has disconnected or no longer reads its answers. Its calls then
    /// end.
    gone: CancellationToken,
}

impl Peer {
    /// Reads messages until the client stops sending.
    ///
    /// # Errors
    /// Returns the reason if reading stopped before that.
    async fn read(self: &Arc<Self>, mut read: OwnedReadHalf) -> Result<End, String> {
        let mut frames = Frames::default();
        let mut buf = vec![0; 32 << 10];
        let mut verdict = None;
        let mut room: Option<OwnedSemaphorePermit> = None;
        let mut began = None;
        loop {
            while let Some(frame) = frames.next_frame() {
                began = None;
                match frame {
                    Frame::Line(line) => self.message(&line, room.take(), &mut verdict).await,
                    Frame::TooLong => {
                        // No part of the message is kept.
                        room = None;
                        let why = format!("a message exceeds {} MiB", stickpin_wire::MAX_FRAME >> 20);
                        self.fault(Value::Null, code::INVALID_REQUEST, invalid(why)).await;
                    }
                }
            }
            if frames.buffered() > MAX_UNCOUNTED_BYTES {
                let has = room.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
                let wants = u32::try_from(frames.buffered().div_ceil(BYTES_PER_PERMIT).saturating_sub(has));
                let more = Arc::clone(&self.daemon.message_permits)
                    .try_acquire_many_owned(wants.unwrap_or(u32::MAX));
                let more = more.map_err(|_| "too many long messages are in flight")?;
                match &mut room {
                    Some(room) => room.merge(more),
                    None => room = Some(more),
                }
            }
            let part = read.read(&mut buf);
            let part = match frames.buffered() {
                0 => part.await,
                _ => {
                    let left = READ_TIMEOUT.saturating_sub(began.get_or_insert_with(Instant::now).elapsed());
                    let late = |_| format!("a message was incomplete after {} s", READ_TIMEOUT.as_secs());
                    timeout(left, part).await.map_err(late)?
                }
            };
            match part {
                Ok(0) => return Ok(End::Closed),
                Err(e) if e.kind() == std::io::ErrorKind::ConnectionReset => return Ok(End::Reset),
                Err(_) => return Ok(End::Closed),
                Ok(n) => frames.push(&buf[..n]),
            }
        }
    }

    /// Waits until every call is answered, the client has disconnected, or the daemon shuts down. A
    /// client may close its sending side after its last message.
    async fn wait_until_answered(&self) {
        tokio::select! {
            _ = self.free.acquire_many(MAX_CALLS) => {}
            () = self.wait_for_hangup() => {}
            () = self.daemon.shutdown.cancelled() => {}
        }
    }

    async fn wait_for_hangup(&self) {
        while !self.has_hung_up().await {
            tokio::time::sleep(HANGUP_POLL_INTERVAL).await;
        }
    }

    /// Returns whether both directions are closed, so that the client has disconnected.
    async fn has_hung_up(&self) -> bool {
        let out = self.out.lock().await;
        let stream: &UnixStream = out.as_ref();
        let mut polled = [PollFd::new(stream, PollFlags::empty())];
        match poll(&mut polled, Some(&Timespec::default())) {
            Ok(_) => polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR),
            // The next poll checks again.
            Err(rustix::io::Errno::INTR) => false,
            Err(_) => true,
        }
    }

    async fn message(
        self: &Arc<Self>,
        line: &[u8],
        room: Option<OwnedSemaphorePermit>,
        verdict: &mut Option<Verdict>,
    ) {
        self.deliveries.message_received();
        let Message { id, method, params, .. } = match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(e) if e.is_data() => {
                let why = invalid(format!("the message is not a JSON-RPC 2.0 request: {e}"));
                return self.fault(Value::Null, code::INVALID_REQUEST, why).await;
            }
            Err(e) => {
                let why = invalid(format!("the message is not JSON: {e}"));
                return self.fault(Value::Null, code::PARSE, why).await;
            }
        };
        match method.as_str() {
            method::HELLO => match params_of::<Hello>(params) {
                Ok(hello) => {
                    self.reads_begun.store(hello.reads_begun, Ordering::Relaxed);
                    self.deliveries.set_acknowledges(hello.acknowledges);
                    let welcome = self.welcome(&hello);
                    *verdict = Some(welcome.verdict);
                    self.result(id, welcome).await;
                }
                Err(e) => self.fault(id, code::INVALID_PARAMS, e).await,
            },
            method::CALL if *verdict == Some(Verdict::Serve) => self.call(id, params, room).await,
            method::CALL => self.fault(id, code::REFUSED, not_welcomed(*verdict)).await,
            method::CANCEL => {
                if let Ok(Cancel { id }) = params_of(params)
                    && let Some(call) = self.calls.lock().get(&id.to_string())
                {
                    call.cancel();
                }
            }
            method::BIND => {
                if let Ok(Bind { session }) = params_of(params)
                    && *verdict == Some(Verdict::Serve)
                {
                    self.bound.lock().insert(session);
                }
            }
            method::ACKNOWLEDGE => {
                if let Ok(Acknowledge { id }) = params_of(params) {
                    self.deliveries.note_acknowledged(&self.daemon.coordinator, &id.to_string());
                }
            }
            method::STATUS => drop(self.result(id, self.daemon.status()).await),
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
        let verdict = Welcome::verdict(ours, self.daemon.state_dir.path(), hello, self.daemon.is_busy());
        if verdict == Verdict::Replace {
            tracing::info!(version = hello.version, "a newer client starts another daemon");
            self.daemon.shutdown.cancel();
        }
        Welcome {
            protocol: rpc::PROTOCOL,
            version: rpc::VERSION.to_owned(),
            pid: std::process::id(),
            state_dir: self.daemon.state_dir.path().to_path_buf(),
            verdict,
        }
    }

    async fn call(self: &Arc<Self>, id: Value, params: Params, room: Option<OwnedSemaphorePermit>) {
        if self.daemon.shutdown.is_cancelled() {
            let going = Error::new(ErrorCode::DaemonUnreachable, "the daemon is shutting down");
            let going = going.hint("repeat the command to start another daemon");
            return self.fault(id, code::REFUSED, going).await;
        }
        let mut request: Request = match params_of(params) {
            Ok(request) => request,
            Err(e) => return self.fault(id, code::INVALID_PARAMS, e).await,
        };
        if request.request_id.as_ref().is_some_and(|id| id.is_empty() || id.len() > MAX_ID) {
            let why = invalid(format!("`requestId` must be 1 to {MAX_ID} bytes long"));
            return self.fault(id, code::INVALID_PARAMS, why).await;
        }
        if let Some(connection) = &request.caller.evidence.connection {
            let mut known = self.connections.lock();
            if !known.contains(connection) {
                known.insert(connection.clone());
            }
        }
        let ancestry = self.ancestry.get_or_init(|| agents::ancestry(self.pid));
        match self.daemon.agents.identify(ancestry, &request.caller.evidence) {
            Ok(agent) => {
                let mut agents = self.agents.lock();
                let id = agent.agent_id.clone();
                agents.entry(id.clone()).or_insert_with(|| connect(&self.daemon.coordinator, id));
                request.caller.agent = Some(agent);
            }
            Err(e) => return self.fault(id, code::INVALID_PARAMS, e).await,
        }
        request.caller.process = self.pid;
        let place = tokio::select! {
            biased;
            place = Arc::clone(&self.free).acquire_owned() => place,
            // While this task waits, it does not read the socket, so end of file would go
            // unnoticed.
            () = self.wait_for_hangup() => return self.gone.cancel(),
        };
        // The semaphore is never closed.
        let Ok(place) = place else { return };
        let token = self.gone.child_token();
        self.calls.lock().insert(id.to_string(), token.clone());
        self.daemon.calls.fetch_add(1, Ordering::Relaxed);
        let peer = Arc::clone(self);
        tokio::spawn(async move {
            let agent = request.caller.agent.as_ref().map(|agent| agent.agent_id.clone());
            let call = id.to_string();
            agent.iter().for_each(|agent| peer.deliveries.begin(&call, agent));
            let written = peer.answer(id, request, token).await;
            if let Some(agent) = agent {
                peer.deliveries.end(&peer.daemon.coordinator, &call, agent, written);
            }
            drop((place, room));
            peer.daemon.calls.fetch_sub(1, Ordering::Relaxed);
            peer.daemon.touch();
        });
    }

    /// Runs a request and sends the response. A repeated request gets the response to the first
    /// one. Returns whether the response could be written.
    async fn answer(&self, id: Value, mut request: Request, token: CancellationToken) -> bool {
        let mut running = None;
        if let Some((request_id, agent)) = request.request_id.take().zip(request.caller.agent.as_ref()) {
            running = loop {
                match self.daemon.responses.lookup(&agent.agent_id, &request_id) {
                    Lookup::New(running) => break Some(running),
                    Lookup::Stored(response) => {
                        self.calls.lock().remove(&id.to_string());
                        return self.result(id, &*response).await;
                    }
                    Lookup::Running(mut ended) => tokio::select! {
                        _ = ended.changed() => {}
                        () = self.gone.cancelled() => return false,
                    },
                }
            };
        }
        let response = self.run(&id, request, token.clone()).await;
        self.calls.lock().remove(&id.to_string());
        let stored = running.and_then(|running| Some((running, to_raw_value(&response).ok()?)));
        let Some((running, json)) = stored else { return self.result(id, response).await };
        let json: Arc<RawValue> = json.into();
        if is_conclusive(&response, token.is_cancelled()) {
            running.store(Arc::clone(&json));
        }
        self.result(id, &*json).await
    }

    /// Runs a request. Notifies the client when the request's command has begun, if the client
    /// reads such notifications and the command does not end at once.
    async fn run(&self, id: &Value, request: Request, token: CancellationToken) -> Response {
        let (begun, is_begun) = oneshot::channel();
        let call = self.daemon.host.call_reporting(request, token, Some(begun));
        tokio::pin!(call);
        if !self.reads_begun.load(Ordering::Relaxed) {
            return call.await;
        }
        tokio::select! {
            biased;
            response = &mut call => return response,
            Ok(command) = is_begun => {
                let begun = Begun { id: id.clone(), cmd_id: json!(command) };
                // Whether the notification arrives does not matter to the command.
                let _ = self.send(&Message::new(Value::Null, method::BEGUN, begun)).await;
            }
        }
        call.await
    }

    /// Closes the sessions bound to a client that disconnected or crashed: no other client knows of
    /// them.
    async fn close_bound(&self) {
        let bound = std::mem::take(&mut *self.bound.lock());
        for session in bound {
            let close = Request {
                // The command that ends a session.
                command: "close".to_owned(),
                session: Some(session.clone()),
                ..Request::default()
            };
            let closed = self.daemon.host.call(close, CancellationToken::new()).await;
            match closed.error {
                None => tracing::info!(session, "closed with its client"),
                Some(e) if e.code == ErrorCode::SessionNotFound => {}
                Some(e) => {
                    tracing::warn!(session, "a client disconnected, and its session could not be closed: {e}")
                }
            }
        }
    }

    async fn stop(&self, id: Value, stop: Stop) {
        let sessions = self.daemon.host.session_names();
        if !stop.force
            && let Some(error) = unfinished::refusal(&sessions, &Unfinished::of(&self.daemon.coordinator))
        {
            return self.fault(id, code::REFUSED, error).await;
        }
        self.result(id, Stopping { pid: std::process::id(), sessions }).await;
        if stop.force {
            self.daemon.is_forced.store(true, Ordering::Relaxed);
        }
        self.daemon.shutdown.cancel();
    }

    /// Sends an answer. Returns whether the answer could be written.
    async fn result<R: Serialize>(&self, id: Value, result: R) -> bool {
        self.send(&Answer::ok(id, result)).await
    }

    async fn fault(&self, id: Value, code: i32, error: Error) {
        // The result does not depend on whether the client receives the refusal.
        let _ = self.send(&Answer::<Value>::with_error(id, code, error)).await;
    }

    async fn send<M: Serialize>(&self, message: &M) -> bool {
        let mut out = self.out.lock().await;
        // A client that has disconnected gets no answer; the read side then ends the connection.
        match timeout(READ_TIMEOUT, out.write_all(&encode(message))).await {
            Ok(written) => written.is_ok() && !self.gone.is_cancelled(),
            Err(_) => {
                tracing::warn!("a client is not reading its responses");
                self.gone.cancel();
                // The answer may be half written, so nothing can follow it.
                let _ = out.shutdown().await;
                false
            }
        }
    }
}

/// Unparsed parameters. They are parsed once, as the type that the method expects.
type Params = Option<Box<RawValue>>;

fn params_of<P: DeserializeOwned>(params: Params) -> Result<P, Error> {
    serde_json::from_str(params.as_deref().unwrap_or(RawValue::NULL).get())
        .map_err(|e| invalid(format!("the parameters do not match the method: {e}")))
}

/// Returns whether a repeated request gets this response. A cancelled request that had no effect
/// runs again.
fn is_conclusive(response: &Response, cancelled: bool) -> bool {
    let has_effect = match &response.error {
        Some(e) => e.dispatched != Dispatched::No,
        None => response.exit == 0,
    };
    has_effect || !cancelled
}

fn invalid(why: String) -> Error {
    Error::new(ErrorCode::InvalidArgs, why)
}

fn not_welcomed(verdict: Option<Verdict>) -> Error {
    let why = match verdict {
        None => "the client sent a call before `hello`",
        Some(_) => "the versions or the state directories differ, as stated in the response to `hello`",
    };
    Error::new(ErrorCode::ProtocolMismatch, why)
}
