//! A blocking connection to a daemon. A command line that makes a single call starts fastest
//! without an async runtime.

use crate::reconnect::{self, Reconnect};
use crate::start::Start;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};
use stickpin_kernel::{Dispatched, Error, ErrorCode, Request, Response, Result};
use stickpin_wire::StateDir;
use stickpin_wire::rpc::{
    Acknowledge, Answer, Begun, Hello, Message, Status, Stop, Stopping, Verdict, Welcome, method,
};
use stickpin_wire::{Frame, Frames, encode};

/// Timeout for the answer to `hello`. A live daemon answers at once; a daemon that takes this long
/// is hung.
const HELLO_TIMEOUT: Duration = Duration::from_secs(5);

/// Time allowance for transporting a message and its answer on a busy machine.
pub(crate) const ANSWER_ALLOWANCE: Duration = Duration::from_secs(10);

/// The maximum number of attempts to connect. A daemon may shut down just after the client finds
/// it.
const MAX_ATTEMPTS: u32 = 5;

/// A connection whose `hello` was answered.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    frames: Frames,
    last_id: u64,
    welcome: Welcome,
    /// The id that the last call's command has in the log; `None` until the command is logged.
    begun: Option<Value>,
}

impl Connection {
    /// Connects to the daemon of a state directory, and starts one if none is running.
    ///
    /// # Errors
    /// Returns the error that a starting daemon announces, `DAEMON_UNREACHABLE` when the daemon
    /// cannot be started or does not answer, `PROTOCOL_MISMATCH`, or `IO`.
    pub fn find_or_start(state_dir: &StateDir, start: &Start) -> Result<Self> {
        Self::connect_welcomed(state_dir, start, None)
    }

    /// Connects, starts a daemon if needed, and runs one command that is sent along with `hello`.
    /// The daemon answers `hello` before it runs anything, and refuses a command that is not meant
    /// for it. If the daemon does not answer `hello`, nothing was run. A command that waits for the
    /// turn is repeated with the same id if the daemon exits in the meantime.
    ///
    /// The response counts as delivered once [`Connection::acknowledge`] is called.
    ///
    /// # Errors
    /// Returns the errors of [`Connection::find_or_start`]. In that case, nothing was run, except
    /// perhaps a command that was about to be repeated.
    pub fn run(state_dir: &StateDir, start: &Start, request: &Request) -> Result<(Response, Self)> {
        let mut request = request.clone();
        let secrets = request.keep_used_secrets();
        reconnect::set_id(&mut request);
        let mut reconnect = Reconnect::new(&request);
        loop {
            let sent = Instant::now();
            let mut connection = Self::connect_welcomed(state_dir, start, Some(&request))?;
            let answer = connection.wait(&request).and_then(|()| connection.receive(connection.last_id));
            if answer.as_ref().is_err_and(is_lost) && reconnect.again(sent) {
                std::thread::sleep(reconnect::PAUSE);
                continue;
            }
            let mut response = connection.respond(&request, answer);
            response.hide_secrets(&secrets);
            return Ok((response, connection));
        }
    }

    /// Returns a connection that serves calls. If a request is given, it is the last message sent
    /// on the connection.
    fn connect_welcomed(state_dir: &StateDir, start: &Start, request: Option<&Request>) -> Result<Self> {
        for _ in 0..MAX_ATTEMPTS {
            if let Some(connection) = Self::find_and_send(state_dir, request)? {
                match connection.welcome.verdict {
                    Verdict::Serve => return Ok(connection),
                    Verdict::Refuse => {
                        return Err(connection.welcome.mismatch(&Hello::current(state_dir.path())));
                    }
                    Verdict::Replace => {}
                }
            }
            start.run(state_dir)?;
        }
        Err(Error::new(
            ErrorCode::DaemonUnreachable,
            format!(
                "the daemon for `{}` was started {MAX_ATTEMPTS} times, but never became available",
                state_dir.path().display()
            ),
        )
        .hint(format!("read the daemon's log: `{}`", state_dir.log().display())))
    }

