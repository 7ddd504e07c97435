//! The authority of a session over its commands: who may act, and what is logged.

use crate::api::command_definition::CommandDefinition;
use crate::api::request::{HeldTurn, LogStatus};
use crate::api::spec::Effect;
use crate::command::begun::{Begun, CommandRedactor};
use crate::command::context::Cx;
use crate::host::recording::NewStep;
use crate::recording;
use crate::run::arguments;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use stickpin_coordinator::{Admission, Closing, Coordinator, Participant, SessionAuthority, Start};
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_session::agent::EnvAge;
use stickpin_session::log::{
    Arguments, CommandError, RecordedStep, Redacted, Redactor, SessionMeta, StartReason, Status, Via,
};
use stickpin_session::turn::{BaseScope, LoanId, ScopeRule, TargetId, TargetRef, TargetSelector, Verb};

/// The maximum time that a command waits for another agent's implicit turn to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// A command's right to run in its session.
pub(crate) struct Admitted {
    session: Arc<SessionAuthority>,
    who: Participant,
    /// The turn, for a command that changes the app.
    turn: Option<Admission>,
}

/// Returns the agent behind a call, if the host knows it.
pub(crate) fn participant(cx: &Cx) -> Option<Participant> {
    let via = match cx.caller.evidence.env_age {
        _ if cx.replayed => Via::Replay,
        _ if cx.caller.evidence.console.is_some() => Via::Repl,
        EnvAge::Spawn => Via::Mcp,
        EnvAge::Request => Via::Cli,
    };
    cx.caller.agent.as_ref().map(|agent| Participant::new(agent, via))
}

/// Returns the authority of a command's session; `None` on a host without a coordinator, or for a
/// caller whose agent is unknown.
pub(crate) fn authority(cx: &Cx) -> Result<Option<(Arc<SessionAuthority>, Participant)>> {
    let Some(coordinator) = &cx.host.config.coordinator else { return Ok(None) };
    let Some(who) = participant(cx) else { return Ok(None) };
    Ok(Some((coordinator.session(&cx.session_name)?, who)))
}

/// Refuses an action outside the scope of its session, or in a part of the scope that the session
/// has lent.
fn permit(cx: &Cx, session: &SessionAuthority, who: &Participant, address: Option<String>) -> Result<()> {
    match &cx.host.config.coordinator {
        Some(coordinator) => {
            coordinator.loans().permit(session, who, address.as_deref().filter(|address| !address.is_empty()))
        }
        None => Ok(()),
    }
}

/// Returns the coordinator of this host, and the participant behind the call.
///
/// # Errors
/// Returns `UNSUPPORTED` on a host without a coordinator, or for a caller that the host does not
/// know.
pub(crate) fn coordinator(cx: &Cx) -> Result<(Coordinator, Participant)> {
    let found = cx.host.config.coordinator.clone().zip(participant(cx));
    found.ok_or_else(uncoordinated_error)
}

/// Returns the authority of the session that the caller names, open or not.
///
/// # Errors
/// Returns `UNSUPPORTED` on a host without a coordinator or for a caller that the host does not
/// know, `SESSION_NOT_FOUND`, and errors from the log.
pub(crate) fn require(cx: &Cx) -> Result<(Arc<SessionAuthority>, Participant)> {
    let found = authority(cx)?;
    found.ok_or_else(uncoordinated_error)
}

fn uncoordinated_error() -> Error {
    Error::unsupported("this command needs a host with a coordinator and a caller with an agent id")
}

/// Returns the redactor that keeps the secrets of a call out of the log.
pub(crate) fn redactor(cx: &Cx) -> impl Redactor + use<> {
    CommandRedactor { secrets: cx.caller.secrets.values().cloned().collect(), typed: Vec::new() }
}

/// Admits a command before it queues for the device.
///
/// # Errors
/// Returns `NOT_YOUR_TURN` while another agent holds the turn, `TURN_MISMATCH` if the caller named
/// a turn other than the current one, other refusals concerning the turn or the scope,
/// `SESSION_NOT_FOUND`, and errors from the log.
pub(crate) async fn admit(cx: &mut Cx, effect: Effect) -> Result<Option<Admitted>> {
    let Some((session, who)) = authority(cx)? else { return Ok(None) };
    let turn = match effect {
        Effect::Reads => None,
        Effect::Mutates => {
            // A command that may not act here takes no turn either.
            if session.held_by_other(&who).is_none()
                && let Err(denied) = permit(cx, &session, &who, address_of(cx, &cx.session_name))
                && session.meta().turn.reserved_for.is_none_or(|agent| agent == who.agent)
            {
                return Err(denied);
            }
            let cancel = cx.cancel.clone();
            let turn = session.admit(&who, cx.expected_turn, PATIENCE, &cancel).await?;
            permit(cx, &session, &who, address_of(cx, &cx.session_name))?;
            Some(turn)
        }
    };
    Ok(Some(Admitted { session, who, turn }))
}

/// Returns the address that a session's app had after the last command.
fn address_of(cx: &Cx, session: &str) -> Option<String> {
    cx.host.slot(session).ok().map(|slot| slot.status.borrow().url.clone())
}

