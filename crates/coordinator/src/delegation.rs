//! Delegation: a session lends scope to a child, whose members act on the lender's device.
//!
//! A child has a log, members and a turn, but no device. Its members act on behalf of the child in
//! the session that has the device, within the scope that the child borrowed. Loans are part of the
//! lender's metadata. For every action, the scope is computed from the metadata of a family of
//! sessions, so there is no copy that could differ.

mod ending;
mod family;
mod reclaim;
mod records;

use self::family::Family;
use self::records::record;
use crate::coordinator::Coordinator;
use crate::error;
use crate::participant::Participant;
use crate::rule;
use crate::session::{SessionAuthority, State, admit_member, drain};
use crate::upkeep::require_turn_or_idle;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{Error, Result};
use stickpin_session::log::{Arguments, ChildSpawned, Kind, LoanOpened, Parent, SessionMeta};
use stickpin_session::turn::scope::{Facts, Holding};
use stickpin_session::turn::{AgentId, BaseScope, Child, ChildState, Loan, LoanId, LoanState, Verb};
use stickpin_store::{SessionLog, Start};

pub use self::reclaim::{EndedLoan, ReturnedLoans};

/// The parameters of a new child.
#[derive(Debug, Clone, Default)]
pub struct Spawn {
    /// The rules of the scope that is lent to the child.
    pub rules: Vec<String>,
    /// The agent that becomes the child's first member.
    pub agent: Option<AgentId>,
    /// The time after which the loan ends by itself.
    pub ttl: Option<Duration>,
}

/// A child session that may act.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spawned {
    /// The name of the child.
    pub child: String,
    /// The session whose device the child drives.
    pub device: String,
    /// The loan that gives the child its scope.
    pub loan_id: LoanId,
    /// What the lender may still do by itself.
    pub effective_parent: Vec<Verb>,
    /// What the child may do, within its limits.
    pub effective_child: Vec<Verb>,
}

/// Returns whether a session has loans, children or denials. For most sessions, this check is all
/// that scope costs.
fn has_limited_scope(session: &SessionAuthority) -> bool {
    let state = session.lock();
    let meta = state.log.meta();
    !meta.loans.is_empty() || !meta.children.is_empty() || !meta.base_scope.deny.is_empty()
}

/// The loans between the sessions of a coordinator.
#[derive(Debug, Clone, Copy)]
pub struct Loans<'c>(&'c Coordinator);

impl Coordinator {
    /// Returns the loans between the sessions.
    #[must_use]
    pub fn loans(&self) -> Loans<'_> {
        Loans(self)
    }
}

