//! The messages: JSON-RPC 2.0 with six methods.
//!
//! | method | params | result |
//! |---|---|---|
//! | `hello` | [`Hello`] | [`Welcome`]; the first message of a connection |
//! | `call` | [`Request`](stickpin_kernel::Request) | [`Response`](stickpin_kernel::Response), also for a command that failed |
//! | `cancel` | [`Cancel`] | none: a notification; the call answers as cancelled |
//! | `bind` | [`Bind`] | none: a notification; the session is closed when the connection ends |
//! | `status` | | [`Status`] |
//! | `stop` | [`Stop`] | [`Stopping`] |
//!
//! `hello`, `status` and `stop` keep their form in every version, so that any client can look at any daemon and end
//! it. `call` is served only to a connection that was welcomed with [`Verdict::Serve`], and `hello` is answered before
//! anything that follows it is read: so a call may be sent along with it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use stickpin_kernel::{Error, ErrorCode};

/// The version of `call`; it grows when a request or response changes so that an older peer would misread it.
pub const PROTOCOL: u32 = 1;

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The names of the methods.
#[allow(missing_docs, reason = "the words say it")]
pub mod method {
    pub const HELLO: &str = "hello";
    pub const CALL: &str = "call";
    pub const CANCEL: &str = "cancel";
    pub const BIND: &str = "bind";
    pub const STATUS: &str = "status";
    pub const STOP: &str = "stop";
}

/// The error codes of JSON-RPC that are used.
#[allow(missing_docs, reason = "the words say it")]
pub mod code {
    pub const PARSE: i32 = -32700;
    pub const INVALID_REQUEST: i32 = -32600;
    pub const UNKNOWN_METHOD: i32 = -32601;
    pub const INVALID_PARAMS: i32 = -32602;
    /// The method is known and was refused; `data` says why.
    pub const REFUSED: i32 = -32000;
}

/// What a client sends. Without `id` it is a notification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message<P = Value> {
    /// Always `2.0`.
    pub jsonrpc: String,
    /// Chosen by the client; comes back in the answer.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub id: Value,
    /// One of [`method`].
    pub method: String,
    /// What the method takes.
    #[serde(default = "P::default", bound(deserialize = "P: Deserialize<'de> + Default"))]
    pub params: P,
}

impl<P> Message<P> {
    /// A message; `Value::Null` for a notification.
    pub fn new(id: impl Into<Value>, method: &str, params: P) -> Self {
        Self { jsonrpc: "2.0".to_owned(), id: id.into(), method: method.to_owned(), params }
    }
}

/// What a daemon answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer<R = Value> {
    /// Always `2.0`.
    pub jsonrpc: String,
    /// The id of the message; null where it could not be read.
    pub id: Value,
    /// Success.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub result: Option<R>,
    /// Failure of the protocol. A command that failed is a `result`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Fault>,
}

fn none<R>() -> Option<R> {
    None
}

impl<R> Answer<R> {
    /// A result.
    pub fn ok(id: Value, result: R) -> Self {
        Self { jsonrpc: "2.0".to_owned(), id, result: Some(result), error: None }
    }

    /// A fault.
    #[must_use]
    pub fn fault(id: Value, code: i32, error: Error) -> Self {
        let fault = Fault { code, message: error.message.clone(), data: Some(error) };
        Self { jsonrpc: "2.0".to_owned(), id, result: None, error: Some(fault) }
    }
}

/// A failure of the protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// One of [`code`].
    pub code: i32,
    /// One sentence.
    pub message: String,
    /// The same in the form of every other error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Error>,
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        fault.data.unwrap_or_else(|| {
            Error::new(ErrorCode::ProtocolMismatch, format!("the daemon answered: {}", fault.message))
        })
    }
}

/// Who connects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// The client's [`PROTOCOL`].
    pub protocol: u32,
    /// The client's [`VERSION`].
    pub version: String,
    /// The state dir whose daemon is meant: one of another serves no calls, so that a call may follow `hello` before that
    /// is answered. None: whichever answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_dir: Option<PathBuf>,
}

impl Hello {
    /// This program, which means the daemon of this state dir.
    #[must_use]
    pub fn ours(state_dir: &Path) -> Self {
        Self { protocol: PROTOCOL, version: VERSION.to_owned(), state_dir: Some(state_dir.to_owned()) }
    }
}

