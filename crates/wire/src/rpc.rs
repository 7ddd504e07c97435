//! The messages: JSON-RPC 2.0 with seven methods, and one notification from the daemon.
//!
//! | method | params | result |
//! |---|---|---|
//! | `hello` | [`Hello`] | [`Welcome`]; the first message of a connection |
//! | `call` | [`Request`] | [`Response`], even for a failed command |
//! | `cancel` | [`Cancel`] | none: a notification; the call is answered as cancelled |
//! | `acknowledge` | [`Acknowledge`] | none: a notification; the answer counts as delivered |
//! | `bind` | [`Bind`] | none: a notification; the session closes with the connection |
//! | `status` | | [`Status`] |
//! | `stop` | [`Stop`] | [`Stopping`] |
//!
//! The daemon sends `begun` with [`Begun`] to a client that reads it.
//!
//! `hello`, `status` and `stop` have the same form in every version, so that any client can query
//! and stop any daemon. `call` is served only after [`Verdict::Serve`]. The daemon answers `hello`
//! before it reads the next message, so a client may send a call along with `hello`.
//!
//! [`Request`]: stickpin_kernel::Request
//! [`Response`]: stickpin_kernel::Response

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use stickpin_kernel::{Error, ErrorCode};

/// The version of `call`. It increases when an older program would misread a changed request or
/// response.
pub const PROTOCOL: u32 = 1;

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The method names.
#[allow(missing_docs, reason = "the words say it")]
pub mod method {
    pub const HELLO: &str = "hello";
    pub const CALL: &str = "call";
    pub const CANCEL: &str = "cancel";
    pub const BIND: &str = "bind";
    pub const BEGUN: &str = "begun";
    pub const ACKNOWLEDGE: &str = "acknowledge";
    pub const STATUS: &str = "status";
    pub const STOP: &str = "stop";
}

/// The JSON-RPC error codes in use.
#[allow(missing_docs, reason = "the words say it")]
pub mod code {
    pub const PARSE: i32 = -32700;
    pub const INVALID_REQUEST: i32 = -32600;
    pub const UNKNOWN_METHOD: i32 = -32601;
    pub const INVALID_PARAMS: i32 = -32602;
    /// The method is known but was refused; `data` contains the reason.
    pub const REFUSED: i32 = -32000;
}

/// A message from a client. Without `id` it is a notification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message<P = Value> {
    /// Always `2.0`.
    pub jsonrpc: String,
    /// The id, chosen by the client and repeated in the answer; null for a notification.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub id: Value,
    /// The name of the method: one of those in [`method`].
    pub method: String,
    /// The parameters of the method.
    #[serde(default = "P::default", bound(deserialize = "P: Deserialize<'de> + Default"))]
    pub params: P,
}

impl<P> Message<P> {
    /// Creates a message; an `id` of `Value::Null` makes it a notification.
    pub fn new(id: impl Into<Value>, method: &str, params: P) -> Self {
        Self { jsonrpc: "2.0".to_owned(), id: id.into(), method: method.to_owned(), params }
    }
}

/// An answer from a daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer<R = Value> {
    /// Always `2.0`.
    pub jsonrpc: String,
    /// The id of the message; null if it could not be read.
    pub id: Value,
    /// The result on success.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub result: Option<R>,
    /// A protocol error. A command that failed has a `result` instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RpcError>,
}

fn none<R>() -> Option<R> {
    None
}

impl<R> Answer<R> {
    /// Creates an answer with a result.
    pub fn ok(id: Value, result: R) -> Self {
        Self { jsonrpc: "2.0".to_owned(), id, result: Some(result), error: None }
    }

    /// Creates an answer with a protocol error.
    #[must_use]
    pub fn with_error(id: Value, code: i32, error: Error) -> Self {
        let fault = RpcError { code, message: error.message.clone(), data: Some(error) };
        Self { jsonrpc: "2.0".to_owned(), id, result: None, error: Some(fault) }
    }
}

/// A protocol error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RpcError {
    /// The error code: one of those in [`code`].
    pub code: i32,
    /// The message in one sentence.
    pub message: String,
    /// The error as the kernel's error type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Error>,
}

