//! `turn wait`, `turn try`, `turn take`: the turn of a session, for an agent that wants to act.

use crate::commands::coordinate::feed;
use crate::commands::prelude::*;
use std::collections::BTreeMap;
use stickpin_coordinator::{
    Event, Granted, SessionAuthority, TakeOptions, TurnReply, WaitOptions, WaitReply, with_unread,
};
use stickpin_session::agent::EnvAge;
use stickpin_session::turn::AgentId;

/// The maximum duration of a wait without a given timeout.
pub(super) const LONGEST: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The time that a command may take beyond its wait.
pub(super) const ALLOWANCE: Duration = Duration::from_secs(15);

/// The exit status of a wait that ended before its condition was met.
pub(super) const NOT_YET: u8 = 3;

/// The exit status when the turn may be taken from its owner.
const TAKEOVER: u8 = 4;

/// The exit status when the session is closed.
pub(super) const CLOSED: u8 = 11;

/// Wait for the turn of the session, and hold it until you release it.
///
/// Exits with 0 when it is your turn, 3 when the wait times out or an event for you arrives, 4 when
/// the turn may be taken from an owner that is gone or silent, and 11 when the session is closed.
/// The daemon renews your turn; you need not keep a process running for it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TurnWait {
    /// Milliseconds to wait; by default until it is your turn, or 25 seconds over MCP.
    pub timeout: Option<u64>,
    /// Listen without claiming the turn.
    pub park: bool,
    /// Do not claim the turn while no other driver is a member.
    pub no_solo: bool,
    /// Return the events after this record; by default those that you have not read yet.
    pub after: Option<u64>,
    /// Do not end the wait for events addressed to you, and omit them from the response.
    pub no_events: bool,
}

/// Claim the turn of the session once, without waiting.
///
/// The answer is that of `turn wait`, with the events for you that you have not read yet.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TurnTry {
    /// Look without claiming the turn.
    pub park: bool,
}

/// Take the turn from an owner that is gone, silent or late, or because your operator asks for it.
///
/// A running command of the former owner gets time to finish and is then cancelled.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TurnTake {
    /// Why, for the log and for the former owner. Agents must give a reason or
    /// `--operator-requested`.
    #[schemars(extend("x-placeholder" = "TEXT"))]
    pub reason: Option<String>,
    /// State that your operator asked you to take the turn, whoever holds it.
    pub operator_requested: bool,
    /// The turn that your decision is based on; by default the one last reported to you.
    pub turn: Option<u64>,
}

/// The answer to `turn wait`, `turn try` and `turn take`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnOutput {
    /// The state of the turn.
    #[serde(flatten)]
    pub reply: TurnReply,
    /// What ended a wait: `turn`, `event`, `timeout` or `closed`. `None` for `turn take`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_reason: Option<WakeReason>,
    /// The generation of the stored tree, for a caller that holds the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refs_generation: Option<u64>,
    /// The events that concern the caller, oldest first: those after the given record or, by
    /// default, those that the caller has not read yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
}

impl TurnOutput {
    fn new(cx: &mut Cx, session: &SessionAuthority, waited: WaitReply) -> Self {
        let WaitReply { reply, events } = waited;
        let turn_id = match &reply {
            TurnReply::YourTurn(granted) => Some(granted.turn_id),
            TurnReply::NotYet(_) | TurnReply::TakeoverAvailable(_) | TurnReply::Closed(_) => None,
        };
        authority::hold_turn(cx, session.name(), turn_id);
        let generation = cx.host.slot(session.name()).ok().and_then(|slot| slot.status.borrow().generation);
        let refs_generation = generation.filter(|_| turn_id.is_some());
        Self { reply, wake_reason: None, refs_generation, events }
    }

    /// Returns the response to a wait.
    fn of_wait(cx: &mut Cx, session: &SessionAuthority, waited: WaitReply) -> Self {
        let wake_reason = Some(match &waited.reply {
            TurnReply::Closed(_) => WakeReason::Closed,
            TurnReply::NotYet(_) if !waited.events.is_empty() => WakeReason::Event,
            TurnReply::NotYet(_) => WakeReason::Timeout,
            TurnReply::YourTurn(_) | TurnReply::TakeoverAvailable(_) => WakeReason::Turn,
        });
        Self { wake_reason, ..Self::new(cx, session, waited) }
    }
}

/// What ended a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WakeReason {
    /// The caller has the turn or may take it.
    Turn,
    /// A record arrived for the caller. No turn was granted.
    Event,
    /// The wait timed out.
    Timeout,
    /// The session is closed.
    Closed,
}

impl Command for TurnWait {
    const SPEC: Spec = Spec {
        name: "turn wait",
        reconnects: true,
        examples: &["stickpin turn wait", "stickpin --session shop turn wait --timeout 60000"],
        ..Spec::COORDINATION
    };
    type Output = TurnOutput;

    fn time_limits(&self) -> TimeLimits {
        let deadline = self.timeout.map_or(LONGEST, Duration::from_millis) + ALLOWANCE;
        TimeLimits { deadline, response_limit: None }
    }