/// Records the beginning of a command, before the device is used. [`end`] records its end.
///
/// # Errors
/// Returns `STALE_LEASE` when the turn has passed on since the command was admitted,
/// `TURN_MISMATCH` instead if the caller named the turn, refusals concerning the scope, and errors
/// from the log. A command that only reads continues without a record if the log fails.
pub(crate) fn begin(
    cx: &mut Cx,
    definition: &CommandDefinition,
    admitted: Option<Admitted>,
    input: &Map<String, Value>,
) -> Result<()> {
    let Some(Admitted { session, who, turn }) = admitted else { return Ok(()) };
    cx.reader = turn.is_none().then(|| (Arc::clone(&session), who.clone()));
    let redactor = arguments::redactor(cx, definition, input, turn.is_some());
    let command = arguments::new_command(cx, definition, input, &redactor);
    match session.begin(&who, turn, command, &cx.cancel) {
        Ok(ticket) => {
            if let Some(begun) = cx.begun.take() {
                // The caller may be gone.
                let _ = begun.send(ticket.command());
            }
            // Scope may have been lent while the command was waiting for the device. From now on, a
            // lender waits for this command.
            let address =
                cx.open_session().ok().and_then(|live| live.page.as_ref()).map(|page| page.url.clone());
            let permitted = if turn.is_some() { permit(cx, &session, &who, address) } else { Ok(()) };
            cx.envelope.begun = Some(Begun { session, who, ticket, redactor });
            if let Err(e) = &permitted {
                end(cx, Some(e), None);
            }
            permitted
        }
        Err(e) if turn.is_none() => {
            cx.warn(format!("This command could not be written to the session log: {e}."));
            Ok(())
        }
        Err(e) => Err(e),
    }
}

/// A lifetime whose beginning is in the log.
pub(crate) struct Lifetime {
    session: Arc<SessionAuthority>,
    who: Participant,
    /// The metadata before the lifetime began; `None` for the first lifetime.
    before: Option<SessionMeta>,
}

impl Lifetime {
    /// Returns whether the session did not exist before.
    pub(crate) fn is_first(&self) -> bool {
        self.before.is_none()
    }

    /// Returns the right to record the events of this lifetime.
    pub(crate) fn admission(&self) -> Admitted {
        Admitted { session: Arc::clone(&self.session), who: self.who.clone(), turn: None }
    }
}

/// Records the beginning of a lifetime, before its app starts.
///
/// # Errors
/// Returns `SCOPE_DENIED` for an agent that may not administer the device, `SESSION_EXISTS` for a
/// child session, `IDENTITY_AMBIGUOUS`, and errors from the log. After any error, the app must not
/// be started.
pub(crate) fn begin_lifetime(
    cx: &mut Cx,
    definition: &CommandDefinition,
    manifest: &Map<String, Value>,
    platform: &str,
    reason: StartReason,
) -> Result<Option<Lifetime>> {
    let Some(coordinator) = cx.host.config.coordinator.clone() else { return Ok(None) };
    let Some(who) = participant(cx) else { return Ok(None) };
    let redactor = arguments::redactor(cx, definition, manifest, false);
    let mut what = manifest.get("what").and_then(Value::as_str).unwrap_or_default().to_owned();
    redactor.redact(&mut what);
    let target = TargetRef {
        // A session has one target, its device, which it shares with no other session.
        target_id: TargetId::new(&cx.session_name),
        kind: platform.to_owned(),
        label: what.clone(),
        device_key: what,
    };
    let everything = ScopeRule {
        verbs: [Verb::Observe, Verb::Act, Verb::Admin].into(),
        target: TargetSelector::Any,
        constraint: None,
    };
    // The denials of a session outlive its lifetimes.
    let before = coordinator.meta(&cx.session_name).ok().map(|(meta, _)| meta);
    let before = before.filter(|meta| meta.active.is_some() || meta.parent.is_some());
    let deny = before.as_ref().map(|meta| meta.base_scope.deny.clone()).unwrap_or_default();
    let start = Start {
        platform: platform.to_owned(),
        manifest: Arguments::new(manifest, &redactor),
        policy: coordinator.policy(&cx.session_name),
        targets: vec![target],
        base_scope: BaseScope { allow: vec![everything], deny },
    };
    if before.is_some() {
        let session = coordinator.session(&cx.session_name)?;
        coordinator.loans().administer(&session, &who, None)?;
    }
    let session = coordinator.begin_lifetime(&cx.session_name, start, reason, Some(&who))?;
    if before.is_some() {
        // A closed session lost its turn; one whose app was lost keeps it.
        let turn = session.meta().turn;
        let is_held = turn.owner.as_ref() == Some(&who.agent) && !turn.implicit;
        cx.expected_turn = None;
        hold_turn(cx, session.name(), is_held.then_some(turn.turn_id));
    }
    Ok(Some(Lifetime { session, who, before }))
}