impl From<RpcError> for Error {
    fn from(fault: RpcError) -> Self {
        fault.data.unwrap_or_else(|| {
            Error::new(
                ErrorCode::ProtocolMismatch,
                format!("the daemon returned an error: {}", fault.message),
            )
        })
    }
}

/// The client's part of the handshake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// The client's [`PROTOCOL`].
    pub protocol: u32,
    /// The client's [`VERSION`].
    pub version: String,
    /// The state directory whose daemon is meant. A daemon of another state directory serves no
    /// calls, so a call may be sent before `hello` is answered. `None` accepts any daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_dir: Option<PathBuf>,
    /// Whether the client reads [`Begun`] notifications.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_begun: bool,
    /// Whether the client sends [`Acknowledge`] for each answer that it has passed on. Otherwise,
    /// an answer counts as delivered when it is written to the socket.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub acknowledges: bool,
}

impl Hello {
    /// Creates this program's handshake for the daemon of a state directory.
    #[must_use]
    pub fn current(state_dir: &Path) -> Self {
        Self {
            protocol: PROTOCOL,
            version: VERSION.to_owned(),
            state_dir: Some(state_dir.to_owned()),
            reads_begun: true,
            acknowledges: false,
        }
    }
}

/// The daemon's part of the handshake, with its verdict on the connection.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Welcome {
    /// The daemon's [`PROTOCOL`].
    pub protocol: u32,
    /// The daemon's [`VERSION`].
    pub version: String,
    /// The daemon's process id.
    pub pid: u32,
    /// The state directory that the daemon serves. Distinguishes two daemons that share a short
    /// socket path.
    pub state_dir: PathBuf,
    /// Whether the connection serves calls.
    pub verdict: Verdict,
}

/// Whether a connection serves calls. Only the daemon knows whether it is busy, so the daemon
/// decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// Calls are served.
    Serve,
    /// The client is newer and the daemon is not busy: the daemon exits, and the client starts
    /// another one.
    Replace,
    /// The protocols do not match and the daemon is busy or newer, or the client means the daemon
    /// of another state directory.
    #[default]
    Refuse,
}

impl Welcome {
    /// Decides whether a daemon of `protocol` and `version` that serves `state_dir` serves this
    /// client.
    #[must_use]
    pub fn verdict(
        (protocol, version): (u32, &str),
        state_dir: &Path,
        client: &Hello,
        busy: bool,
    ) -> Verdict {
        if client.state_dir.as_ref().is_some_and(|requested| requested != state_dir) {
            return Verdict::Refuse;
        }
        let newer =
            (client.protocol, version_numbers(&client.version)) > (protocol, version_numbers(version));
        match (client.protocol == protocol, newer, busy) {
            (_, true, false) => Verdict::Replace,
            (true, ..) => Verdict::Serve,
            (false, ..) => Verdict::Refuse,
        }
    }

    /// Returns the error that a refused client reports.
    #[must_use]
    pub fn mismatch(&self, client: &Hello) -> Error {
        let (theirs, ours) = (&self.version, &client.version);
        let message = format!(
            "the daemon of this state directory (process {}) is stickpin {theirs} with protocol {}, but this is \
             stickpin {ours} with protocol {}",
            self.pid, self.protocol, client.protocol
        );
        let hint = if self.protocol > client.protocol {
            format!(
                "use stickpin {theirs}, or run `stickpin daemon stop --force` to end that daemon and its sessions"
            )
        } else {
            "that daemon was not replaced because it has open sessions or running commands; close the sessions, or run `stickpin daemon stop --force` to end the daemon and its sessions"
                .to_owned()
        };
        Error::new(ErrorCode::ProtocolMismatch, message).hint(hint)
    }
}

/// Parses a version such as `1.20.3-rc1` as numbers; a part that is not a number counts as 0.
fn version_numbers(version: &str) -> [u64; 3] {
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let mut parts = core.split('.').map(|part| part.parse().unwrap_or(0));
    std::array::from_fn(|_| parts.next().unwrap_or(0))
}

