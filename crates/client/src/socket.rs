//! The client of a front end: runs commands in this process or on a daemon.

use crate::connection::{
    ANSWER_ALLOWANCE, Connection, begun_of, connection_lost, daemon_hangs, failed_response,
    protocol_violation, unreadable,
};
use crate::reconnect::{self, Reconnect};
use crate::start::Start;
use async_trait::async_trait;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;
use stickpin_kernel::{CancellationToken, Dispatched, Error, ErrorCode, Host, Request, Response, Result};
use stickpin_wire::StateDir;
use stickpin_wire::rpc::{Answer, Bind, Cancel, Message, code, method};
use stickpin_wire::{Frame, Frames, encode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::timeout;

/// A way to run commands: on a host in this process, or on a daemon behind a socket.
#[async_trait]
pub trait Client: Send + Sync {
    /// Runs one command. When the token is cancelled, the command ends at the next safe point and
    /// still returns a response.
    async fn call(&self, request: Request, cancel: CancellationToken) -> Response;

    /// Returns another client for the same sessions. The calls of the two clients run in parallel.
    fn parallel_client(self: Arc<Self>) -> Arc<dyn Client>;

    /// Binds a session to this client: the session ends no later than the client, even if the
    /// client crashes. A host in this process needs no binding.
    async fn bind(&self, _session: &str) {}
}

#[async_trait]
impl Client for Host {
    async fn call(&self, request: Request, cancel: CancellationToken) -> Response {
        Self::call(self, request, cancel).await
    }

    fn parallel_client(self: Arc<Self>) -> Arc<dyn Client> {
        self
    }
}

/// A client of a daemon behind a socket. The daemon is found or started on first use, and again
/// after it has exited. All calls share one connection and may overlap; the daemon receives them in
/// order.
#[derive(Debug)]
pub struct SocketClient {
    state_dir: StateDir,
    start: Start,
    last_id: AtomicU64,
    /// Locked while a message is written, so that messages are sent in the order of the calls.
    link: tokio::sync::Mutex<Option<Link>>,
    /// Sessions that end with this client. The client names them to each daemon that it connects
    /// to.
    bound_sessions: Mutex<BTreeSet<String>>,
}

/// Pending answers, by the id of the call. `None` once the connection has ended.
type PendingAnswers = Arc<Mutex<Option<HashMap<u64, Pending>>>>;

/// The id of a call's command in the log, once the command has begun.
type BegunCommand = Arc<OnceLock<Value>>;

/// A call that waits for its answer.
#[derive(Debug)]
struct Pending {
    answer: oneshot::Sender<Answer<Response>>,
    begun: BegunCommand,
}

/// A connection whose `hello` was answered.
#[derive(Debug)]
struct Link {
    write: OwnedWriteHalf,
    pending: PendingAnswers,
    reader: AbortHandle,
    /// The daemon's process id.
    pid: u32,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// Why a call has no response.
enum CallError {
    /// The daemon did not begin the call, so it may be sent again.
    NotBegun(Error),
    /// The connection ended before the answer, or the daemon was still starting or closing its
    /// sessions.
    Lost(Error),
    /// A retry does not help.
    Failed(Error),
}

impl SocketClient {
    /// Creates a client for the daemon of a state directory. The client connects on first use.
    #[must_use]
    pub fn new(state_dir: StateDir, start: Start) -> Self {
        let (last_id, link, bound) = Default::default();
        Self { state_dir, start, last_id, link, bound_sessions: bound }
    }

    /// Returns the state directory as an absolute path without symbolic links.
    #[must_use]
    pub fn state_dir(&self) -> &Path {
        self.state_dir.path()
    }
}

#[async_trait]
impl Client for SocketClient {
    async fn call(&self, request: Request, cancel: CancellationToken) -> Response {
        let mut request = request;
        let secrets = request.keep_used_secrets();
        reconnect::set_id(&mut request);
        let mut reconnect = Reconnect::new(&request);
        let answered = loop {
            let sent = Instant::now();
            let mut answered = self.call_once(&request, &cancel).await;
            if let Err(CallError::NotBegun(_)) = answered {
                answered = self.call_once(&request, &cancel).await;
            }
            let is_lost = matches!(answered, Err(CallError::Lost(_)));
            if !is_lost || cancel.is_cancelled() || !reconnect.again(sent) {
                break answered;
            }
            tokio::time::sleep(reconnect::PAUSE).await;
        };
        let mut response = answered.unwrap_or_else(|reason| {
            let (CallError::NotBegun(error) | CallError::Lost(error) | CallError::Failed(error)) = reason;
            failed_response(&request.command, request.session, error)
        });
        response.hide_secrets(&secrets);
        response
    }

    /// Creates a client with a connection of its own, which the daemon serves on an idle thread if
    /// it has one.
    fn parallel_client(self: Arc<Self>) -> Arc<dyn Client> {
        Arc::new(Self::new(self.state_dir.clone(), self.start.clone()))
    }

    /// Informs the daemon over the current connection now, and over each later connection when it
    /// is made.
    async fn bind(&self, session: &str) {
        if !lock(&self.bound_sessions).insert(session.to_owned()) {
            return;
        }
        let mut slot = self.link.lock().await;
        if let Some(link) = &mut *slot {
            let bind = Bind { session: session.to_owned() };
            if link.write(&Message::new(Value::Null, method::BIND, bind)).await.is_err() {
                *slot = None;
            }
        }
    }
}

impl SocketClient {
    async fn call_once(&self, request: &Request, cancel: &CancellationToken) -> Result<Response, CallError> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let (mut answer, begun, pid) = self.send(id, request).await?;
        let response_timeout = request.max_response_time().saturating_add(ANSWER_ALLOWANCE);
        let answer = tokio::select! {
            answer = timeout(response_timeout, &mut answer) => answer,
            () = cancel.cancelled() => {
                self.cancel(id).await;
                timeout(ANSWER_ALLOWANCE, answer).await
            }
        };
        let Ok(answer) = answer else {
            self.drop_pending(id).await;
            return Err(CallError::Failed(daemon_hangs(&request.command, pid, begun.get())));
        };
        match answer {
            Ok(Answer { result: Some(response), .. }) => Ok(response),
            Ok(Answer { error: Some(fault), .. }) => {
                let refused = fault.code == code::REFUSED;
                let error = Error::from(fault);
                // The daemon is shutting down; the retry starts the next daemon.
                let is_stopping = refused && error.code == ErrorCode::DaemonUnreachable;
                Err(if is_stopping { CallError::NotBegun(error) } else { CallError::Failed(error) })
            }
            Ok(_) => Err(CallError::Failed(protocol_violation())),
            Err(_) => Err(CallError::Lost(connection_lost(&request.command, begun.get()))),
        }
    }

    /// Sends a call, over a new connection if there is none.
    async fn send(
        &self,
        id: u64,
        request: &Request,
    ) -> Result<(oneshot::Receiver<Answer<Response>>, BegunCommand, u32), CallError> {
        let mut slot = self.link.lock().await;
        let is_connected = |link: &Link| lock(&link.pending).is_some();
        let link = match slot.take().filter(is_connected) {
            Some(link) => slot.insert(link),
            None => {
                let mut link = self.connect().await.map_err(|e| match e.code {
                    // A daemon that is starting or closing its sessions may be done soon.
                    ErrorCode::DaemonStarting => CallError::Lost(e),
                    _ => CallError::Failed(e),
                })?;
                let bound = lock(&self.bound_sessions).clone();
                for session in bound {
                    link.write(&Message::new(Value::Null, method::BIND, Bind { session })).await?;
                }
                slot.insert(link)
            }
        };
        let (sender, receiver) = oneshot::channel();
        let begun = BegunCommand::default();
        if let Some(waiting) = &mut *lock(&link.pending) {
            waiting.insert(id, Pending { answer: sender, begun: Arc::clone(&begun) });
        }
        let pid = link.pid;
        let written = link.write(&Message::new(id, method::CALL, request)).await;
        if written.is_err() {
            *slot = None;
        }
        written.map(|()| (receiver, begun, pid))
    }

    /// Drops the entry of a call whose answer is no longer awaited.
    async fn drop_pending(&self, id: u64) {
        if let Some(link) = &*self.link.lock().await
            && let Some(waiting) = &mut *lock(&link.pending)
        {
            waiting.remove(&id);
        }
    }

    /// Asks the daemon to cancel a call. The daemon still answers the call.
    async fn cancel(&self, id: u64) {
        if let Some(link) = &mut *self.link.lock().await {
            let cancel = Message::new(Value::Null, method::CANCEL, Cancel { id: id.into() });
            // If the message cannot be sent, the daemon has exited, and the call itself reports
            // that.
            let _ = link.write(&cancel).await;
        }
    }

    async fn connect(&self) -> Result<Link> {
        let (state_dir, start) = (self.state_dir.clone(), self.start.clone());
        let connected = tokio::task::spawn_blocking(move || Connection::find_or_start(&state_dir, &start));
        let connection = connected.await.unwrap_or_else(|e| {
            let message = format!("the thread that connects to the daemon ended: {e}");
            Err(Error::new(ErrorCode::Internal, message))
        })?;
        let pid = connection.welcome().pid;
        let stream = connection.into_stream();
        let stream = stream.set_nonblocking(true).and_then(|()| UnixStream::from_std(stream));
        let (read, write) = stream.map_err(|e| unreadable(&e))?.into_split();
        let pending: PendingAnswers = Arc::new(Mutex::new(Some(HashMap::new())));
        let reader = tokio::spawn(read_answers(read, Arc::clone(&pending))).abort_handle();
        Ok(Link { write, pending, reader, pid })
    }
}

impl Link {
    /// Writes a message. A call counts as sent only when its whole line has been written: until
    /// then the daemon has not begun it.
    async fn write<P: Serialize>(&mut self, message: &Message<P>) -> Result<(), CallError> {
        match timeout(ANSWER_ALLOWANCE, self.write.write_all(&encode(message))).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(e)) => Err(CallError::NotBegun(unreadable(&e))),
            Err(_) => Err(CallError::Failed(not_read(self.pid))),
        }
    }
}

