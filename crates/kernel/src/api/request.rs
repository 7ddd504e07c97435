//! Requests and responses, identical in every front end.

use crate::api::expectation::Expectation;
use crate::api::secret::Secret;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use stickpin_device::{Dialog, Dispatched, Error, Result};
use stickpin_session::agent::{Evidence, Resolution};

/// One command of one caller.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Request {
    /// The command's name, with its words separated by a space: `press`, `get title`.
    pub command: String,
    /// The arguments by field name.
    #[serde(default)]
    pub input: Map<String, Value>,
    /// The session; the caller's own by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The caller.
    pub caller: Caller,
    /// How to render the response.
    #[serde(default)]
    pub render: Render,
    /// A timeout in milliseconds; by default the command's own deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The newest generation that this client has read in full, from which diffs are computed. Only
    /// clients that pin send it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Conditions on the targets, set by a replay. Nothing is sent when a target does not meet its
    /// condition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Expectation>,
    /// Whether the command is a step of a replayed script. A session that repairs that script does
    /// not record such steps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// A random id that the client generates. A daemon runs a request only once, and returns the
    /// stored response if a recent id is repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The turn that the caller believes it holds. An action in another turn is refused with
    /// `TURN_MISMATCH`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
}

impl Request {
    /// Creates a request for a command, without arguments and in the caller's own session.
    #[must_use]
    pub fn new(command: impl Into<String>, caller: Caller) -> Self {
        Self { command: command.into(), caller, ..Self::default() }
    }

    /// Sets an argument.
    #[must_use]
    pub fn argument(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.input.insert(name.into(), value.into());
        self
    }
}

/// The identity, folders and secrets of a caller, as a front end states them. The daemon determines
/// the agent from the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Caller {
    /// The working directory, against which relative paths are resolved.
    pub cwd: PathBuf,
    /// The home directory, for which `~` stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<PathBuf>,
    /// A key that identifies the caller as a client and as the owner of sessions, such as a project
    /// root, a harness session or an MCP client. Not a secret.
    pub key: String,
    /// The name of the caller's own session.
    pub own_session: String,
    /// What the front end knows about the agent behind the caller.
    #[serde(default, skip_serializing_if = "Evidence::is_empty")]
    pub evidence: Evidence,
    /// The agent behind the caller. Set by the host's owner, never by the caller itself.
    #[serde(skip)]
    pub agent: Option<Resolution>,
    /// The id of the front end's process. Set by the host's owner, never by the caller itself.
    #[serde(skip)]
    pub process: Option<u32>,
    /// Distinguishes readers with the same key, such as connections of a program that each keep
    /// their own memory. Reads by one of them do not renew the refs of another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The folders that commands and pages may reach on disk, as absolute paths; `None` for no
    /// restriction. An MCP client is confined to its roots and the paths that its server was
    /// started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_roots: Option<Vec<PathBuf>>,
    /// Whether commands may start only installed apps and no other programs. True for an MCP client
    /// unless its server was started with `--allow-programs`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub installed_apps_only: bool,
    /// The names of all secrets that the caller has, for error messages. A client sends them only
    /// with a command that names a secret.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secret_names: Vec<String>,
    /// Secrets that commands may use by name and that no response shows (`fill --secret`). A client
    /// sends only those that the command uses.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<String, Secret>,
}

impl Caller {
    /// Creates a caller with this key, whose own session has the same name.
    #[must_use]
    pub fn new(key: impl Into<String>) -> Self {
        let key = key.into();
        Self { own_session: key.clone(), key, ..Self::default() }
    }
}

/// How to render a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Render {
    /// Text, JSON or both.
    pub format: Format,
    /// Whether header lines name the generation. Clients that pin refs themselves do not need it.
    pub header: bool,
    /// The maximum size of the text in bytes; the command's own limit by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<usize>,
    /// The level of detail.
    pub detail: Detail,
    /// The width of the terminal that shows the text, to align and fit tables. `None` when a
    /// program reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<u16>,
    /// A word that the app cannot know, for fences around the app's own lines. Set for readers that
    /// receive the app's lines mixed with stickpin's. Different for each request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fence: Option<String>,
    /// Whether the text of a feed ends by stating how the read ended and where reading continues.
    /// Set for readers that receive this nowhere else.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cursor: bool,
}

impl Default for Render {
    fn default() -> Self {
        Self {
            format: Format::Text,
            header: true,
            max_bytes: None,
            detail: Detail::Normal,
            columns: None,
            fence: None,
            cursor: false,
        }
    }
}

/// The requested form of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the words say it")]
#[non_exhaustive]
pub enum Format {
    #[default]
    Text,
    Json,
    Both,
}

/// The level of detail (`--detail`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Detail {
    /// No tree, only the list of refs.
    Digest,
    /// The documented output.
    #[default]
    Normal,
    /// The documented output and a `ref` object with the standing of the target.
    Full,
}

