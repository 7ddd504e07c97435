//! Requests that end loans: `session stop`, `session reclaim`, `session prune`.

use super::Loans;
use crate::participant::Participant;
use serde::{Deserialize, Serialize};
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_session::log::{SessionMeta, Status};
use stickpin_session::turn::{ChildState, LoanId, Verb};

/// The loans that a request ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReturnedLoans {
    /// The loans, starting with those of the most distant borrowers.
    pub loans: Vec<EndedLoan>,
    /// What the lender may now do by itself.
    pub effective_parent: Vec<Verb>,
}

/// A loan that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndedLoan {
    /// The id of the loan.
    pub loan_id: LoanId,
    /// The session that got the scope back.
    pub lender: String,
    /// The session that had borrowed the scope.
    pub borrower: String,
    /// The reason why the loan ended.
    pub reason: String,
    /// The loans that the borrower had made from this loan, and that the lender took over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reparented: Vec<LoanId>,
    /// The command that was still running for the borrower, or for another session whose loan ended
    /// with this one, when the end was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_command: Option<String>,
}

impl Loans<'_> {
    /// Ends a child: returns the borrowed scope to its lender and closes the session. The parent
    /// still lists the child.
    ///
    /// # Errors
    /// Returns `SESSION_NOT_FOUND` for a session that is not a child, `UNKNOWN_MEMBER` for an agent
    /// that is a member of neither session, `IDENTITY_AMBIGUOUS`, and errors from the log.
    pub async fn stop_child(&self, child: &str, who: &Participant) -> Result<ReturnedLoans> {
        who.require_unambiguous()?;
        let loans = self.loans_where(|loan| loan.borrower == child)?;
        if loans.is_empty() && self.0.meta(child)?.0.parent.is_none() {
            return Err(Error::session_not_found(format!(
                "session `{child}` is not a child of another session"
            ))
            .hint(format!("run `stickpin --session {child} close` to close the session and its app")));
        }
        let parent = self.0.meta(child).ok().and_then(|(meta, _)| meta.parent);
        let lenders = loans.iter().map(|loan| loan.lender.as_str());
        let mut family: Vec<&str> = lenders.chain(parent.iter().map(|p| p.session.as_str())).collect();
        family.push(child);
        self.require_family(who, &family)?;
        let parent = loans.last().map(|loan| loan.lender.clone()).or(parent.map(|parent| parent.session));
        let mut ended = Vec::new();
        for loan in &loans {
            let lender = self.0.session(&loan.lender)?;
            ended.extend(self.take_back(&lender, loan, false, "stopped").await?);
        }
        self.0.close(child).await?;
        let effective_parent = parent.map(|parent| self.effective(&parent)).unwrap_or_default();
        Ok(ReturnedLoans { loans: ended, effective_parent })
    }

    /// Reclaims a loan. With `cascade`, loans that were made from it end too.
    ///
    /// # Errors
    /// Returns `LOAN_NOT_FOUND`, `UNKNOWN_MEMBER`, `IDENTITY_AMBIGUOUS`, and errors from the log.
    /// Reclaiming a loan that has already ended is not an error.
    pub async fn reclaim(&self, id: &str, cascade: bool, who: &Participant) -> Result<ReturnedLoans> {
        who.require_unambiguous()?;
        let Some(loan) = self.loans_where(|loan| loan.loan_id.as_str() == id)?.into_iter().next() else {
            let was = |meta: &SessionMeta| meta.reclaimed.iter().any(|loan| loan.loan_id.as_str() == id);
            let lender = self.0.names()?.into_iter().find(|name| {
                let meta = self.0.cached_meta(name);
                meta.is_ok_and(|(meta, _)| was(&meta))
            });
            if let Some(lender) = lender {
                return Ok(ReturnedLoans { loans: Vec::new(), effective_parent: self.effective(&lender) });
            }
            return Err(Error::new(
                ErrorCode::LoanNotFound,
                format!("there is no loan {}", stickpin_tree::quote(id)),
            )
            .hint("run `stickpin --session NAME turn state --json` to list the loans of a session"));
        };
        self.require_family(who, &[&loan.lender])?;
        let lender = self.0.session(&loan.lender)?;
        let loans = self.take_back(&lender, &loan, cascade, "reclaimed").await?;
        Ok(ReturnedLoans { loans, effective_parent: self.effective(&loan.lender) })
    }

    /// Cleans up children of `parent` that are closed, missing or unreadable: reclaims their loans
    /// and marks the children as pruned. Returns the names of the children, and the ended loans.
    ///
    /// # Errors
    /// Returns `UNKNOWN_MEMBER` for an agent that is not a member of `parent`,
    /// `IDENTITY_AMBIGUOUS`, and errors from the log.
    pub async fn prune(&self, parent: &str, who: &Participant) -> Result<(Vec<String>, ReturnedLoans)> {
        who.require_unambiguous()?;
        let lender = self.0.session(parent)?;
        self.require_family(who, &[parent])?;
        let (mut pruned, mut ended) = (Vec::new(), Vec::new());
        for child in lender.meta().children {
            let over = self.0.meta(&child.session).map_or(true, |(meta, _)| meta.status == Status::Closed);
            if !over || child.state == ChildState::Pruned {
                continue;
            }
            let loan = lender.meta().loans.into_iter().find(|loan| loan.loan_id == child.loan_id);
            if let Some(loan) = loan {
                ended.extend(self.take_back(&lender, &loan, false, "pruned").await?);
            }
            self.set_child(&lender, &child.session, ChildState::Pruned)?;
            pruned.push(child.session);
        }
        Ok((pruned, ReturnedLoans { loans: ended, effective_parent: self.effective(parent) }))
    }
}