    /// Connects to a running daemon of any version; returns `None` if no daemon is running, or if
    /// the daemon is shutting down. `status` and `stop` work in every version.
    ///
    /// # Errors
    /// Returns `DAEMON_UNREACHABLE` when the daemon does not answer or serves another state
    /// directory, `PROTOCOL_MISMATCH` when it violates the protocol, or `IO`.
    pub fn find(state_dir: &StateDir) -> Result<Option<Self>> {
        Self::find_and_send(state_dir, None)
    }

    /// Connects to a running daemon and sends `hello`, followed by a call if `request` is given.
    /// Returns `None` if no daemon is running, or if the daemon is shutting down.
    fn find_and_send(state_dir: &StateDir, request: Option<&Request>) -> Result<Option<Self>> {
        let stream = match UnixStream::connect(state_dir.socket()) {
            Ok(stream) => stream,
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => {
                return Ok(None);
            }
            Err(e) => return Err(stickpin_kernel::io_error("connect to", state_dir.socket(), &e)),
        };
        // These calls only set options of an open socket.
        stream.set_read_timeout(Some(HELLO_TIMEOUT)).map_err(|e| unreadable(&e))?;
        stream.set_write_timeout(Some(ANSWER_ALLOWANCE)).map_err(|e| unreadable(&e))?;
        let hello = Hello { acknowledges: request.is_some(), ..Hello::current(state_dir.path()) };
        let (frames, welcome) = (Frames::default(), Welcome::default());
        let mut connection = Self { stream, frames, last_id: 0, welcome, begun: None };
        let mut out = connection.message(method::HELLO, &hello);
        let id = connection.last_id;
        out.extend(request.into_iter().flat_map(|request| connection.message(method::CALL, request)));
        let answer = match connection.stream.write_all(&out).and_then(|()| connection.receive(id)) {
            Ok(answer) => answer,
            Err(e) => match e.kind() {
                // The daemon was shutting down and never read the frame.
                ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                    return Ok(None);
                }
                ErrorKind::WouldBlock | ErrorKind::TimedOut => return Err(silent_daemon(state_dir)),
                _ => return Err(unreadable(&e)),
            },
        };
        connection.welcome = take_result(answer)?;
        if connection.welcome.state_dir != state_dir.path() {
            return Err(foreign_daemon(state_dir, &connection.welcome));
        }
        connection.stream.set_read_timeout(None).map_err(|e| unreadable(&e))?;
        Ok(Some(connection))
    }

    /// Returns the daemon's part of the handshake.
    #[must_use]
    pub fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// Informs the daemon that the reader has received the response from [`Connection::run`].
    pub fn acknowledge(mut self) {
        let message = Message::new(Value::Null, method::ACKNOWLEDGE, Acknowledge { id: self.last_id.into() });
        // If the daemon has exited, the next one gives the turn to the same agent again.
        let _ = self.stream.write_all(&encode(&message));
    }

    /// Runs one command. A broken connection is reported as a response with `dispatched` unknown.
    pub fn call(&mut self, request: &Request) -> Response {
        let mut request = request.clone();
        let secrets = request.keep_used_secrets();
        reconnect::set_id(&mut request);
        let answer = self.wait(&request).and_then(|()| self.exchange(method::CALL, &request));
        let mut response = self.respond(&request, answer);
        response.hide_secrets(&secrets);
        response
    }

    /// Sets the read timeout: a daemon that does not answer within this time counts as hung.
    fn wait(&self, request: &Request) -> io::Result<()> {
        self.stream.set_read_timeout(Some(request.max_response_time().saturating_add(ANSWER_ALLOWANCE)))
    }

    /// Converts the answer to a call into a response.
    fn respond(&self, request: &Request, answer: io::Result<Answer<Response>>) -> Response {
        let error = match answer {
            Ok(answer) => match take_result(answer) {
                Ok(response) => return response,
                Err(error) => error,
            },
            Err(e) if is_lost(&e) => connection_lost(&request.command, self.begun.as_ref()),
            Err(e) if e.kind() == ErrorKind::InvalidData => unreadable(&e).dispatched(Dispatched::Unknown),
            Err(_) => daemon_hangs(&request.command, self.welcome.pid, self.begun.as_ref()),
        };
        failed_response(&request.command, request.session.clone(), error)
    }

    /// Returns the daemon's status.
    ///
    /// # Errors
    /// Returns `DAEMON_UNREACHABLE` when the daemon does not answer.
    pub fn status(&mut self) -> Result<Status> {
        self.exchange_or_fail(method::STATUS, &Value::Null)
    }

    /// Asks the daemon to shut down and returns once it has agreed. [`Connection::wait_for_end`]
    /// waits until it has closed everything.
    ///
    /// # Errors
    /// Returns `SESSION_EXISTS` when sessions are open or commands are running, and `NOT_YOUR_TURN`
    /// when agents hold turns, unless `force` is set. Returns `DAEMON_UNREACHABLE` when the daemon
    /// does not answer, and `PROTOCOL_MISMATCH` when it violates the protocol.
    pub fn stop(&mut self, stop: Stop) -> Result<Stopping> {
        self.exchange_or_fail(method::STOP, &stop)
    }

    /// Waits until the daemon has closed everything. From then on, it changes no file but its log.
    ///
    /// # Errors
    /// Returns `TIMEOUT` if the daemon is still running after `timeout`.
    pub fn wait_for_end(mut self, timeout: Duration) -> Result<()> {
        self.stream.set_read_timeout(Some(timeout)).map_err(|e| unreadable(&e))?;
        let mut buf = [0; 256];
        loop {
            match self.stream.read(&mut buf) {
                Ok(1..) => {}
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    let pid = self.welcome.pid;
                    let message = format!("the daemon (process {pid}) is still closing its sessions");
                    return Err(Error::new(ErrorCode::Timeout, message)
                        .hint(format!("wait a moment, or run `kill -9 {pid}` to end the daemon now")));
                }
                // End of the stream, orderly or not.
                Ok(0) | Err(_) => return Ok(()),
            }
        }
    }

    /// Returns the stream for another reader and writer. No bytes beyond the answers were read from
    /// it.
    pub(crate) fn into_stream(self) -> UnixStream {
        self.stream
    }

    fn exchange_or_fail<P: Serialize, R: DeserializeOwned>(&mut self, method: &str, params: &P) -> Result<R> {
        take_result(self.exchange(method, params).map_err(|e| unreadable(&e))?)
    }

    fn exchange<P: Serialize, R: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &P,
    ) -> io::Result<Answer<R>> {
        let message = self.message(method, params);
        self.stream.write_all(&message)?;
        self.receive(self.last_id)
    }

    /// Encodes the next message and stores its id as the last.
    fn message<P: Serialize>(&mut self, method: &str, params: &P) -> Vec<u8> {
        self.last_id += 1;
        self.begun = None;
        encode(&Message::new(Value::from(self.last_id), method, params))
    }

    fn receive<R: DeserializeOwned>(&mut self, id: u64) -> io::Result<Answer<R>> {
        loop {
            let line = self.read_frame()?;
            let answer = match serde_json::from_slice::<Answer<R>>(&line) {
                Ok(answer) => answer,
                Err(e) => {
                    let Some(begun) = begun_of(&line) else { return Err(e.into()) };
                    self.begun = Some(begun.cmd_id).filter(|_| begun.id == self.last_id);
                    continue;
                }
            };
            // Null means that the daemon could not read the id. The first request is answered
            // first, so the answer belongs to that request.
            if answer.id == id || answer.id.is_null() {
                return Ok(answer);
            }
        }
    }

    fn read_frame(&mut self) -> io::Result<Vec<u8>> {
        // Most answers are short, and a larger buffer costs page faults at the start of the
        // process.
        let mut buf = [0; 8 << 10];
        loop {
            match self.frames.next_frame() {
                Some(Frame::Line(line)) => return Ok(line),
                Some(Frame::TooLong) => {
                    return Err(io::Error::new(ErrorKind::InvalidData, "a response exceeds 64 MiB"));
                }
                None => {}
            }
            match self.stream.read(&mut buf) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(n) => self.frames.push(&buf[..n]),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

/// Creates a single-threaded runtime for a front end; the daemon does the work.
///
/// # Errors
/// Returns `IO` when the runtime cannot be created.
pub fn runtime() -> Result<tokio::runtime::Runtime> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|e| Error::new(ErrorCode::Io, format!("cannot start the async runtime: {e}")))
}

