//! The limits and denials of a session, and the repair and conversion of its files.

use crate::coordinator::Coordinator;
use crate::error;
use crate::participant::Participant;
use crate::rule;
use crate::session::{SessionAuthority, State};
use serde_json::{Value, json};
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_session::log::{Kind, PolicyChanged, SessionMeta};
use stickpin_session::turn::{MemberRole, Now, Policy, ScopeRule, TurnError};
use stickpin_store::{Migrated, Repaired, SessionLog, Store};

/// The minimum value, in milliseconds, of a limit whose expiry wakes the guardian.
const LEAST_MS: u64 = 1_000;

/// The maximum number of denials of a session.
const MAX_DENIALS: usize = 64;

/// Refuses an agent while another agent holds the turn or has it reserved. A turn that is due to
/// end is ended first. A person is never refused.
pub(crate) fn require_turn_or_idle(
    session: &SessionAuthority,
    state: &mut State,
    who: &Participant,
    now: &Now,
) -> Result<()> {
    state.commit_due(now, Some(&who.agent))?;
    let turn = &state.log.meta().turn;
    match turn.owner.as_ref().or(turn.reserved_for.as_ref()) {
        Some(holder) if *holder != who.agent && !who.is_person() => {
            let e = TurnError::TurnHeld { owner: holder.clone(), turn_id: turn.turn_id };
            Err(session.turn_error(state, e))
        }
        _ => Ok(()),
    }
}

/// Refuses an agent that may not set a session's limits. The owner of the turn may set them. The
/// only driver may set them as well while no agent has the turn and it is not reserved for another
/// agent, because an implicit turn ends by itself. A person is never refused.
fn require_policy_right(
    session: &SessionAuthority,
    state: &mut State,
    who: &Participant,
    now: &Now,
) -> Result<()> {
    require_turn_or_idle(session, state, who, now)?;
    let meta = state.log.meta();
    if who.is_person() || meta.turn.owner.is_some() {
        return Ok(());
    }
    state.require_member(session.name(), &who.agent)?;
    let drives = meta.members.iter().any(|m| m.agent_id == who.agent && m.role == MemberRole::Driver);
    match drives && state.is_alone(&who.agent) {
        true => Ok(()),
        false => {
            let (agent, turn_id) = (who.agent.clone(), meta.turn.turn_id);
            Err(session.turn_error(state, TurnError::StaleLease { agent, turn_id }))
        }
    }
}

/// Returns a policy with changed values.
fn policy_with_changes(policy: &Policy, changes: &[(String, String)]) -> Result<Policy> {
    let bad = |message: String| {
        Error::invalid_args(message)
            .hint("run `stickpin session policy NAME` to list the limits and their values")
    };
    let mut value = json!(policy);
    for (name, text) in changes {
        let key = camel_case(name);
        let Some(known) = value.get_mut(&key) else {
            return Err(bad(format!("a session has no limit named {}", stickpin_tree::quote(name))));
        };
        *known = match text.parse::<u64>() {
            Ok(number) => Value::from(number),
            Err(_) => Value::from(text.as_str()),
        };
        let wakes = ["leaseTtlMs", "renewMs", "claimTtlMs", "goneGraceMs"].contains(&key.as_str());
        if wakes && known.as_u64().is_some_and(|ms| ms < LEAST_MS) {
            return Err(bad(format!("`{key}` must be at least {LEAST_MS} ms")));
        }
    }
    let policy: Policy =
        serde_json::from_value(value).map_err(|e| bad(format!("the limits would be invalid: {e}")))?;
    if policy.renew_ms >= policy.lease_ttl_ms {
        return Err(bad("`renewMs` must be less than `leaseTtlMs`".to_owned()));
    }
    Ok(policy)
}

/// Converts `lease-ttl-ms` and `lease_ttl_ms` to `leaseTtlMs`.
fn camel_case(name: &str) -> String {
    let mut words = name.split(['-', '_']);
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

/// A change of the denials of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DenialChange {
    Add,
    Remove,
}

/// Returns the denials of a session with changed rules; `None` if no rule changes.
fn denials_with_changes(
    meta: &SessionMeta,
    who: &Participant,
    changes: &[(DenialChange, &str)],
) -> Result<Option<Vec<ScopeRule>>> {
    let mut deny = meta.base_scope.deny.clone();
    for (change, text) in changes {
        let rule = match change {
            DenialChange::Add => rule::parse_denial(text, &meta.targets)?,
            DenialChange::Remove => rule::parse(text, &meta.targets)?,
        };
        let known = deny.iter().position(|known| *known == rule);
        match (change, known) {
            (DenialChange::Add, Some(_)) => {}
            (DenialChange::Add, None) if deny.len() >= MAX_DENIALS => {
                let message = format!("session `{}` has {MAX_DENIALS} denials, the maximum", meta.name);
                return Err(Error::invalid_args(message).hint(
                    "ask a person to remove rules with `deny-=RULE`; `act:*` alone covers every origin",
                ));
            }
            (DenialChange::Add, None) => deny.push(rule),
            (DenialChange::Remove, Some(at)) => {
                require_person(who, "remove a denial")?;
                deny.remove(at);
            }
            (DenialChange::Remove, None) => {
                let message = format!("session `{}` does not deny {rule}", meta.name);
                let hint =
                    format!("run `stickpin session policy {}` to list the session's denials", meta.name);
                return Err(Error::invalid_args(message).hint(hint));
            }
        }
    }
    Ok((deny != meta.base_scope.deny).then_some(deny))
}