/// Returns the error for a daemon that does not read a message, and thus has not begun the call.
fn not_read(pid: u32) -> Error {
    let message = format!("the daemon (process {pid}) does not read its socket: it is hung or suspended");
    Error::new(ErrorCode::DaemonUnreachable, message)
        .hint(format!("run `kill -9 {pid}` to end the daemon and its sessions; the command was not run"))
        .dispatched(Dispatched::No)
}

/// Delivers each answer to its waiting call until the connection ends.
async fn read_answers(mut read: OwnedReadHalf, pending: PendingAnswers) {
    let mut frames = Frames::default();
    let mut buf = vec![0; 32 << 10];
    'read: while let Ok(n @ 1..) = read.read(&mut buf).await {
        frames.push(&buf[..n]);
        while let Some(frame) = frames.next_frame() {
            // An answer that cannot be matched to a call makes the connection useless.
            let Frame::Line(line) = frame else { break 'read };
            let Ok(answer) = serde_json::from_slice::<Answer<Response>>(&line) else {
                let Some(begun) = begun_of(&line) else { break 'read };
                if let Some(call) = begun.id.as_u64()
                    && let Some(Pending { begun: slot, .. }) =
                        lock(&pending).as_ref().and_then(|all| all.get(&call))
                {
                    slot.get_or_init(|| begun.cmd_id);
                }
                continue;
            };
            let waiting = answer.id.as_u64().and_then(|id| lock(&pending).as_mut()?.remove(&id));
            if let Some(Pending { answer: sender, .. }) = waiting {
                // The caller may have given up.
                let _ = sender.send(answer);
            }
        }
    }
    // Drops the senders, so that all waiting calls learn that no answer will come.
    *lock(&pending) = None;
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
