//! What front ends send and get back. The same on every surface.

use crate::api::expectation::Expectation;
use crate::api::secret::Secret;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use stickpin_device::{Dialog, Error};

/// One command of one caller.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Request {
    /// The leaf's name, words separated by a space: `press`, `get title`.
    pub command: String,
    /// Its arguments by field name.
    #[serde(default)]
    pub input: Map<String, Value>,
    /// The session; else the caller's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Who asks.
    pub caller: Caller,
    /// How the answer should be rendered.
    #[serde(default)]
    pub render: Render,
    /// Ends the command after so many milliseconds; none: the command's own deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The newest generation that this client has read in full: diffs are computed from it. Sent by clients that
    /// pin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// What targets must be, or nothing is sent: a replay says what was recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Expectation>,
    /// Whether it is a step of a script that is replayed: where the session mends that script, this is no part of it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub replayed: bool,
}

/// Who asks, as evidence: the daemon decides what follows from it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Caller {
    /// The working directory: relative paths are resolved against it.
    pub cwd: PathBuf,
    /// The home directory: `~` stands for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<PathBuf>,
    /// Names the caller's own session and ownership: project root, harness session, MCP client. Not a secret.
    pub key: String,
    /// The name of the caller's own session.
    pub own_session: String,
    /// Tells apart readers of one key: each connection of a program that remembers by itself what it was given. What
    /// one of them reads renews nothing for another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The folders that its commands and pages may reach on disk, absolute; none where nothing confines this caller. A
    /// client over MCP has them: its roots and what the server was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_roots: Option<Vec<PathBuf>>,
    /// Whether its commands may start installed apps alone, and no other programs. A client over MCP is confined to them
    /// unless its server was started with `--allow-programs`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub installed_apps_only: bool,
    /// The names of all values that it has: a message lists them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secret_names: Vec<String>,
    /// Values that its commands may use by name, and that no answer says (`fill --secret`). Those that a command does not
    /// use do not leave the client.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<String, Secret>,
}

/// How an answer should be rendered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Render {
    /// Text, JSON or both.
    pub format: Format,
    /// Whether header lines name the generation. Clients that pin by themselves have no use for it.
    pub header: bool,
    /// Bound of the text in bytes; none: the command's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<usize>,
    /// How much the envelope says.
    pub detail: Detail,
    /// Width of the terminal that shows the text: lists are aligned and fit it. None where a program reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<u16>,
    /// For readers that get the app's own lines and ours in one text: a word that the app cannot know, to stand around
    /// its lines. Another one each time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fence: Option<String>,
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
        }
    }
}

/// Which forms of the answer are wanted.
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

/// How much the envelope says (`--detail`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Detail {
    /// Without the tree: only the list of refs.
    Digest,
    /// As documented.
    #[default]
    Normal,
    /// With a `ref` object about the standing of the target.
    Full,
}

/// The envelope, built only by dispatch. Success and error alike.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    /// Whether the command did what was asked. A false `is` is ok, and says so in its output.
    pub ok: bool,
    /// The canonical name of the command.
    pub command: String,
    /// The session that it ran in, where it ran in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The state dir as an absolute path: part of a pin scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_dir: Option<PathBuf>,
    /// The typed output (`json`, `both`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The rendered output (`text`, `both`); of an error its line and hint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Error>,
    /// One sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// What was seen since an act, at most 5 lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receipt: Vec<String>,
    /// Which lines of the receipt, counted from 0, tell of errors of the app, such as a request that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receipt_errors: Vec<usize>,
    /// Which refs this response issued, renewed or ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refs: Option<RefsEnvelope>,
    /// Mirrors `refs.generation` when something was issued or renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refs_generation: Option<u64>,
    /// The standing of the target (`--detail full`).
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "ref")]
    pub reference: Option<RefDetail>,
    /// A dialog of the app that waits for an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog: Option<Dialog>,
    /// A picture (PNG) that this command wrote, for surfaces that can show one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<PathBuf>,
    /// What the command line should exit with.
    pub exit: u8,
}

impl Response {
    /// The errors of the app that were seen since the act. The text does not show them: a command line has another
    /// stream for them.
    pub fn app_errors(&self) -> impl Iterator<Item = &str> {
        self.receipt_errors.iter().filter_map(|&at| self.receipt.get(at)).map(String::as_str)
    }
}

/// Refs that a response issued, renewed or ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RefsEnvelope {
    /// The generation that issued refs belong to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
    /// A complete diff from this generation renews every ref of it that is not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<u64>,
    /// Issued numbers as ranges, ends included: `[[1, 40], [57, 57]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issued: Vec<(u32, u32)>,
    /// Numbers that no longer stand for anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<(u32, u32)>,
    /// The app was printed in full: `generation` is what a client that pins sends as `since` from now on.
    #[serde(default, skip_serializing_if = "is_false")]
    pub full: bool,
    /// The lifetime that the numbers belong to.
    pub lifetime: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_false(value: &bool) -> bool {
    !value
}

/// The standing of a target.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RefDetail {
    /// The ref without pin.
    pub body: String,
    /// The generation of its pin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minted: Option<u64>,
    /// The generation now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<u64>,
    /// `current`, `live`, `unproven`, `changed`, `gone`, `elsewhere`, `forgotten`.
    pub standing: String,
    /// What it stands for: `button "Delete" in row "Mail 1"`.
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
