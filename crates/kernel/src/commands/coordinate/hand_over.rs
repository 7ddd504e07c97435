//! `turn release`, `turn assign`: passes the turn on, together with a handoff.

use crate::commands::prelude::*;
use stickpin_coordinator::{Participant, SessionAuthority};
use stickpin_session::turn::{Artifact, Handoff, HandoffUi};

/// The maximum length of the address in a handoff, in bytes. A page's own address may be longer.
const MAX_ADDRESS: usize = 2_048;

/// Release the turn to the next waiting member, and say what was done and what comes next.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TurnRelease {
    /// What was done.
    #[schemars(extend("x-placeholder" = "TEXT"))]
    pub status: Option<String>,
    /// What the next owner should do.
    #[schemars(extend("x-placeholder" = "TEXT"))]
    pub next_action: Option<String>,
    /// An open question; may be repeated.
    #[schemars(extend("x-placeholder" = "TEXT"))]
    pub open_question: Vec<String>,
    /// What the next owner must leave alone; may be repeated.
    #[schemars(extend("x-placeholder" = "TEXT"))]
    pub do_not: Vec<String>,
    /// The handoff as JSON, instead of the status and the next action: `{"status": ...,
    /// "nextAction": ..., "artifacts": [...]}`.
    #[schemars(extend("x-placeholder" = "JSON", "x-stdin" = true))]
    pub handoff: Option<String>,
    /// The turn that you believe you hold.
    pub turn: Option<u64>,
}

/// Reserve the turn for another member, and say what was done and what comes next.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnAssign {
    /// The agent id or display name of the member, or `next` for the member to which `turn release`
    /// would pass the turn.
    #[schemars(extend("x-positional" = 0))]
    pub to: String,
    /// What was done.
    #[schemars(extend("x-placeholder" = "TEXT"))]
    pub status: Option<String>,
    /// What the next owner should do.
    #[schemars(extend("x-placeholder" = "TEXT"))]
    pub next_action: Option<String>,
    /// The handoff as JSON, instead of the status and the next action.
    #[schemars(extend("x-placeholder" = "JSON", "x-stdin" = true))]
    pub handoff: Option<String>,
    /// The turn that you believe you hold.
    pub turn: Option<u64>,
    /// State that your operator asked you to redirect a turn that is reserved for another member.
    #[serde(default)]
    pub operator_requested: bool,
}

/// A turn that was given up.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnReleaseOutput {
    /// Always `released`.
    pub status: String,
    /// The name of the session.
    pub session: String,
    /// The agent that may claim the turn next, or `None` if the turn is idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_for: Option<String>,
    /// The number of the log record of the release.
    pub seq: u64,
    /// The number of members that are waiting for the turn, or listening without claiming it.
    pub waiters: usize,
}

/// A turn that was reserved for a member.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnAssignOutput {
    /// Always `assigned`.
    pub status: String,
    /// The name of the session.
    pub session: String,
    /// The agent id of the member.
    pub reserved_for: String,
    /// The number of the log record of the assignment.
    pub seq: u64,
    /// Whether the member listens without claiming the turn, and so has to be notified.
    pub routed_to_parked: bool,
}

impl Command for TurnRelease {
    const SPEC: Spec = Spec {
        name: "turn release",
        aliases: &["turn pass"],
        examples: &[
            "stickpin turn release --status 'cart filled' --next-action 'pay with the test card'",
            r#"stickpin turn release --handoff '{"status":"cart filled","nextAction":"pay"}'"#,
        ],
        ..Spec::COORDINATION
    };
    type Output = TurnReleaseOutput;

    async fn run(self, cx: &mut Cx) -> Result<TurnReleaseOutput> {
        let (session, who) = authority::require(cx)?;
        let mut handoff = handoff(&who, self.handoff.as_deref(), self.status, self.next_action)?;
        handoff.open_questions.extend(self.open_question);
        handoff.do_not.extend(self.do_not);
        handoff.ui = screen(cx, &session);
        let expected = self.turn.or(cx.expected_turn);
        let released = session.release(&who, expected, handoff, &authority::redactor(cx))?;
        authority::hold_turn(cx, session.name(), None);
        Ok(TurnReleaseOutput {
            status: "released".to_owned(),
            session: session.name().to_owned(),
            reserved_for: released.reserved_for.map(|agent| agent.to_string()),
            seq: released.seq,
            waiters: released.waiters,
        })
    }
}