impl Coordinator {
    /// Changes a session's limits, which are given as names and values. `deny+` adds a rule about
    /// what the session must not do, and `deny-` removes one, which only a person may do.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` for an unknown limit, an invalid value, an invalid rule, one denial
    /// too many, or the removal of a rule that the session does not have. Returns `NOT_YOUR_TURN`
    /// for an agent while another agent holds the turn or has it reserved. Returns `STALE_LEASE`
    /// while no agent holds the turn, unless the caller is a person or the only driver. Returns
    /// `SCOPE_DENIED` for an agent that removes a denial or that may not administer the device.
    /// Also returns `UNKNOWN_MEMBER`, `IDENTITY_AMBIGUOUS`, and the errors of [`Self::session`].
    pub fn set_policy(&self, name: &str, who: &Participant, changes: &[(String, String)]) -> Result<Policy> {
        who.require_unambiguous()?;
        let session = self.session(name)?;
        session.change(|state, now| require_policy_right(&session, state, who, now))?;
        self.loans().administer(&session, who, None)?;
        let policy = session.change(|state, now| {
            state.touch(who, now);
            require_policy_right(&session, state, who, now)?;
            let (mut limits, mut rules) = (Vec::new(), Vec::new());
            for (name, value) in changes {
                match name.as_str() {
                    "deny+" => rules.push((DenialChange::Add, value.as_str())),
                    "deny-" => rules.push((DenialChange::Remove, value.as_str())),
                    _ => limits.push((name.clone(), value.clone())),
                }
            }
            let policy = policy_with_changes(&state.log.meta().policy, &limits)?;
            let deny = denials_with_changes(state.log.meta(), who, &rules)?;
            let kind = Kind::PolicyChanged(Box::new(PolicyChanged { policy: policy.clone(), deny }));
            state.append(&State::origin(who, now), kind)?;
            Ok(policy)
        })?;
        // The deadlines of shortened limits come sooner.
        self.shared.guardian.send_modify(|count| *count += 1);
        Ok(policy)
    }

    /// Rebuilds a session's removed or damaged metadata: from its log, with an idle turn, or from
    /// memory if the session is in use.
    ///
    /// # Errors
    /// Returns `SCOPE_DENIED` unless the caller is a person, `SESSION_EXISTS` for a session with
    /// intact metadata, `SESSION_NOT_FOUND` for a session without a log, and errors from the log.
    pub fn adopt(&self, name: &str, who: &Participant) -> Result<()> {
        require_person(who, "adopt a session")?;
        let loaded = self.lock_sessions();
        if let Some(session) = loaded.get(name) {
            if self.store().meta(name).is_ok() {
                let message = format!("session `{name}` already has metadata");
                return Err(Error::session_exists(message).hint("use the session: nothing is missing"));
            }
            return session.change(|state, _| state.log.store_meta().map_err(error::of_store));
        }
        let now = (self.shared.environment.now)();
        SessionLog::adopt(self.store(), name, now.wall).map(drop).map_err(error::of_store)
    }

    /// Replaces a damaged line of a session's log, and any damaged lines directly after it. Moves
    /// their bytes to the quarantine. A session that is in use continues with the repaired log.
    ///
    /// # Errors
    /// Returns `SCOPE_DENIED` unless the caller is a person, `INVALID_ARGS` if `line` is not the
    /// first damaged one, `SESSION_EXISTS` while a command is running in the session, and errors
    /// from the log.
    pub fn repair(&self, name: &str, line: u64, who: &Participant) -> Result<Repaired> {
        require_person(who, "repair a log")?;
        let loaded = self.lock_sessions();
        if let Some(session) = loaded.get(name) {
            return session.change(|state, now| repair_in_use(self.store(), state, line, now));
        }
        let now = (self.shared.environment.now)();
        let repaired = self.store().repair(name, line, now.wall).map_err(error::of_store)?;
        self.read_before.forget_damage(name);
        Ok(repaired)
    }

    /// Converts a session's log from the format of an earlier version, and keeps the original.
    ///
    /// # Errors
    /// Returns `LOG_VERSION_UNSUPPORTED` for a version that cannot be converted, and errors from
    /// the log.
    pub fn migrate(&self, name: &str) -> Result<Migrated> {
        let loaded = self.lock_sessions();
        if loaded.contains_key(name) {
            // Only a log of the current version can be in use.
            return Ok(Migrated::default());
        }
        self.store().migrate(name).map_err(error::of_store)
    }
}

/// Repairs the log of a session that is in use, and opens it again.
fn repair_in_use(store: &Store, state: &mut State, line: u64, now: &Now) -> Result<Repaired> {
    let name = state.log.meta().name.clone();
    if state.running_of(&|_| true).is_some() {
        let message = format!("a command is running in session `{name}`, so its log cannot be repaired now");
        return Err(Error::session_exists(message).hint("repeat the repair after the command has ended"));
    }
    state.log.store_meta().map_err(error::of_store)?;
    let repaired = store.repair(&name, line, now.wall).map_err(error::of_store)?;
    state.log = SessionLog::open(store, &name, now.wall).map_err(error::of_store)?.log;
    Ok(repaired)
}

/// Refuses a caller that is not a person.
pub(crate) fn require_person(who: &Participant, what: &str) -> Result<()> {
    if who.is_person() {
        return Ok(());
    }
    let message = format!("only a person may {what}, and {} is an agent", who.agent);
    Err(Error::new(ErrorCode::ScopeDenied, message).hint("ask your operator to do this in a terminal"))
}