/// Who answers, and what becomes of the connection.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Welcome {
    /// The daemon's protocol.
    pub protocol: u32,
    /// The daemon's version.
    pub version: String,
    /// The daemon's process.
    pub pid: u32,
    /// The state dir that it serves: two that share a short socket path are told apart by it.
    pub state_dir: PathBuf,
    /// What becomes of the connection.
    pub verdict: Verdict,
}

/// What becomes of a connection. The daemon decides, at one moment: only it knows whether it is busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// Calls are served.
    Serve,
    /// The client is newer and nothing is open here: this daemon is going, start another.
    Replace,
    /// The two cannot talk, and the daemon is busy or newer.
    #[default]
    Refuse,
}

impl Welcome {
    /// Decides how a daemon of `protocol` and `version`, which serves `state_dir`, meets a client.
    #[must_use]
    pub fn verdict(
        (protocol, version): (u32, &str),
        state_dir: &Path,
        client: &Hello,
        busy: bool,
    ) -> Verdict {
        if client.state_dir.as_ref().is_some_and(|meant| meant != state_dir) {
            return Verdict::Refuse;
        }
        let newer = (client.protocol, order(&client.version)) > (protocol, order(version));
        match (client.protocol == protocol, newer, busy) {
            (_, true, false) => Verdict::Replace,
            (true, ..) => Verdict::Serve,
            (false, ..) => Verdict::Refuse,
        }
    }

    /// What a client that was refused tells its user.
    #[must_use]
    pub fn mismatch(&self, client: &Hello) -> Error {
        let (theirs, ours) = (&self.version, &client.version);
        let message = format!(
            "the daemon of this state dir (process {}) is stickpin {theirs} with protocol {}, this is {ours} with \
             protocol {}",
            self.pid, self.protocol, client.protocol
        );
        let hint = if self.protocol > client.protocol {
            format!(
                "use stickpin {theirs}, or end that daemon and its sessions: stickpin daemon stop --force"
            )
        } else {
            "its sessions are open, so it was left alone; close them, or end it: stickpin daemon stop --force"
                .to_owned()
        };
        Error::new(ErrorCode::ProtocolMismatch, message).hint(hint)
    }
}

/// `1.20.3-rc1` as numbers; what is no number counts as 0.
fn order(version: &str) -> [u64; 3] {
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let mut parts = core.split('.').map(|part| part.parse().unwrap_or(0));
    std::array::from_fn(|_| parts.next().unwrap_or(0))
}

/// Which call should end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cancel {
    /// The id of the call's message.
    pub id: Value,
}

/// Which session ends with the connection, however that ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bind {
    /// Its name; it need not be open yet.
    pub session: String,
}

/// How a daemon is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Its process.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// Its protocol.
    pub protocol: u32,
    /// Milliseconds since it started.
    pub uptime_ms: u64,
    /// Names of the open sessions.
    pub sessions: Vec<String>,
    /// Commands that run now.
    pub running: usize,
    /// Where it listens.
    pub socket: PathBuf,
    /// What it serves.
    pub state_dir: PathBuf,
}

/// How to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Stop {
    /// Also when sessions are open: they are closed.
    pub force: bool,
}

/// The daemon is going.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stopping {
    /// Its process.
    pub pid: u32,
    /// The sessions that it closes.
    pub sessions: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_client_replaces_an_idle_daemon_and_never_a_busy_one() {
        let hello =
            |protocol, version: &str| Hello { protocol, version: version.to_owned(), state_dir: None };
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
    fn a_mismatch_names_both_versions_and_says_what_to_do() {
        let welcome = Welcome {
            protocol: 1,
            version: "0.1.0".into(),
            pid: 7,
            state_dir: "/s".into(),
            verdict: Verdict::Refuse,
        };
        let error = welcome.mismatch(&Hello { protocol: 2, version: "0.2.0".into(), state_dir: None });
        assert_eq!(error.code, ErrorCode::ProtocolMismatch);
        assert!(error.message.contains("0.1.0") && error.message.contains("0.2.0"), "{error}");
        assert!(error.hint.contains("daemon stop --force"), "{}", error.hint);
    }

    #[test]
    fn a_message_without_params_or_id_is_read() {
        let message: Message = serde_json::from_str(r#"{"jsonrpc":"2.0","method":"status"}"#).unwrap();
        assert_eq!((message.id, message.params), (Value::Null, Value::Null));
    }
}
