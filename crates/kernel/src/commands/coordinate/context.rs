//! `context read`, `context add`, `context clear`, `context tree`: the conversation of a console
//! and the outline that it shows, for the console itself.

use crate::commands::prelude::*;
use crate::commands::read::snapshot::{OutlineOutput, Snapshot};
use crate::host::queue::Position;
use stickpin_coordinator::{ContextPage, Conversations};
use stickpin_session::log::{ContextAdded, Redacted};
use stickpin_tree::quote_whole;

/// Show the entries of a conversation that later prompts may refer to.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContextRead {
    /// The conversation.
    #[schemars(extend("x-positional" = 0))]
    pub context: String,
    /// Start after this record; by default at the beginning.
    pub after: Option<u64>,
}

/// Add a completed entry to a conversation.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContextAdd {
    /// The conversation.
    #[schemars(extend("x-positional" = 0))]
    pub context: String,
    /// The command line that was typed.
    pub body: String,
    /// The outcome in one line.
    pub result: String,
    /// The element that `it` stands for from now on.
    pub target: Option<String>,
    /// The generation of the refs that the entry showed.
    pub generation: Option<u64>,
    /// A range of these refs: `1-40`.
    #[serde(default)]
    #[schemars(extend("x-placeholder" = "FIRST-LAST"))]
    pub pins: Vec<String>,
    /// A record that was shown before the prompt.
    #[serde(default)]
    #[schemars(extend("x-placeholder" = "SEQ"))]
    pub events: Vec<u64>,
}

/// Clear the context of a conversation. Its entries stay in the log.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContextClear {
    /// The conversation.
    #[schemars(extend("x-positional" = 0))]
    pub context: String,
}

/// Show the stored tree of the session, as last captured.
///
/// Neither the device nor the log is touched, so that a console may follow the agents of a session
/// at no cost to them.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContextTree {
    /// Maximum length of the text in bytes (default 24,000).
    pub max_bytes: Option<usize>,
}

/// The stored tree; absent before the first snapshot.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextTreeOutput {
    /// The outline of the stored tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outline: Option<OutlineOutput>,
}

/// The entries of a conversation that are in effect, oldest first.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContextReadOutput(pub ContextPage);

/// A change to a conversation.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextChanged {
    /// The name of the session.
    pub session: String,
    /// The number of the log record of this change.
    pub seq: u64,
}

impl Command for ContextRead {
    const SPEC: Spec = Spec { name: "context read", examples: &["stickpin context read main"], ..Spec::HOST };
    type Output = ContextReadOutput;

    async fn run(self, cx: &mut Cx) -> Result<ContextReadOutput> {
        let (session, _) = authority::require(cx)?;
        let page = Conversations(&session).read(&self.context, self.after.unwrap_or(0))?;
        Ok(ContextReadOutput(page))
    }
}

impl Command for ContextAdd {
    const SPEC: Spec = Spec {
        name: "context add",
        examples: &["stickpin context add main --body 'press @e3' --result ok --target @e3"],
        ..Spec::COORDINATION
    };
    type Output = ContextChanged;

    async fn run(self, cx: &mut Cx) -> Result<ContextChanged> {
        let (session, who) = authority::require(cx)?;
        let redactor = authority::redactor(cx);
        let redacted = |text: String| Redacted::new(text, &redactor);
        let entry = ContextAdded {
            context: self.context,
            body: redacted(self.body),
            result: redacted(self.result),
            target: self.target.map(redacted),
            generation: self.generation,
            pins: self.pins.iter().map(|range| parse_range(range)).collect::<Result<_>>()?,
            events: self.events,
            cwd: redacted(cx.caller.cwd.display().to_string()),
        };
        let seq = Conversations(&session).add(&who, entry)?;
        Ok(ContextChanged { session: session.name().to_owned(), seq })
    }
}

/// Parses a range of refs such as `1-40`.
fn parse_range(text: &str) -> Result<(u32, u32)> {
    let range =
        text.split_once('-').and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    range.filter(|(first, last)| first <= last).ok_or_else(|| {
        Error::invalid_args(format!("`pins`: {} is not a range of refs", quote(text)))
            .hint("write the first and the last number: `1-40`")
    })
}

impl Command for ContextClear {
    const SPEC: Spec =
        Spec { name: "context clear", examples: &["stickpin context clear main"], ..Spec::COORDINATION };
    type Output = ContextChanged;

    async fn run(self, cx: &mut Cx) -> Result<ContextChanged> {
        let (session, who) = authority::require(cx)?;
        let seq = Conversations(&session).clear(&who, self.context)?;
        Ok(ContextChanged { session: session.name().to_owned(), seq })
    }
}

impl Command for ContextTree {
    const SPEC: Spec = Spec { name: "context tree", examples: &["stickpin context tree"], ..Spec::HOST };
    type Output = ContextTreeOutput;

    async fn run(self, cx: &mut Cx) -> Result<ContextTreeOutput> {
        let slot = cx.host.slot(&cx.session_name)?;
        cx.check_out(slot, Position::Next).await?;
        if cx.open_session()?.session.tree().is_none() {
            return Ok(ContextTreeOutput { outline: None });
        }
        let snapshot = Snapshot { all: true, max_bytes: self.max_bytes, ..Snapshot::default() };
        snapshot.outline(cx, None).map(|outline| ContextTreeOutput { outline: Some(outline) })
    }
}

impl Show for ContextTreeOutput {
    fn show(&self, text: &mut Text) {
        match &self.outline {
            Some(outline) => outline.show(text),
            None => text.line("there is no snapshot yet: run `stickpin snapshot`"),
        }
    }
}

impl Show for ContextReadOutput {
    fn show(&self, text: &mut Text) {
        for entry in &self.0.entries {
            let shown = |text: &Redacted| text.text().map_or_else(|| "(a secret)".to_owned(), quote_whole);
            let (body, result) = (shown(&entry.entry.body), shown(&entry.entry.result));
            text.line(format_args!("{} {body}: {result}", entry.seq));
        }
    }
}

show_line!(ContextChanged: it => "record {} of {}", it.seq, it.session);
