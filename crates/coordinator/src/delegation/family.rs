//! The sessions that share one device, and the scope of each, according to their metadata.

use super::Loans;
use crate::participant::Participant;
use crate::session::SessionAuthority;
use std::collections::BTreeSet;
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_session::log::SessionMeta;
use stickpin_session::turn::scope::{Facts, Holding, Ledger};
use stickpin_session::turn::{AgentId, ChildState, Loan, Verb};

/// A session with a device, and all sessions that share the device.
pub(super) struct Family {
    pub(super) ledger: Ledger,
    /// The metadata of each session, starting with the one that has the device.
    pub(super) metas: Vec<SessionMeta>,
}

impl Loans<'_> {
    /// Returns the session whose device `name` drives: `name` itself, or its most distant lender.
    pub(crate) fn device_of(&self, name: &str) -> String {
        let (mut at, mut seen) = (name.to_owned(), BTreeSet::new());
        while seen.insert(at.clone())
            && let Ok((meta, _)) = self.0.meta(&at)
            && let Some(parent) = meta.parent
        {
            at = parent.session;
        }
        at
    }

    /// Returns a session and all sessions that borrow scope from it, directly or through others,
    /// with the scope of each.
    pub(super) fn family(&self, root: &str) -> Family {
        let mut family = Family { ledger: Ledger::default(), metas: Vec::new() };
        let (mut left, mut seen) = (vec![root.to_owned()], BTreeSet::new());
        while let Some(name) = left.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            let Ok((meta, _)) = self.0.meta(&name) else {
                family.ledger.set_session(name, Holding::default());
                continue;
            };
            let targets = meta.targets.iter().map(|target| target.target_id.clone()).collect();
            family.ledger.set_session(name, Holding { targets, scope: meta.base_scope.clone() });
            for loan in &meta.loans {
                family.ledger.restore_loan(loan.clone());
                left.push(loan.borrower.clone());
            }
            let there = meta.children.iter().filter(|child| child.state != ChildState::Pruned);
            left.extend(there.map(|child| child.session.clone()));
            family.metas.push(meta);
        }
        family
    }

    /// Returns what a session may do by itself to the device that it drives, excluding what it has
    /// lent.
    pub(super) fn effective(&self, session: &str) -> Vec<Verb> {
        let family = self.family(&self.device_of(session));
        let Some(target) = family.metas.first().and_then(|meta| meta.targets.first()) else {
            return Vec::new();
        };
        let may =
            |verb: &Verb| family.ledger.permit(session, *verb, &target.target_id, &Facts::default()).is_ok();
        Verb::ALL.into_iter().filter(may).collect()
    }

    /// Returns the outstanding loans that satisfy a condition, according to the metadata of all
    /// sessions.
    pub(super) fn loans_where(&self, holds: impl Fn(&Loan) -> bool) -> Result<Vec<Loan>> {
        let metas = self.0.names()?.into_iter().filter_map(|name| self.0.cached_meta(&name).ok());
        Ok(metas.flat_map(|(meta, _)| meta.loans.clone()).filter(holds).collect())
    }

    /// Returns a predicate for the agents that act for a session on its device: its members, or,
    /// for the session that has the device, all agents that are members of no child.
    pub(super) fn acts_for(&self, session: &str) -> impl Fn(&AgentId) -> bool + Send + Sync + use<> {
        let device = self.device_of(session);
        let has_device = device == session;
        let agents: BTreeSet<AgentId> = if has_device {
            let children = self.family(&device).metas.into_iter().skip(1);
            children.flat_map(|meta| meta.members).map(|member| member.agent_id).collect()
        } else {
            self.members(session)
        };
        move |agent| agents.contains(agent) != has_device
    }

    /// Returns the members of a loan's borrower; with `cascade`, also those of the borrowers of all
    /// loans that were made from that loan, directly or through others.
    pub(super) fn members_under(&self, device: &str, loan: &Loan, cascade: bool) -> BTreeSet<AgentId> {
        let mut members = self.members(&loan.borrower);
        if cascade {
            let ledger = self.family(device).ledger;
            let (mut left, mut seen) = (vec![loan.loan_id.clone()], BTreeSet::new());
            while let Some(id) = left.pop() {
                if !seen.insert(id.clone()) {
                    continue;
                }
                for part in ledger.loans().filter(|part| part.parent_loan.as_ref() == Some(&id)) {
                    members.extend(self.members(&part.borrower));
                    left.push(part.loan_id.clone());
                }
            }
        }
        members
    }

    /// Returns the sessions that borrow scope, according to the metadata of all sessions.
    pub(crate) fn borrowers(&self) -> Result<BTreeSet<String>> {
        Ok(self.loans_where(|_| true)?.into_iter().map(|loan| loan.borrower).collect())
    }

    pub(super) fn members(&self, session: &str) -> BTreeSet<AgentId> {
        let members = self.0.meta(session).map(|(meta, _)| meta.members).unwrap_or_default();
        members.into_iter().map(|member| member.agent_id).collect()
    }

    /// Returns whether an agent is a member of the parent or of a child of a session, pruned
    /// children excepted.
    pub(crate) fn is_in_family(&self, session: &SessionAuthority, who: &Participant) -> bool {
        let meta = session.meta();
        let children = meta.children.iter().filter(|child| child.state != ChildState::Pruned);
        let mut relatives =
            meta.parent.iter().map(|parent| &parent.session).chain(children.map(|c| &c.session));
        relatives.any(|name| self.members(name).contains(&who.agent))
    }

    /// Refuses an agent that is neither a person nor a member of one of the sessions.
    pub(super) fn require_family(&self, who: &Participant, sessions: &[&str]) -> Result<()> {
        if who.is_person() || sessions.iter().any(|name| self.members(name).contains(&who.agent)) {
            return Ok(());
        }
        let names = sessions.join("` or `");
        Err(Error::new(
            ErrorCode::UnknownMember,
            format!("{} is not a member of session `{names}`", who.agent),
        )
        .hint(format!("run `stickpin --session {} turn join` first", sessions[0])))
    }
}