/// The response envelope for success and failure alike.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    /// Whether the command succeeded. A false `is` counts as success and reports its result in the
    /// output.
    pub ok: bool,
    /// The canonical name of the command.
    pub command: String,
    /// The session that the command ran in, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The absolute path of the state directory, as part of a pin scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_dir: Option<PathBuf>,
    /// The typed output (`json`, `both`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The rendered output (`text`, `both`), or the code, message and hint of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The error, if the command failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Error>,
    /// The warnings, one sentence each, joined by spaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Observations since an action, at most 5 lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receipt: Vec<String>,
    /// The zero-based indexes of the receipt lines that report errors in the app, such as a failed
    /// request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receipt_errors: Vec<usize>,
    /// The refs that this response issued, renewed or ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refs: Option<RefsEnvelope>,
    /// The value of `refs.generation` when a ref was issued or renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refs_generation: Option<u64>,
    /// The standing of the target (`--detail full`).
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "ref")]
    pub reference: Option<RefDetail>,
    /// The pending dialog of the app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog: Option<Dialog>,
    /// The path of a screenshot that this command wrote, for front ends that can show images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<PathBuf>,
    /// A problem with the session log; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_status: Option<LogStatus>,
    /// The turns that this command claimed or gave up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<HeldTurn>,
    /// The exit status for the command line.
    pub exit: u8,
}

/// Whether the caller holds the turn of a session after a command. Does not cover turns that
/// actions take automatically.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldTurn {
    /// The name of the session.
    pub session: String,
    /// The turn that the caller holds; absent if the caller holds no turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<u64>,
}

/// A problem with the session log after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogStatus {
    /// The command ran, but its end could not be written. The log accepts no further command until
    /// the end is written.
    EndNotPersisted,
}

impl Response {
    /// Takes the output, deserialized as a type such as
    /// [`Command::Output`](crate::Command::Output).
    ///
    /// # Errors
    /// Returns the error of the response, and `INTERNAL` for an output of another type.
    pub fn take_output<T: DeserializeOwned>(&mut self) -> Result<T> {
        if let Some(e) = self.error.take() {
            return Err(e);
        }
        let output = self.output.take().unwrap_or_default();
        serde_json::from_value(output).map_err(|e| {
            Error::internal(format!("the output of `{}` does not have the expected type", self.command))
                .caused_by(e)
                .dispatched(Dispatched::Unknown)
        })
    }

    /// Returns the errors that the app has reported since the action. The text omits them, because
    /// the command line writes them to another stream.
    pub fn app_errors(&self) -> impl Iterator<Item = &str> {
        self.receipt_errors.iter().filter_map(|&at| self.receipt.get(at)).map(String::as_str)
    }
}

/// Refs that a response issued, renewed or ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RefsEnvelope {
    /// The generation of the issued or renewed refs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
    /// The base of a complete diff, which renews every ref of that generation that has not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<u64>,
    /// The issued numbers as inclusive ranges: `[[1, 40], [57, 57]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issued: Vec<(u32, u32)>,
    /// The numbers of ended refs, as inclusive ranges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<(u32, u32)>,
    /// Whether the app was printed in full. From then on, a client that pins sends `generation` as
    /// `since`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub full: bool,
    /// The lifetime that the numbers belong to.
    pub lifetime: String,
}

/// The standing of a target.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RefDetail {
    /// The ref without its pin.
    pub body: String,
    /// The generation of the ref's pin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minted: Option<u64>,
    /// The current generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<u64>,
    /// The standing: `current`, `live`, `unproven`, `changed`, `gone`, `elsewhere`, `forgotten`, or
    /// `never` for a ref that was not issued.
    pub standing: String,
    /// The meaning of the ref, such as `button "Delete" in row "Mail 1"`; empty if no meaning is
    /// known.
    pub meaning: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_secret_goes_out_with_the_command_that_uses_it() {
        let sent = |command: &str, input: Value| {
            let secrets =
                ["SHOP", "BANK"].map(|name| (name.to_owned(), Secret::new(format!("{name} value"))));
            let caller = Caller { secrets: secrets.into(), ..Caller::default() };
            let mut request: Request = serde_json::from_value(json!({
                "command": command, "input": input, "caller": Caller::default(),
            }))
            .expect("a request");
            request.caller = caller;
            assert_eq!(request.keep_used_secrets().len(), 2, "all are hidden in the answer");
            serde_json::to_string(&request).expect("JSON")
        };
        for (command, input) in [
            ("press", json!({"target": "@e1"})),
            ("fill", json!({"target": "@e1", "text": "SHOP"})),
            ("batch", json!({"steps": [{"command": "press", "input": {"target": "@e1"}}]})),
        ] {
            let sent = sent(command, input);
            assert!(!sent.contains("value"), "{sent}");
        }
        let fill = json!({"target": "@e1", "secret": "SHOP"});
        for sent in [
            sent("fill", fill.clone()),
            sent("batch", json!({"steps": [{"command": "fill", "input": fill}]})),
        ] {
            assert!(sent.contains("SHOP value") && !sent.contains("BANK value"), "{sent}");
            assert!(sent.contains("BANK"), "a message lists the names: {sent}");
        }
    }
}