/// Cancels a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cancel {
    /// The id of the call's message.
    pub id: Value,
}

/// A notification from the daemon: the beginning of a call's command has been written to the
/// session log. If the daemon exits before the answer, the client can name the command whose
/// outcome is unknown.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Begun {
    /// The id of the call's message.
    pub id: Value,
    /// The id of the command in the log.
    pub cmd_id: Value,
}

/// Reports that the client's reader has received the answer to a call. A turn that the answer
/// granted then counts as delivered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Acknowledge {
    /// The id of the call's message.
    pub id: Value,
}

/// Binds a session to the connection: the session is closed when the connection ends for any
/// reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bind {
    /// The session name; the session need not be open yet.
    pub session: String,
}

/// The status of a daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The process id.
    pub pid: u32,
    /// The program version.
    pub version: String,
    /// The protocol version.
    pub protocol: u32,
    /// The sequence number of this daemon's start in the state directory, from 1; 0 if the daemon
    /// does not report it.
    #[serde(default)]
    pub epoch: u64,
    /// The milliseconds since the start.
    pub uptime_ms: u64,
    /// The names of the open sessions.
    pub sessions: Vec<String>,
    /// The number of running commands.
    pub running: usize,
    /// The number of sessions whose turn is owned.
    #[serde(default)]
    pub owned_turns: usize,
    /// The path of the socket.
    pub socket: PathBuf,
    /// The state directory.
    pub state_dir: PathBuf,
}

/// Asks the daemon to shut down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Stop {
    /// Whether to shut down even if sessions are open, commands are running or agents hold turns. A
    /// forced shutdown closes the sessions; turns stay with their owners.
    pub force: bool,
}

/// The answer to [`Stop`]: the daemon is shutting down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stopping {
    /// The process id.
    pub pid: u32,
    /// The sessions that the daemon closes.
    pub sessions: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_client_replaces_idle_but_not_busy_daemon() {
        let hello = |protocol, version: &str| {
            let none = Hello { state_dir: None, ..Hello::current(Path::new("/")) };
            Hello { protocol, version: version.to_owned(), ..none }
        };
        for (client, busy, expected) in [
            (hello(3, "1.9.0"), false, Verdict::Serve),
            (hello(3, "1.10.0"), false, Verdict::Replace),
            (hello(3, "1.10.0"), true, Verdict::Serve),
            (hello(3, "1.8.9"), false, Verdict::Serve),
            (hello(4, "2.0.0"), false, Verdict::Replace),
            (hello(4, "2.0.0"), true, Verdict::Refuse),
            (hello(2, "1.0.0"), false, Verdict::Refuse),
        ] {
            let verdict = |client| Welcome::verdict((3, "1.9.0"), Path::new("/here"), client, busy);
            assert_eq!(verdict(&client), expected, "{client:?} busy={busy}");
            let here = Hello { state_dir: Some("/here".into()), ..client.clone() };
            assert_eq!(verdict(&here), expected, "{client:?} busy={busy}");
            let elsewhere = Hello { state_dir: Some("/there".into()), ..client.clone() };
            assert_eq!(verdict(&elsewhere), Verdict::Refuse, "another daemon was meant");
        }
    }

    #[test]
    fn version_mismatch_names_both_versions_with_hint() {
        let welcome = Welcome {
            protocol: 1,
            version: "0.1.0".into(),
            pid: 7,
            state_dir: "/s".into(),
            verdict: Verdict::Refuse,
        };
        let error = welcome.mismatch(&Hello {
            protocol: 2,
            version: "0.2.0".into(),
            ..Hello::current(Path::new("/"))
        });
        assert_eq!(error.code, ErrorCode::ProtocolMismatch);
        assert!(error.message.contains("0.1.0") && error.message.contains("0.2.0"), "{error}");
        assert!(error.hint.contains("daemon stop --force"), "{}", error.hint);
    }

    #[test]
    fn message_without_params_or_id_parses() {
        let message: Message = serde_json::from_str(r#"{"jsonrpc":"2.0","method":"status"}"#).unwrap();
        assert_eq!((message.id, message.params), (Value::Null, Value::Null));
    }
}