impl Loans<'_> {
    /// Checks that an agent may act on the device of `session`. `address` is the address of the
    /// app. A member of a child acts for the child.
    ///
    /// # Errors
    /// Returns `SCOPE_DENIED`, with the denying or lent rule if one is the cause, and errors from
    /// the family's metadata.
    pub fn permit(&self, session: &SessionAuthority, who: &Participant, address: Option<&str>) -> Result<()> {
        if !has_limited_scope(session) {
            return Ok(());
        }
        self.end_expired(session)?;
        self.permit_in(&self.family(session.name()), who, Verb::Act, address)
    }

    /// Checks that an agent may administer the device of `session`: close it, open it again, set
    /// its limits, or lend it. `address` is the address of the app, if it is open. A member of a
    /// child acts for the child. Never refuses a person or a request about a child, which has no
    /// device of its own.
    ///
    /// # Errors
    /// Returns the errors of [`Self::permit`].
    pub fn administer(
        &self,
        session: &SessionAuthority,
        who: &Participant,
        address: Option<&str>,
    ) -> Result<()> {
        if who.is_person() || !has_limited_scope(session) || session.meta().parent.is_some() {
            return Ok(());
        }
        self.end_expired(session)?;
        self.permit_in(&self.family(session.name()), who, Verb::Admin, address)
    }

    /// Checks that an agent may apply a verb to the device of a family.
    fn permit_in(&self, family: &Family, who: &Participant, verb: Verb, address: Option<&str>) -> Result<()> {
        let Some((device, target)) =
            family.metas.first().and_then(|meta| Some((meta, meta.targets.first()?)))
        else {
            return Ok(());
        };
        let facts = Facts { origin: address.and_then(rule::origin), ..Facts::default() };
        let mut denied = None;
        let is_member = |meta: &&SessionMeta| meta.members.iter().any(|m| m.agent_id == who.agent);
        for child in family.metas.iter().skip(1).filter(is_member) {
            // Record the agent's presence in the child for which it acts.
            self.0.session(&child.name)?.touch(who);
            match family.ledger.permit(&child.name, verb, &target.target_id, &facts) {
                Ok(()) => return Ok(()),
                Err(e) => denied = Some(e),
            }
        }
        let refused = match denied {
            Some(e) => Err(e),
            None => family.ledger.permit(&device.name, verb, &target.target_id, &facts),
        };
        refused.map_err(error::of_scope)
    }

    /// Creates a child of `parent` and lends it scope. Returns after the commands of the lender's
    /// members have ended or been cancelled.
    ///
    /// # Errors
    /// Returns `LOAN_NOT_SUBSET`, `LOAN_CONFLICT`, `SESSION_EXISTS`, `NOT_YOUR_TURN`,
    /// `SCOPE_DENIED` for an agent that may not administer the device, `UNKNOWN_MEMBER`,
    /// `IDENTITY_AMBIGUOUS`, `INVALID_ARGS` for an invalid or missing rule, and errors from the
    /// log. Nothing stays lent after an error.
    pub async fn spawn(&self, parent: &str, child: &str, who: &Participant, spawn: Spawn) -> Result<Spawned> {
        who.require_unambiguous()?;
        if self.0.exists(child) {
            let message = format!("session `{child}` already exists");
            return Err(Error::session_exists(message).hint("choose another name for the child"));
        }
        let lender = self.0.session(parent)?;
        let device = self.device_of(parent);
        let loan = self.lend(&lender, child, who, &spawn)?;
        // Wait for commands that are running for the lender.
        drain(&*self.0.session(&device)?, &self.acts_for(parent)).await;
        let begun = self.begin_child(&lender, child, &loan, who, spawn.agent);
        if let Err(e) = begun {
            let _one = self.0.delegating.lock();
            self.undo_spawn(&lender, &loan, "spawn_failed")?;
            return Err(e);
        }
        let lent = loan.rules.iter().flat_map(|rule| rule.verbs.iter().copied()).collect::<BTreeSet<_>>();
        Ok(Spawned {
            child: child.to_owned(),
            loan_id: loan.loan_id,
            effective_parent: self.effective(parent),
            effective_child: lent.into_iter().collect(),
            device,
        })
    }

    /// Checks and records a new loan. The loan is pending, and its lender may no longer act within
    /// the lent scope.
    fn lend(&self, lender: &SessionAuthority, child: &str, who: &Participant, spawn: &Spawn) -> Result<Loan> {
        let _one = self.0.delegating.lock();
        let device = self.device_of(lender.name());
        let family = self.family(&device);
        // A child lends what it borrowed, and no more.
        let administers = match device == lender.name() && !who.is_person() {
            true => self.permit_in(&family, who, Verb::Admin, None),
            false => Ok(()),
        };
        let mut ledger = family.ledger;
        let targets = self.0.meta(&device)?.0.targets;
        let rules = spawn.rules.iter().map(|rule| rule::parse_enforceable(rule, &targets));
        let rules = rules.collect::<Result<Vec<_>>>()?;
        if rules.is_empty() {
            return Err(
                Error::invalid_args("a child session needs at least one rule").hint("add `--lend 'act:*'`")
            );
        }
        let now = (self.0.shared.environment.now)();
        let expires = spawn.ttl.map(|ttl| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
        let loan = Loan {
            loan_id: LoanId::new(format!("loan-{:016x}", (self.0.shared.environment.random)() as u64)),
            lender: lender.name().to_owned(),
            borrower: child.to_owned(),
            turn_bound: rules.iter().any(|rule| rule.constraint.is_none() && rule.verbs.contains(&Verb::Act)),
            rules,
            state: LoanState::Pending,
            opened_seq: 0,
            expires_at: expires
                .map(|ms| stickpin_session::Timestamp::from_millis(now.wall.millis().saturating_add(ms))),
            expires_mono: expires.map(|ms| now.after(ms)),
            parent_loan: None,
        };
        ledger.set_session(child, Holding::default());
        let loan = ledger.lend(loan).map_err(error::of_scope)?.clone();
        lender.change(|state, now| {
            state.touch(who, now);
            state.require_member(lender.name(), &who.agent)?;
            require_turn_or_idle(lender, state, who, now)
        })?;
        administers?;
        let row = Child {
            session: child.to_owned(),
            agent_id: spawn.agent.clone(),
            loan_id: loan.loan_id.clone(),
            spawned_at: now.wall,
            state: ChildState::Pending,
            last_output_seq: 0,
        };
        let mut opened = loan;
        record(lender, Some(who), |seq, _| {
            opened.opened_seq = seq;
            vec![
                Kind::LoanOpened(Box::new(LoanOpened { loan: opened.clone() })),
                Kind::ChildSpawned(Box::new(ChildSpawned { child: row })),
            ]
        })?;
        self.0.shared.guardian.send_modify(|count| *count += 1);
        Ok(opened)
    }

    /// Creates the session of a child and activates its loan.
    fn begin_child(
        &self,
        lender: &SessionAuthority,
        child: &str,
        loan: &Loan,
        who: &Participant,
        agent: Option<AgentId>,
    ) -> Result<()> {
        let of_lender = lender.meta();
        let start = Start {
            platform: of_lender.platform,
            manifest: Arguments::default(),
            policy: of_lender.policy,
            targets: Vec::new(),
            base_scope: BaseScope::default(),
        };
        let parent = Parent { session: lender.name().to_owned(), loan_id: loan.loan_id.clone() };
        let now = (self.0.shared.environment.now)();
        let uid = format!("{:032x}", (self.0.shared.environment.random)());
        let log =
            SessionLog::create_child(self.0.store(), child, &uid, parent, start, &State::origin(who, &now))
                .map_err(error::of_store)?;
        let session = Arc::new(SessionAuthority::new(log, Arc::clone(&self.0.shared), false));
        self.0.lock_sessions().insert(child.to_owned(), Arc::clone(&session));
        self.activate(lender, &session, loan, agent)
    }

    /// Makes the agent, if there is one, a member of the child, and activates the loan.
    fn activate(
        &self,
        lender: &SessionAuthority,
        child: &SessionAuthority,
        loan: &Loan,
        agent: Option<AgentId>,
    ) -> Result<()> {
        if let Some(agent) = agent {
            admit_member(child, agent)?;
        }
        let active = Loan { state: LoanState::Active, ..loan.clone() };
        record(lender, None, |_, _| vec![Kind::LoanOpened(Box::new(LoanOpened { loan: active }))])?;
        self.set_child(lender, child.name(), ChildState::Active)
    }
}