/// Creates the response to a call that failed outside the kernel: it was not sent, was refused, or
/// got no answer. The kernel itself answers all other calls.
#[must_use]
pub fn failed_response(command: &str, session: Option<String>, error: Error) -> Response {
    Response {
        ok: false,
        command: command.to_owned(),
        session,
        exit: error.code.exit(),
        error: Some(error),
        ..Response::default()
    }
}

/// Returns whether an error means that the connection ended, rather than that the daemon is silent
/// or sent invalid data.
fn is_lost(e: &io::Error) -> bool {
    !matches!(e.kind(), ErrorKind::InvalidData | ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn take_result<R>(answer: Answer<R>) -> Result<R> {
    match (answer.result, answer.error) {
        (Some(result), _) => Ok(result),
        (None, Some(fault)) => Err(fault.into()),
        (None, None) => Err(protocol_violation()),
    }
}

/// Returns the error for a daemon that violates the protocol.
pub(crate) fn protocol_violation() -> Error {
    Error::new(ErrorCode::ProtocolMismatch, "the daemon's response has neither a result nor an error")
}

/// Parses a line as a `begun` notification, if the line is one.
pub(crate) fn begun_of(line: &[u8]) -> Option<Begun> {
    let notice: Message<Begun> = serde_json::from_slice(line).ok()?;
    (notice.method == method::BEGUN).then_some(notice.params)
}

/// Returns the error details for a call without an answer. `begun` is the id of the call's command
/// in the log, if the command has begun.
fn outcome_unknown(begun: Option<&Value>) -> Value {
    match begun {
        Some(cmd_id) => json!({ "cmdId": cmd_id, "outcomeUnknown": true }),
        None => json!({ "outcomeUnknown": true }),
    }
}

/// Returns the error for a connection that broke before the answer to a call.
pub(crate) fn connection_lost(command: &str, begun: Option<&Value>) -> Error {
    let message = format!("the daemon exited before it answered `{command}`");
    Error::new(ErrorCode::DaemonUnreachable, message)
        .hint("the effect of the command is unknown: open the app again, and take a snapshot before you repeat the command")
        .dispatched(Dispatched::Unknown)
        .details(outcome_unknown(begun))
}

/// Returns the error for a call whose answer did not arrive within the longest time that the
/// command can take.
pub(crate) fn daemon_hangs(command: &str, pid: u32, begun: Option<&Value>) -> Error {
    let message =
        format!("the daemon (process {pid}) did not respond to `{command}` in time: it is hung or suspended");
    Error::new(ErrorCode::DaemonUnreachable, message)
        .hint(format!("run `kill -9 {pid}` to end the daemon and its sessions; the effect of the command is unknown, so take a snapshot before you repeat the command"))
        .dispatched(Dispatched::Unknown)
        .details(outcome_unknown(begun))
}

pub(crate) fn unreadable(error: &io::Error) -> Error {
    Error::new(ErrorCode::DaemonUnreachable, format!("cannot communicate with the daemon: {error}"))
        .hint("run `stickpin daemon status`")
}

fn silent_daemon(state_dir: &StateDir) -> Error {
    let seconds = HELLO_TIMEOUT.as_secs();
    let message =
        format!("the daemon at `{}` did not respond within {seconds} s", state_dir.socket().display());
    Error::new(ErrorCode::DaemonUnreachable, message).hint(format!(
        "end the process whose id is in `{}/daemon.json`: the daemon is hung or suspended",
        state_dir.daemon_dir().display()
    ))
}

fn foreign_daemon(state_dir: &StateDir, welcome: &Welcome) -> Error {
    let message = format!(
        "the daemon at `{}` serves the state directory `{}`, not `{}`",
        state_dir.socket().display(),
        welcome.state_dir.display(),
        state_dir.path().display()
    );
    Error::new(ErrorCode::DaemonUnreachable, message).hint(format!(
        "use another state directory with `--state-dir DIR` or, if the directory was moved, run `kill {}` to end the daemon",
        welcome.pid
    ))
}