    async fn run(self, cx: &mut Cx) -> Result<TurnOutput> {
        let (session, who) = authority::require(cx)?;
        let options = WaitOptions {
            timeout: limit(cx, &session, self.timeout),
            park: self.park,
            no_solo: self.no_solo,
            events: !self.no_events,
            after: self.after,
            pid: cx.caller.process,
        };
        let cancel = cx.cancel.clone();
        let waited = session.wait(&who, options, &cancel).await?;
        Ok(TurnOutput::of_wait(cx, &session, waited))
    }
}

impl Command for TurnTry {
    const SPEC: Spec =
        Spec { name: "turn try", reconnects: true, examples: &["stickpin turn try"], ..Spec::COORDINATION };
    type Output = TurnOutput;

    async fn run(self, cx: &mut Cx) -> Result<TurnOutput> {
        TurnWait { timeout: Some(0), park: self.park, ..TurnWait::default() }.run(cx).await
    }
}

impl Command for TurnTake {
    const SPEC: Spec = Spec {
        name: "turn take",
        examples: &[
            "stickpin turn take --reason 'the owner has been silent for an hour'",
            "stickpin turn take --operator-requested",
        ],
        ..Spec::COORDINATION
    };
    type Output = TurnOutput;

    async fn run(self, cx: &mut Cx) -> Result<TurnOutput> {
        let (session, who) = authority::require(cx)?;
        let options = TakeOptions {
            reason: self.reason,
            operator_requested: self.operator_requested,
            expected_turn: self.turn,
        };
        let redactor = authority::redactor(cx);
        let reply = session.take(&who, options, &redactor).await?;
        let reply = with_unread(&session, &who, reply)?;
        Ok(TurnOutput::new(cx, &session, reply))
    }
}

impl Show for TurnOutput {
    fn exit(&self) -> u8 {
        match &self.reply {
            TurnReply::YourTurn(_) => 0,
            TurnReply::NotYet(_) => NOT_YET,
            TurnReply::TakeoverAvailable(_) => TAKEOVER,
            TurnReply::Closed(_) => CLOSED,
        }
    }

    fn show(&self, text: &mut Text) {
        match &self.reply {
            TurnReply::YourTurn(granted) => show_granted(granted, text),
            TurnReply::NotYet(not_yet) => {
                let who = holder(not_yet.owner.as_ref(), not_yet.reserved_for.as_ref());
                let place = match not_yet.position {
                    Some(position) if position > 1 => format!("; you are number {position} in line"),
                    _ => String::new(),
                };
                text.line(format_args!(
                    "not yet: turn {} of {} {who}{place}",
                    not_yet.turn_id, not_yet.session
                ));
            }
            TurnReply::TakeoverAvailable(takeover) => {
                let owner = takeover.owner.as_ref().map_or_else(String::new, |owner| format!(" of {owner}"));
                text.line(format_args!(
                    "turn {}{owner} can be taken: run `stickpin --session {} turn take --reason TEXT`",
                    takeover.turn_id, takeover.session
                ));
            }
            TurnReply::Closed(closed) => text.line(format_args!("session {} is closed", closed.session)),
        }
        feed::show_events(&self.events, false, text);
        text.cursor(self.reply.status(), Some(self.reply.cursor_seq()), &BTreeMap::new());
    }
}

/// Returns the time limit of a wait for which `ms` milliseconds were requested, or `None` for no
/// limit. Over MCP, the limit may be lower, because a tool call must return before its harness
/// gives up.
pub(super) fn limit(cx: &Cx, session: &SessionAuthority, ms: Option<u64>) -> Option<Duration> {
    let most = match cx.caller.evidence.env_age {
        EnvAge::Spawn => Some(session.meta().policy.wait_slice_mcp_ms),
        EnvAge::Request => None,
    };
    ms.into_iter().chain(most).min().map(Duration::from_millis)
}

/// Returns the end of a sentence about a turn: who holds it, whom it is reserved for, or that it is
/// idle.
pub(super) fn holder(owner: Option<&AgentId>, reserved_for: Option<&AgentId>) -> String {
    match (owner, reserved_for) {
        (Some(owner), _) => format!("is held by {owner}"),
        (None, Some(next)) => format!("is reserved for {next}"),
        (None, None) => "is idle".to_owned(),
    }
}

fn show_granted(granted: &Granted, text: &mut Text) {
    text.line(format_args!("your turn: turn {} of {}", granted.turn_id, granted.session));
    if let Some(revoked) = &granted.revoked {
        text.line(format_args!("taken from {revoked}"));
    }
    if let Some(handoff) = &granted.handoff {
        let from = granted.from.as_ref().map_or_else(String::new, |from| format!(" from {from}"));
        text.line(format_args!("handoff{from}:"));
        text.line(format_args!("  done: {}", quote(&handoff.status)));
        text.line(format_args!("  next: {}", quote(&handoff.next_action)));
        for question in &handoff.open_questions {
            text.line(format_args!("  open: {}", quote(question)));
        }
        for warning in &handoff.do_not {
            text.line(format_args!("  do not: {}", quote(warning)));
        }
    }
    if granted.open_notes > 0 {
        text.line(format_args!("open notes: {}; read them with `stickpin notes list`", granted.open_notes));
    }
    if let Some(note) = &granted.refs_note {
        text.line(note);
    }
    if !granted.guardian.renewing {
        text.line("the lease of this turn is not being renewed: do not act");
    }
}
