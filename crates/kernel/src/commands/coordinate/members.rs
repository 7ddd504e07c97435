//! `turn join`, `turn leave`, `turn kick`, `turn state`: the members of a session.

use crate::commands::coordinate::{claim, hand_over, talk};
use crate::commands::prelude::*;
use stickpin_coordinator::{MemberState, Note, SessionState, Talk};
use stickpin_session::turn::MemberRole;

/// Become a member of the session, as a driver that may hold its turn.
///
/// Waiting for the turn or acting also makes you a member; this command sets your name or makes you
/// an observer.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TurnJoin {
    /// Join as an observer: read and send messages, but never hold the turn.
    pub observer: bool,
    /// The name that others see.
    #[serde(rename = "as")]
    #[schemars(extend("x-placeholder" = "NAME"))]
    pub display: Option<String>,
}

/// Leave the session.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TurnLeave {
    /// Release the turn first, if you hold it.
    pub release: bool,
    /// What was done, for the next owner.
    #[schemars(extend("x-placeholder" = "TEXT"))]
    pub status: Option<String>,
    /// What the next owner should do.
    #[schemars(extend("x-placeholder" = "TEXT"))]
    pub next_action: Option<String>,
}

/// Remove a member that is gone, or any other with `--force`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnKick {
    /// The agent id or display name of the member.
    #[schemars(extend("x-positional" = 0))]
    pub member: String,
    /// Why, for the log.
    #[schemars(extend("x-placeholder" = "TEXT"))]
    pub reason: Option<String>,
    /// Remove the member even if it is active.
    #[serde(default)]
    pub force: bool,
}

/// Show who holds the turn, who is waiting, and the members. Changes nothing.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TurnState {
    /// Also show the open notes.
    pub notes: bool,
    /// Also show members whose harness has exited and that have long been silent.
    pub all: bool,
}

/// The caller's membership, and the state of the session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnJoinOutput {
    /// Always `joined`.
    pub status: String,
    /// The agent id of the caller.
    pub agent_id: String,
    /// Whether the caller was not a member before.
    pub created: bool,
    /// The caller's number in the order in which members joined, from 1.
    pub ordinal: u32,
    /// The state of the session. Its `cursorSeq` is the newest log record at the time of the join,
    /// after which `events --after` continues.
    #[serde(flatten)]
    pub state: SessionState,
}

/// The end of a membership.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnLeaveOutput {
    /// Always `left`.
    pub status: String,
    /// The name of the session.
    pub session: String,
    /// The number of remaining members.
    pub remaining_members: usize,
}

/// The removal of a member.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnKickOutput {
    /// Always `kicked`.
    pub status: String,
    /// The name of the session.
    pub session: String,
    /// Whether the member held the turn.
    pub was_owner: bool,
    /// Whether the turn was reserved for the member.
    pub was_reserved: bool,
}

/// Who holds the turn, who is waiting, and the members.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnStateOutput {
    /// The state of the session.
    #[serde(flatten)]
    pub state: SessionState,
    /// The open notes, oldest first, at most 200; `None` without `--notes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<Vec<Note>>,
    /// What only `--all` shows, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<Hidden>,
}

/// What `turn state` omits without `--all`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hidden {
    /// The number of members whose harness has exited and that have long been silent.
    pub members: usize,
}

impl Command for TurnJoin {
    const SPEC: Spec = Spec {
        name: "turn join",
        examples: &["stickpin turn join --as reviewer", "stickpin turn join --observer"],
        ..Spec::COORDINATION
    };
    type Output = TurnJoinOutput;

    async fn run(self, cx: &mut Cx) -> Result<TurnJoinOutput> {
        let (session, who) = authority::require(cx)?;
        let joined = session.join(&who, self.observer, self.display)?;
        Ok(TurnJoinOutput {
            status: "joined".to_owned(),
            agent_id: joined.member.agent_id.to_string(),
            created: joined.created,
            ordinal: joined.member.ordinal,
            // Records added in the meantime are events that the caller has not seen.
            state: SessionState { cursor_seq: joined.cursor_seq, ..session.state(Some(&who))? },
        })
    }
}

impl Command for TurnLeave {
    const SPEC: Spec = Spec {
        name: "turn leave",
        examples: &["stickpin turn leave", "stickpin turn leave --release --status done --next-action none"],
        ..Spec::COORDINATION
    };
    type Output = TurnLeaveOutput;

    async fn run(self, cx: &mut Cx) -> Result<TurnLeaveOutput> {
        let (session, who) = authority::require(cx)?;
        if self.release && session.meta().turn.owner.as_ref() == Some(&who.agent) {
            let mut handoff = hand_over::handoff(&who, None, self.status, self.next_action)?;
            handoff.ui = hand_over::screen(cx, &session);
            session.release(&who, None, handoff, &authority::redactor(cx))?;
        }
        let remaining_members = session.leave(&who)?;
        authority::hold_turn(cx, session.name(), None);
        let session = session.name().to_owned();
        Ok(TurnLeaveOutput { status: "left".to_owned(), session, remaining_members })
    }
}