/// Revokes a lifetime whose app could not be started: the session and its turn return to their
/// earlier state.
pub(crate) fn give_up_lifetime(cx: &mut Cx, lifetime: Lifetime) {
    let name = cx.session_name.clone();
    let Lifetime { session, who, before } = lifetime;
    let Some(coordinator) = &cx.host.config.coordinator else { return };
    let revoked = coordinator.revoke_lifetime(&session, before.as_ref(), &who);
    match (revoked, before.map(|before| before.status)) {
        (Err(e), _) => cx.warn(format!("Session `{name}` could not be restored to its earlier state: {e}.")),
        (Ok(()), Some(Status::Open | Status::Interrupted)) => {
            cx.warn(format!("Session `{name}` and its turn are kept; its app is not open."));
        }
        (Ok(()), Some(Status::Closed)) => cx.warn(format!("Session `{name}` stays closed.")),
        (Ok(()), Some(Status::Pending) | None) => {}
    }
}

/// Notes in the response which turn the caller holds, or that the caller holds no turn. If the
/// request named a turn, later steps of a batch expect the new turn.
pub(crate) fn hold_turn(cx: &mut Cx, session: &str, turn_id: Option<u64>) {
    if cx.expected_turn.is_some() && turn_id.is_some() && session == cx.session_name {
        cx.expected_turn = turn_id;
    }
    cx.envelope.turns.push(HeldTurn { session: session.to_owned(), turn_id });
}

/// Returns whether the session of a command is on record, open or not.
pub(crate) fn is_known(cx: &Cx) -> bool {
    cx.host.config.coordinator.as_ref().is_some_and(|coordinator| coordinator.exists(&cx.session_name))
}

/// Records the closing of a session, whether or not its app is open. Returns the loans that ended
/// with the session.
///
/// # Errors
/// Returns `NOT_YOUR_TURN` if another agent holds the turn or has it reserved. Also returns this
/// error if the turn is idle, the session has drivers and the agent is not one of them. A person
/// may always close a session, and so may an agent with `force`. Also returns `IDENTITY_AMBIGUOUS`,
/// `SCOPE_DENIED` and errors from the log.
pub(crate) async fn close(cx: &mut Cx, name: &str, force: bool) -> Result<Vec<LoanId>> {
    let Some(coordinator) = &cx.host.config.coordinator else { return Ok(Vec::new()) };
    match coordinator.session(name) {
        Ok(session) => {
            let address = address_of(cx, name);
            let address = address.as_deref().filter(|address| !address.is_empty());
            coordinator.close_for(&session, participant(cx).as_ref(), Closing::new(force), address).await
        }
        // The session was opened by a caller that the host does not know.
        Err(e) if e.code == ErrorCode::SessionNotFound => Ok(Vec::new()),
        Err(e) => Err(e),
    }
}

/// Records the end of a command whose beginning is in the log, and what the command contributes to
/// the recording of its session.
pub(crate) fn end(cx: &mut Cx, failed: Option<&Error>, step: Option<NewStep>) {
    let Some(Begun { session, mut ticket, redactor, .. }) = cx.envelope.begun.take() else { return };
    let failure = failed.map(|e| CommandError {
        code: e.code.name().to_owned(),
        message: Redacted::new(e.message.clone(), &redactor),
    });
    let is_recorded = step.is_some();
    if let Some(step) = step {
        ticket.record(recorded_step(cx, step, &redactor));
    }
    let live = cx.open_session().ok();
    let generation = live.as_ref().and_then(|live| live.session.generation()).map(|g| g.get());
    let address = live.and_then(|live| live.page.as_ref()).map(|page| page.url.clone());
    let address = address.filter(|url| !url.is_empty()).map(|url| Redacted::new(url, &redactor));
    if let Err(e) = session.end(ticket, failure, generation, address) {
        cx.envelope.log_status = Some(LogStatus::EndNotPersisted);
        cx.warn(format!(
            "The end of this command could not be written to the session log: {e}. The log accepts no further commands until the end is written."
        ));
        if is_recorded {
            recording::warn_unlogged(cx, &e);
        }
    }
}

/// Records a command that contributes to the recording of its session and whose beginning is not in
/// the log.
pub(crate) fn record(cx: &mut Cx, definition: &CommandDefinition, input: &Map<String, Value>, step: NewStep) {
    let Ok(live) = cx.open_session() else { return };
    let Some(log) = live.recorder.as_ref().map(|recorder| recorder.log().clone()) else { return };
    let redactor = arguments::redactor(cx, definition, input, true);
    let command = arguments::new_command(cx, definition, input, &redactor);
    let step = recorded_step(cx, step, &redactor);
    if let Err(e) = log.add(participant(cx).as_ref(), command, step) {
        recording::warn_unlogged(cx, &e);
    }
}

/// Redacts a step, in which variables already stand for the secrets that the script writer knew.
fn recorded_step(cx: &mut Cx, step: NewStep, redactor: &CommandRedactor) -> RecordedStep {
    let lines = match step {
        NewStep::ScriptResumed => return RecordedStep::ScriptResumed,
        NewStep::Lines(lines) => lines,
    };
    let redacted = Redacted::new(lines.clone(), redactor);
    if redacted.text() != Some(&lines) {
        cx.warn("The recorded step contains the value of a secret, which the script masks.");
    }
    RecordedStep::Lines(redacted)
}
