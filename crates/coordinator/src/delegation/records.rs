//! The records of a loan in the logs of its lender and its borrower.

use super::Loans;
use crate::participant::Participant;
use crate::session::{SessionAuthority, State};
use stickpin_device::Result;
use stickpin_session::log::{
    ChildSpawned, ChildStateChanged, CommandId, Evidence, Kind, LoanOpened, LoanReclaimed,
};
use stickpin_session::turn::{Child, ChildState, Loan, Now, ReclaimedLoan};

/// Appends records, which may refer to the `seq` of the first one.
pub(super) fn record(
    session: &SessionAuthority,
    who: Option<&Participant>,
    kinds: impl FnOnce(u64, &Now) -> Vec<Kind>,
) -> Result<()> {
    session.change(|state, now| {
        let origin = State::origin_of(who, now);
        let seq = state.next_seq(&origin)?;
        kinds(seq, now).into_iter().try_for_each(|kind| state.append(&origin, kind).map(drop))
    })
}

impl Loans<'_> {
    pub(super) fn write_back(
        &self,
        lender: &SessionAuthority,
        loan: &Loan,
        reason: &str,
        late_command: Option<CommandId>,
    ) -> Result<()> {
        record(lender, None, |seq, now| {
            let back = ReclaimedLoan {
                loan_id: loan.loan_id.clone(),
                child: loan.borrower.clone(),
                rules: loan.rules.clone(),
                reason: reason.to_owned(),
                at_seq: seq,
                at: now.wall,
            };
            vec![Kind::LoanReclaimed(Box::new(LoanReclaimed { loan: back, late_command }))]
        })
    }

    /// Passes a loan on to `lender`, because the borrower `from`, which had made the loan, returns
    /// its scope.
    pub(super) fn move_loan(&self, lender: &SessionAuthority, from: Option<&str>, loan: Loan) -> Result<()> {
        let now = (self.0.shared.environment.now)();
        let row = Child {
            session: loan.borrower.clone(),
            agent_id: None,
            loan_id: loan.loan_id.clone(),
            spawned_at: now.wall,
            state: ChildState::Active,
            last_output_seq: 0,
        };
        let opened = LoanOpened { loan: loan.clone() };
        record(lender, None, |_, _| {
            vec![
                Kind::LoanOpened(Box::new(opened)),
                Kind::ChildSpawned(Box::new(ChildSpawned { child: row })),
            ]
        })?;
        match from.map(|from| self.0.session(from)) {
            Some(Ok(from)) => self.write_back(&from, &loan, "reparented", None),
            // The session is gone with its metadata, and so is its side of the loan.
            Some(Err(_)) | None => Ok(()),
        }
    }

    /// Records the state of a child, with the evidence of its activity.
    pub(super) fn set_child(&self, parent: &SessionAuthority, child: &str, state: ChildState) -> Result<()> {
        self.change_child(parent, child, None, state)
    }

    /// Records the state of a child. If `from` is given, does so only while the recorded state is
    /// `from`: another thread may have recorded a newer one in the meantime.
    pub(super) fn change_child(
        &self,
        parent: &SessionAuthority,
        child: &str,
        from: Option<ChildState>,
        state: ChildState,
    ) -> Result<()> {
        let known = self.0.meta(child).ok().map(|(meta, _)| meta);
        parent.change(|lender, now| {
            let rows = &lender.log.meta().children;
            let Some(mut row) = rows.iter().find(|row| row.session == child).cloned() else {
                return Ok(());
            };
            if row.state == state || from.is_some_and(|from| from != row.state) {
                return Ok(());
            }
            row.state = state;
            let mut evidence = Evidence::default();
            if let Some(meta) = &known {
                evidence.segment = meta.active.map(|active| active.segment);
                evidence.last_seq = Some(meta.applied_seq);
                evidence.last_command.clone_from(&meta.last_command);
                evidence.last_snapshot_generation = meta.last_snapshot_generation;
                row.last_output_seq = meta.applied_seq;
            }
            let changed = ChildStateChanged { child: row, evidence };
            lender.append(&State::origin_of(None, now), Kind::ChildStateChanged(Box::new(changed))).map(drop)
        })
    }
}