impl Command for TurnKick {
    const SPEC: Spec = Spec {
        name: "turn kick",
        examples: &["stickpin turn kick codex:d4bc2492 --force"],
        ..Spec::COORDINATION
    };
    type Output = TurnKickOutput;

    async fn run(self, cx: &mut Cx) -> Result<TurnKickOutput> {
        let (session, who) = authority::require(cx)?;
        let redactor = authority::redactor(cx);
        let kicked = session.kick(&who, &self.member, self.reason, self.force, &redactor)?;
        Ok(TurnKickOutput {
            status: "kicked".to_owned(),
            session: session.name().to_owned(),
            was_owner: kicked.was_owner,
            was_reserved: kicked.was_reserved,
        })
    }
}

impl Command for TurnState {
    const SPEC: Spec = Spec {
        name: "turn state",
        examples: &["stickpin turn state", "stickpin turn state --notes"],
        ..Spec::HOST
    };
    type Output = TurnStateOutput;

    async fn run(self, cx: &mut Cx) -> Result<TurnStateOutput> {
        let (session, who) = authority::require(cx)?;
        let notes = self.notes.then(|| Talk(&session).notes(false, 0, talk::MAX_NOTES)).transpose()?;
        let mut state = session.state(Some(&who))?;
        let all = state.members.len();
        if !self.all {
            omit_ended(&mut state);
        }
        let hidden = Some(Hidden { members: all - state.members.len() }).filter(|hidden| hidden.members > 0);
        Ok(TurnStateOutput { state, notes, hidden })
    }
}

/// Omits the members whose harness ended and that have been silent for longer than the policy's
/// presence time. Keeps the caller, and the member that holds the turn or may claim it next.
pub(crate) fn omit_ended(state: &mut SessionState) {
    let (owner, next, limit) =
        (state.owner.clone(), state.reserved_for.clone(), state.policy.presence_ttl_ms);
    state.members.retain(|member| {
        let has_turn = owner.as_ref().or(next.as_ref()) == Some(&member.agent_id);
        let is_silent = member.silent_ms.is_none_or(|ms| ms > limit);
        member.alive != Some(false) || !is_silent || has_turn || member.you
    });
}

impl Show for TurnJoinOutput {
    fn show(&self, text: &mut Text) {
        let (session, cursor) = (&self.state.session, self.state.cursor_seq);
        text.line(format_args!("{} is member {} of {session}; cursor {cursor}", self.agent_id, self.ordinal));
        show_state(&self.state, text);
    }
}

show_line!(TurnLeaveOutput: it => "left {}; other members: {}", it.session, it.remaining_members);

impl Show for TurnKickOutput {
    fn show(&self, text: &mut Text) {
        let turn = if self.was_owner { "; the turn is idle" } else { "" };
        text.line(format_args!("removed the member from {}{turn}", self.session));
    }
}

impl Show for TurnStateOutput {
    fn show(&self, text: &mut Text) {
        show_state(&self.state, text);
        if let Some(Hidden { members }) = self.hidden {
            text.line(format_args!("{members} more: use `turn state --all` to list them"));
        }
        talk::show_notes(self.notes.iter().flatten(), text);
    }
}

fn show_state(state: &SessionState, text: &mut Text) {
    let holder = claim::holder(state.owner.as_ref(), state.reserved_for.as_ref());
    let implicit = if state.implicit { ", taken by a command" } else { "" };
    text.line(format_args!("turn {} of {} {holder}{implicit}", state.turn_id, state.session));
    if let Some(handoff) = &state.pending_handoff {
        text.line(format_args!("handoff: {}, next: {}", quote(&handoff.status), quote(&handoff.next_action)));
    }
    if state.takeover.available {
        text.line("you may take the turn with `stickpin turn take --reason TEXT`");
    }
    let waits =
        |member: &MemberState| state.waiters.iter().any(|w| w.agent_id == member.agent_id && !w.parked);
    let rows = state.members.iter().map(|member| {
        let mut words = Vec::new();
        words.extend(member.you.then_some("you"));
        words.extend((member.role == MemberRole::Observer).then_some("observer"));
        words.extend(waits(member).then_some("waits"));
        words.extend((member.alive == Some(false)).then_some("ended"));
        let is_id = member.display == member.agent_id.as_str();
        vec![
            Cell::Word(member.agent_id.to_string()),
            Cell::Prose(if is_id { String::new() } else { quote(&member.display) }),
            Cell::Word(words.join(", ")),
        ]
    });
    text.table(&rows.collect::<Vec<_>>(), "  ");
    if state.open_notes > 0 {
        text.line(format_args!("open notes: {}", state.open_notes));
    }
}
