//! How loans end: on request, with a session, by expiry, or after a crash.

use super::Loans;
use super::reclaim::EndedLoan;
use super::records::record;
use crate::coordinator::discard;
use crate::session::{Closing, SessionAuthority, drain, end_turn_of, is_gone};
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{ErrorCode, Result};
use stickpin_session::log::{CommandId, Kind, LoanOpened, Status};
use stickpin_session::turn::{AgentId, ChildState, Loan, LoanId, LoanState};

impl Loans<'_> {
    /// Updates the children of a reopened session: those that were closed or removed return their
    /// borrowed scope, and the others are unchanged. All stay visible.
    pub(crate) fn review_children(&self, parent: &SessionAuthority) -> Result<()> {
        for child in parent.meta().children {
            let after = match self.0.meta(&child.session) {
                Ok((meta, _)) if meta.status == Status::Closed => ChildState::Stopped,
                Ok(_) => continue,
                Err(e) if e.code == ErrorCode::SessionNotFound => ChildState::Pruned,
                Err(_) => continue,
            };
            if matches!(child.state, ChildState::Pruned | ChildState::Stopped) && child.state == after {
                continue;
            }
            let reason = if after == ChildState::Pruned { "child_missing" } else { "child_closed" };
            self.end_loan(parent, &child.loan_id, false, reason, None)?;
            self.set_child(parent, &child.session, after)?;
        }
        Ok(())
    }

    /// Completes or undoes what a crash interrupted: a spawn whose child has a log is completed;
    /// any other is undone together with its loan. A reclaim that had begun is completed.
    pub(crate) fn repair_spawns(&self, lender: &SessionAuthority) -> Result<()> {
        for loan in lender.meta().loans {
            match loan.state {
                LoanState::Active => {}
                LoanState::Pending => match self.begun_child(&loan) {
                    Some(child) => {
                        let row = lender.meta().children.into_iter().find(|row| row.loan_id == loan.loan_id);
                        self.activate(lender, &child, &loan, row.and_then(|row| row.agent_id))?;
                    }
                    None => self.undo_spawn(lender, &loan, "spawn_incomplete")?,
                },
                LoanState::Reclaiming | LoanState::Reclaimed => {
                    self.end_loan_alone(lender, &loan.loan_id, false, "reclaimed", None)?;
                }
            }
        }
        self.repair_rows(lender)
    }

    /// Returns the child of an incomplete spawn, if the child's log has begun.
    fn begun_child(&self, loan: &Loan) -> Option<Arc<SessionAuthority>> {
        if !self.is_child_of(loan) {
            return None;
        }
        // Metadata may lag behind the log, which is authoritative.
        self.0.session(&loan.borrower).ok().filter(|child| child.meta().active.is_some())
    }

    /// Returns whether the session that a loan names was created for this loan. After a crash,
    /// another session may have taken the name of a child that never began.
    fn is_child_of(&self, loan: &Loan) -> bool {
        let parent = self.0.meta(&loan.borrower).ok().and_then(|(meta, _)| meta.parent);
        parent.is_some_and(|parent| parent.session == loan.lender && parent.loan_id == loan.loan_id)
    }

    /// Ends the loan of a spawn that did not finish, and removes what exists of its child.
    pub(super) fn undo_spawn(&self, lender: &SessionAuthority, loan: &Loan, reason: &str) -> Result<()> {
        self.end_loan_alone(lender, &loan.loan_id, false, reason, None)?;
        self.set_child(lender, &loan.borrower, ChildState::Pruned)?;
        // A log that cannot be read is left for a person to repair.
        if self.is_child_of(loan) && self.0.session(&loan.borrower).is_ok() {
            discard(self.0, &loan.borrower)?;
        }
        Ok(())
    }

    /// Corrects the recorded states of children that were created or lost their loan shortly before
    /// a crash.
    fn repair_rows(&self, lender: &SessionAuthority) -> Result<()> {
        let meta = lender.meta();
        if !meta.status.is_current() {
            return Ok(());
        }
        for row in meta.children {
            let loan = meta.loans.iter().find(|loan| loan.loan_id == row.loan_id);
            let state = match (row.state, loan) {
                (ChildState::Pending, Some(_)) => ChildState::Active,
                (ChildState::Pending, None) => ChildState::Pruned,
                (ChildState::Active, None) => ChildState::Stopped,
                (ChildState::Active, Some(_)) | (ChildState::Stopped | ChildState::Pruned, _) => continue,
            };
            self.change_child(lender, &row.session, Some(row.state), state)?;
        }
        Ok(())
    }

    /// Ends the loan that a closed session had received; loans made from it pass to its lender.
    /// Then ends the loans that the session itself still lends, and closes their borrowers. Each
    /// loan ends after its borrower's last command. Returns the ended loans.
    pub(crate) async fn end_loans_of(&self, session: &SessionAuthority) -> Result<Vec<LoanId>> {
        let meta = session.meta();
        let mut loans = Vec::new();
        // Loans that a child has made pass to its lender first, so that the work continues.
        if meta.parent.is_some() {
            for loan in self.loans_where(|loan| loan.borrower == meta.name)? {
                let lender = self.0.session(&loan.lender)?;
                let ended = self.take_back(&lender, &loan, false, "child_closed").await?;
                loans.extend(ended.into_iter().map(|ended| ended.loan_id));
                self.set_child(&lender, &meta.name, ChildState::Stopped)?;
            }
        }
        for loan in session.meta().loans {
            for ended in self.take_back(session, &loan, true, "lender_closed").await? {
                // Boxed, because closing a session closes the sessions that borrow from it.
                Box::pin(self.0.close(&ended.borrower)).await?;
                loans.push(ended.loan_id);
            }
            self.set_child(session, &loan.borrower, ChildState::Stopped)?;
        }
        Ok(loans)
    }

    /// Ends the expired loans of a session. Returns the time until the next loan expires; `None` if
    /// no remaining loan expires.
    pub(crate) fn end_expired(&self, lender: &SessionAuthority) -> Result<Option<Duration>> {
        let now = (self.0.shared.environment.now)();
        let loans = lender.lock().log.meta().loans.clone();
        let mut next = None;
        for loan in loans {
            let Some(at) = &loan.expires_mono else { continue };
            if !now.has_passed(at) {
                let left = Duration::from_millis(at.mono_ms - now.mono_ms);
                next = Some(next.map_or(left, |known: Duration| known.min(left)));
                continue;
            }
            match loan.state {
                // A task is already waiting for the last command that uses the loan.
                LoanState::Reclaiming => {}
                _ if self.is_used(&loan)? => self.end_behind(lender, loan)?,
                _ => {
                    self.end_loan(lender, &loan.loan_id, true, "expired", None)?;
                    self.set_child(lender, &loan.borrower, ChildState::Stopped)?;
                }
            }
        }
        Ok(next)
    }

    /// Closes a child whose members have all disappeared, and ends its loans. Returns the time
    /// until the next check; `None` if no further check is needed.
    pub(crate) fn end_gone(&self, child: &SessionAuthority) -> Result<Option<Duration>> {
        let meta = child.meta();
        if meta.parent.is_none() || meta.status != Status::Open || meta.members.is_empty() {
            return Ok(None);
        }
        let grace = meta.policy.gone_grace_ms;
        let gone_from = |session: &SessionAuthority| -> Vec<bool> {
            let (state, now) = (session.lock(), session.now());
            meta.members.iter().map(|member| is_gone(&state, member, &now, grace)).collect()
        };
        let mut gone = gone_from(child);
        // The commands of the members, reads and waits included, run in the session that has the
        // device.
        let device = self.device_of(child.name());
        if let Some(device) = self.0.in_use().into_iter().find(|session| session.name() == device) {
            gone.iter_mut().zip(gone_from(&device)).for_each(|(gone, there)| *gone &= there);
        }
        if !gone.iter().all(|gone| *gone) {
            return Ok(Some(Duration::from_millis(grace / 4)));
        }
        tracing::info!(session = child.name(), "all members have been gone for {grace} ms");
        child.close(None, Closing::new(true))?;
        let (coordinator, child) = (self.0.clone(), self.0.session(child.name())?);
        // If the host ends in the meantime, its next start ends the loan.
        drop(tokio::spawn(async move {
            if let Err(e) = coordinator.loans().end_loans_of(&child).await {
                tracing::warn!(session = child.name(), "the loans of the session could not be ended: {e}");
            }
        }));
        Ok(None)
    }

    /// Returns whether a command is running on the device through a loan, or through a loan made
    /// from it.
    fn is_used(&self, loan: &Loan) -> Result<bool> {
        let device = self.0.session(&self.device_of(&loan.lender))?;
        let members = self.members_under(device.name(), loan, true);
        Ok(device.lock().running_of(&|agent: &AgentId| members.contains(agent)).is_some())
    }

    /// Stops the borrowers of an expired loan, and ends the loan after their last command.
    fn end_behind(&self, lender: &SessionAuthority, loan: Loan) -> Result<()> {
        stop_dispatch(lender, &loan)?;
        let (coordinator, lender) = (self.0.clone(), self.0.session(lender.name())?);
        // If the host ends in the meantime, its next start ends the loan.
        drop(tokio::spawn(async move {
            if let Err(e) = coordinator.loans().drain_and_end(&lender, &loan, true, "expired").await {
                tracing::warn!(session = lender.name(), "an expired loan could not be ended: {e}");
            }
        }));
        Ok(())
    }

    /// Stops the borrower, waits for its last command, and ends the loan. A loan that has ended in
    /// the meantime stays ended.
    pub(super) async fn take_back(
        &self,
        lender: &SessionAuthority,
        loan: &Loan,
        cascade: bool,
        reason: &str,
    ) -> Result<Vec<EndedLoan>> {
        if !lender.meta().loans.iter().any(|known| known.loan_id == loan.loan_id) {
            return Ok(Vec::new());
        }
        stop_dispatch(lender, loan)?;
        self.drain_and_end(lender, loan, cascade, reason).await
    }

    async fn drain_and_end(
        &self,
        lender: &SessionAuthority,
        loan: &Loan,
        cascade: bool,
        reason: &str,
    ) -> Result<Vec<EndedLoan>> {
        let device = self.0.session(&self.device_of(lender.name()))?;
        let members = self.members_under(device.name(), loan, cascade);
        let late = drain(&device, &|agent: &AgentId| members.contains(agent)).await;
        let ended = self.end_loan(lender, &loan.loan_id, cascade, reason, late)?;
        self.set_child(lender, &loan.borrower, ChildState::Stopped)?;
        Ok(ended)
    }

    /// Ends a loan and records what changed. Without `cascade`, loans made from it pass to the
    /// lender before the loan ends, so that a crash in between leaves nothing granted twice.
    pub(super) fn end_loan(
        &self,
        lender: &SessionAuthority,
        id: &LoanId,
        cascade: bool,
        reason: &str,
        late_command: Option<CommandId>,
    ) -> Result<Vec<EndedLoan>> {
        let _one = self.0.delegating.lock();
        self.end_loan_alone(lender, id, cascade, reason, late_command)
    }

    /// Does the work of [`Self::end_loan`] for a caller that already holds the lock.
    pub(super) fn end_loan_alone(
        &self,
        lender: &SessionAuthority,
        id: &LoanId,
        cascade: bool,
        reason: &str,
        late_command: Option<CommandId>,
    ) -> Result<Vec<EndedLoan>> {
        let mut ledger = self.family(&self.device_of(lender.name())).ledger;
        let reclaimed = ledger.reclaim(id, cascade);
        let moved: Vec<LoanId> = reclaimed.reparented.iter().map(|loan| loan.loan_id.clone()).collect();
        let borrower = reclaimed.ended.last().map(|loan| loan.borrower.clone());
        for loan in reclaimed.reparented {
            self.move_loan(lender, borrower.as_deref(), loan)?;
        }
        let mut ended = Vec::new();
        for loan in reclaimed.ended {
            let from = if loan.lender == lender.name() { None } else { Some(self.0.session(&loan.lender)?) };
            let from = from.as_deref().unwrap_or(lender);
            self.write_back(from, &loan, reason, late_command)?;
            self.end_turn_of(&loan)?;
            if loan.loan_id != *id {
                self.set_child(from, &loan.borrower, ChildState::Stopped)?;
            }
            ended.push(EndedLoan {
                reparented: if loan.loan_id == *id { moved.clone() } else { Vec::new() },
                loan_id: loan.loan_id,
                lender: loan.lender,
                borrower: loan.borrower,
                reason: reason.to_owned(),
                late_command: late_command.map(|command| command.to_string()),
            });
        }
        Ok(ended)
    }

    /// Takes the device's turn from a member of the borrower, who may no longer act. A loan that is
    /// bound to the turn gives the turn back to its last holder in the lending session.
    fn end_turn_of(&self, loan: &Loan) -> Result<()> {
        let borrowers = self.members(&loan.borrower);
        let device = self.0.session(&self.device_of(&loan.lender))?;
        let acts = self.acts_for(&loan.lender);
        let heirs: Option<&dyn Fn(&AgentId) -> bool> = if loan.turn_bound { Some(&acts) } else { None };
        end_turn_of(&device, &borrowers, heirs)
    }
}

/// Records that a loan is being reclaimed: from then on, no command begins through it.
fn stop_dispatch(lender: &SessionAuthority, loan: &Loan) -> Result<()> {
    let reclaiming = Loan { state: LoanState::Reclaiming, ..loan.clone() };
    record(lender, None, |_, _| vec![Kind::LoanOpened(Box::new(LoanOpened { loan: reclaiming }))])
}