impl Command for TurnAssign {
    const SPEC: Spec = Spec {
        name: "turn assign",
        examples: &["stickpin turn assign codex:d4bc2492 --status 'cart filled' --next-action 'pay'"],
        ..Spec::COORDINATION
    };
    type Output = TurnAssignOutput;

    async fn run(self, cx: &mut Cx) -> Result<TurnAssignOutput> {
        let (session, who) = authority::require(cx)?;
        let mut handoff = handoff(&who, self.handoff.as_deref(), self.status, self.next_action)?;
        handoff.ui = screen(cx, &session);
        let redactor = authority::redactor(cx);
        // With `operatorRequested`, the caller redirects a turn that it does not hold.
        let expected = self.turn.or(cx.expected_turn.filter(|_| !self.operator_requested));
        let assigned =
            session.assign(&who, &self.to, expected, handoff, self.operator_requested, &redactor)?;
        authority::hold_turn(cx, session.name(), None);
        Ok(TurnAssignOutput {
            status: "assigned".to_owned(),
            session: session.name().to_owned(),
            reserved_for: assigned.reserved_for.to_string(),
            seq: assigned.seq,
            routed_to_parked: assigned.routed_to_parked,
        })
    }
}

/// A handoff as the caller writes it; the host adds the screen.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    status: String,
    next_action: String,
    #[serde(default)]
    artifacts: Vec<Artifact>,
    #[serde(default)]
    open_questions: Vec<String>,
    #[serde(default)]
    do_not: Vec<String>,
}

/// Builds the handoff of a caller, from JSON or from the two texts. A person may omit one or both
/// texts.
pub(super) fn handoff(
    who: &Participant,
    json: Option<&str>,
    status: Option<String>,
    next_action: Option<String>,
) -> Result<Handoff> {
    let given = match json {
        Some(json) => {
            if status.is_some() || next_action.is_some() {
                return Err(Error::invalid_args(
                    "`handoff` cannot be combined with `status` or `next-action`",
                ));
            }
            serde_json::from_str(json).map_err(|e| {
                Error::invalid_handoff(format!("the handoff cannot be parsed: {e}"))
                    .hint(r#"write it as {"status": "what was done", "nextAction": "what comes next"}"#)
            })?
        }
        None => {
            let stock = |text: Option<String>, stock: &str| {
                text.unwrap_or_else(|| if who.is_person() { stock.to_owned() } else { String::new() })
            };
            Given {
                status: stock(status, "A person worked here."),
                next_action: stock(next_action, "Look at the screen and continue."),
                ..Given::default()
            }
        }
    };
    let Given { status, next_action, artifacts, open_questions, do_not } = given;
    Ok(Handoff { status, next_action, artifacts, open_questions, do_not, ui: None })
}

/// Returns what the screen showed at the last capture, for the next owner. `None` if the session is
/// not open or nothing has been captured yet.
pub(super) fn screen(cx: &Cx, session: &SessionAuthority) -> Option<HandoffUi> {
    let slot = cx.host.slot(cx.session_name()).ok()?;
    let status = slot.status.borrow();
    let generation = status.generation?;
    let meta = session.meta();
    // An older tree, or one that is not written yet, would show another screen.
    let blob = meta.last_snapshot_blob.filter(|_| meta.last_snapshot_generation == Some(generation));
    let address = if status.url.is_empty() { &status.label } else { &status.url };
    Some(HandoffUi {
        generation,
        last_snapshot_blob: blob.map(|blob| blob.to_string()),
        url_or_activity: excerpt(address, MAX_ADDRESS),
        focused_ref: status.focused.map(|focused| focused.to_string()),
    })
}

/// Truncates a text to at most `most` bytes; a truncated text ends with `…`.
fn excerpt(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most - '…'.len_utf8());
    format!("{}…", &text[..end])
}

impl Show for TurnReleaseOutput {
    fn show(&self, text: &mut Text) {
        let to = self.reserved_for.as_ref().map_or_else(
            || "idle; the first member to wait gets it".to_owned(),
            |agent| format!("reserved for {agent}"),
        );
        text.line(format_args!("released the turn of {}: now {to}", self.session));
    }
}

impl Show for TurnAssignOutput {
    fn show(&self, text: &mut Text) {
        text.line(format_args!("reserved the turn of {} for {}", self.session, self.reserved_for));
        if self.routed_to_parked {
            text.line(format_args!(
                "that member only listens: send it a message with `stickpin msg send {} TEXT`",
                self.reserved_for
            ));
        }
    }
}
