//! Scope: what a session may do to which target, what it has lent to other sessions, and what it
//! gets back when a loan ends.
//!
//! `observe` is shared between lender and borrower. `act` and `admin` are exclusive: at any time,
//! at most one session has them for a target within given limits.

use super::{BaseScope, Constraint, Loan, LoanId, LoanState, ScopeRule, TargetId, TargetSelector, Verb};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What is known about the location of an action. A limit on an unknown property denies the action.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// The origin of the page.
    pub origin: Option<String>,
    /// The package of the app.
    pub package: Option<String>,
    /// The role of the window.
    pub window_role: Option<String>,
    /// The canonical path of the file that the action reads or writes, if any.
    pub file: Option<String>,
}

/// Why a session may not act or lend.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// The action is outside the session's scope.
    #[error("session `{session}` may not {} {target}{cause}", verb.word())]
    Denied {
        /// The session that may not act.
        session: String,
        /// The refused verb.
        verb: Verb,
        /// The target of the refused action.
        target: TargetId,
        /// The cause of the denial.
        cause: Box<Denial>,
    },
    /// Neither the lender's own scope nor a single loan to the lender covers all rules, or the
    /// lender denies part of a rule.
    #[error(
        "session `{lender}` cannot lend rule {rule} of the loan: the session's own scope or a single loan to the session must cover all rules"
    )]
    LoanNotSubset {
        /// The session that would lend.
        lender: String,
        /// The position of the rule in the loan, from 1.
        rule: usize,
    },
    /// The lender has already lent part of the scope.
    #[error("session `{holder}` has already borrowed part of the scope in rule {rule} of the loan")]
    LoanConflict {
        /// The current borrower.
        holder: String,
        /// The position of the rule in the loan, from 1.
        rule: usize,
    },
    /// No session has this name.
    #[error("there is no session `{0}`")]
    NoSuchSession(String),
    /// A session cannot lend to itself or to a session that it borrows from.
    #[error(
        "session `{lender}` cannot lend to session `{borrower}`: a session cannot lend to itself or to one that it borrows from"
    )]
    LoanCycle {
        /// The session that would lend.
        lender: String,
        /// The session that would borrow.
        borrower: String,
    },
}

/// The reason why an action is outside a session's scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denial {
    /// No rule of the session or of a loan to it allows the action.
    NotAllowed,
    /// A rule of a session denies the action.
    Denied {
        /// The session itself, or one that it borrows from.
        by: String,
        /// The rule that denies the action.
        rule: ScopeRule,
    },
    /// The session has lent the scope.
    Lent {
        /// The session that has borrowed the scope.
        to: String,
        /// The rule of the loan.
        rule: ScopeRule,
    },
}

/// Continues a sentence about the refused action.
impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAllowed => f.write_str(": no rule of the session or of a loan to it allows this"),
            Self::Denied { by, rule } => write!(f, ": session `{by}` denies `{rule}`"),
            Self::Lent { to, rule } => write!(f, ": session `{to}` has borrowed `{rule}`"),
        }
    }
}

impl Verb {
    fn is_exclusive(self) -> bool {
        matches!(self, Self::Act | Self::Admin)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Act => "act on",
            Self::Admin => "administer",
        }
    }
}

/// Returns whether `path` is `root` or is below it. Both paths must be canonical.
fn is_within(path: &str, root: &str) -> bool {
    path.strip_prefix(root)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || root.ends_with('/'))
}

impl Constraint {
    fn names(&self) -> [&Option<BTreeSet<String>>; 3] {
        [&self.origins, &self.packages, &self.window_roles]
    }

    /// Returns whether the limits hold for `facts`. A limit holds for an unknown property if
    /// `if_unknown` is set.
    fn admits(&self, facts: &Facts, if_unknown: bool) -> bool {
        let known = [&facts.origin, &facts.package, &facts.window_role];
        let names = self.names().into_iter().zip(known).all(|(allowed, fact)| match (allowed, fact) {
            (None, _) => true,
            (Some(allowed), Some(fact)) => allowed.contains(fact),
            (Some(_), None) => if_unknown,
        });
        // Folder limits do not apply to an action that touches no file.
        let roots = self.file_roots.as_ref().zip(facts.file.as_deref());
        names && roots.is_none_or(|(roots, file)| roots.iter().any(|root| is_within(file, root)))
    }

    /// Returns whether everything that `other` admits is admitted by these limits.
    fn covers(&self, other: &Self) -> bool {
        let names = self.names().into_iter().zip(other.names()).all(|pair| match pair {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(mine), Some(theirs)) => theirs.is_subset(mine),
        });
        names
            && match (&self.file_roots, &other.file_roots) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(mine), Some(theirs)) => {
                    theirs.iter().all(|path| mine.iter().any(|root| is_within(path, root)))
                }
            }
    }

    /// Returns whether both sets of limits could admit the same action.
    fn overlaps(&self, other: &Self) -> bool {
        let names = self.names().into_iter().zip(other.names()).all(|(mine, theirs)| {
            mine.as_ref().zip(theirs.as_ref()).is_none_or(|(mine, theirs)| !mine.is_disjoint(theirs))
        });
        // Folder limits do not separate rules: both admit an action without a file.
        names
    }
}

/// A function that returns one of the limits of a rule.
type Limit = fn(&mut Constraint) -> &mut Option<BTreeSet<String>>;

fn limits(rule: &ScopeRule) -> Constraint {
    rule.constraint.clone().unwrap_or_default()
}

impl ScopeRule {
    fn selects(&self, target: &TargetId) -> bool {
        match &self.target {
            TargetSelector::Any => true,
            TargetSelector::Target(only) => only == target,
        }
    }

    /// Returns whether the rule is known to cover an action.
    fn allows(&self, verb: Verb, target: &TargetId, facts: &Facts) -> bool {
        self.verbs.contains(&verb) && self.selects(target) && limits(self).admits(facts, false)
    }

    /// Returns whether the rule could cover an action whose unknown properties may have any value.
    fn may_concern(&self, verb: Verb, target: &TargetId, facts: &Facts) -> bool {
        self.verbs.contains(&verb) && self.selects(target) && limits(self).admits(facts, true)
    }

    fn covers(&self, other: &Self) -> bool {
        let target = match (&self.target, &other.target) {
            (TargetSelector::Any, _) => true,
            (TargetSelector::Target(_), TargetSelector::Any) => false,
            (TargetSelector::Target(mine), TargetSelector::Target(theirs)) => mine == theirs,
        };
        target && other.verbs.is_subset(&self.verbs) && limits(self).covers(&limits(other))
    }

    /// Returns whether these rules together permit everything that this rule permits. The
    /// permitting rule may differ for each verb and each value of a limit. A property that this
    /// rule does not limit has infinitely many values, so only a rule without a limit on that
    /// property can cover them.
    fn is_covered_by(&self, rules: &[Self]) -> bool {
        if rules.iter().any(|rule| rule.covers(self)) {
            return true;
        }
        if self.verbs.len() > 1 {
            let one = |verb: &Verb| Self { verbs: [*verb].into(), ..self.clone() };
            return self.verbs.iter().all(|verb| one(verb).is_covered_by(rules));
        }
        let mut limits = limits(self);
        let limited: [Limit; 4] =
            [|c| &mut c.origins, |c| &mut c.packages, |c| &mut c.window_roles, |c| &mut c.file_roots];
        for limit in limited {
            let Some(names) = limit(&mut limits).take_if(|names| names.len() > 1) else { continue };
            return names.into_iter().all(|name| {
                *limit(&mut limits) = Some([name].into());
                Self { constraint: Some(limits.clone()), ..self.clone() }.is_covered_by(rules)
            });
        }
        false
    }

    fn overlaps(&self, other: &Self) -> bool {
        let target = match (&self.target, &other.target) {
            (TargetSelector::Target(mine), TargetSelector::Target(theirs)) => mine == theirs,
            _ => true,
        };
        target && !self.verbs.is_disjoint(&other.verbs) && limits(self).overlaps(&limits(other))
    }

    fn exclusive_part(&self) -> Option<Self> {
        let verbs: BTreeSet<Verb> = self.verbs.iter().copied().filter(|v| v.is_exclusive()).collect();
        (!verbs.is_empty()).then(|| Self { verbs, ..self.clone() })
    }
}

/// The targets of one session and its own scope, without loans.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Holding {
    /// The targets of the session.
    pub targets: BTreeSet<TargetId>,
    /// The rules for what the session may do to its targets.
    pub scope: BaseScope,
}

/// The scopes of all sessions of a state directory and the loans between them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger {
    sessions: BTreeMap<String, Holding>,
    loans: BTreeMap<LoanId, Loan>,
}

/// The loans that a reclaim changed, in the order in which the changes are logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reclaimed {
    /// The loans that ended, starting with those of the most distant borrowers.
    pub ended: Vec<Loan>,
    /// The loans that were taken over by the lender of an ended loan, in their current state.
    pub reparented: Vec<Loan>,
}

impl Ledger {
    /// Adds a session, or replaces its targets and its own scope.
    pub fn set_session(&mut self, name: impl Into<String>, holding: Holding) {
        self.sessions.insert(name.into(), holding);
    }

    /// Adds a loan as it was stored.
    pub fn restore_loan(&mut self, loan: Loan) {
        self.loans.insert(loan.loan_id.clone(), loan);
    }

    /// Returns the outstanding loans by id.
    pub fn loans(&self) -> impl Iterator<Item = &Loan> {
        self.loans.values()
    }

    fn lent_by<'a>(&'a self, lender: &'a str) -> impl Iterator<Item = &'a Loan> {
        self.loans.values().filter(move |loan| loan.lender == lender)
    }

    /// Checks that `session` may apply `verb` to `target` at a location with these facts.
    ///
    /// # Errors
    /// Returns [`ScopeError::Denied`] with the cause of the denial.
    pub fn permit(
        &self,
        session: &str,
        verb: Verb,
        target: &TargetId,
        facts: &Facts,
    ) -> Result<(), ScopeError> {
        let denied = |cause| {
            Err(ScopeError::Denied {
                session: session.to_owned(),
                verb,
                target: target.clone(),
                cause: Box::new(cause),
            })
        };
        if !self.has(session, verb, target, facts) {
            return denied(self.denial(session, verb, target, facts));
        }
        if verb.is_exclusive() {
            let lent = self.lent_by(session).find_map(|loan| {
                let rule = loan.rules.iter().find(|rule| rule.may_concern(verb, target, facts))?;
                Some(Denial::Lent { to: loan.borrower.clone(), rule: rule.clone() })
            });
            if let Some(cause) = lent {
                return denied(cause);
            }
        }
        Ok(())
    }

    /// Returns why a session does not have the scope: because the session or a lender denies the
    /// action, or else because nothing allows the action.
    fn denial(&self, session: &str, verb: Verb, target: &TargetId, facts: &Facts) -> Denial {
        let own = self.sessions.get(session).map_or(&[][..], |own| own.scope.deny.as_slice());
        if let Some(rule) = own.iter().find(|rule| rule.may_concern(verb, target, facts)) {
            return Denial::Denied { by: session.to_owned(), rule: rule.clone() };
        }
        let lenders = self.loans.values().filter(|loan| {
            loan.borrower == session
                && loan.state == LoanState::Active
                && loan.rules.iter().any(|rule| rule.allows(verb, target, facts))
        });
        lenders
            .map(|loan| self.denial(&loan.lender, verb, target, facts))
            .find(|denial| *denial != Denial::NotAllowed)
            .unwrap_or(Denial::NotAllowed)
    }

    /// Returns whether the session has the scope, as its own or borrowed, ignoring what it has
    /// lent. The lender must have a borrowed scope as well, so the denials of all lenders apply.
    fn has(&self, session: &str, verb: Verb, target: &TargetId, facts: &Facts) -> bool {
        let Some(own) = self.sessions.get(session) else { return false };
        if own.scope.deny.iter().any(|rule| rule.may_concern(verb, target, facts)) {
            return false;
        }
        let allows = |rules: &[ScopeRule]| rules.iter().any(|rule| rule.allows(verb, target, facts));
        let borrowed = |loan: &Loan| {
            loan.borrower == session
                && loan.state == LoanState::Active
                && allows(&loan.rules)
                && self.has(&loan.lender, verb, target, facts)
        };
        (own.targets.contains(target) && allows(&own.scope.allow)) || self.loans.values().any(borrowed)
    }

    /// Opens a loan in the state `Pending`. The borrower has the scope only after
    /// [`Self::restore_loan`] has made the loan active. All rules must be within the lender's own
    /// scope, or all within a single loan to the lender. Sets `parent_loan`.
    ///
    /// # Errors
    /// Returns [`ScopeError::LoanNotSubset`], [`ScopeError::LoanConflict`],
    /// [`ScopeError::LoanCycle`] or [`ScopeError::NoSuchSession`]; nothing is changed in that case.
    pub fn lend(&mut self, mut loan: Loan) -> Result<&Loan, ScopeError> {
        let lender = &loan.lender;
        let own = self.sessions.get(lender).ok_or_else(|| ScopeError::NoSuchSession(lender.clone()))?;
        if self.borrows_from(lender, &loan.borrower) {
            return Err(ScopeError::LoanCycle { lender: lender.clone(), borrower: loan.borrower.clone() });
        }
        for (at, rule) in loan.rules.iter().enumerate() {
            let rule_number = at + 1;
            if own.scope.deny.iter().any(|deny| deny.overlaps(rule)) {
                return Err(ScopeError::LoanNotSubset { lender: lender.clone(), rule: rule_number });
            }
            let Some(exclusive) = rule.exclusive_part() else { continue };
            let taken = |other: &&Loan| other.rules.iter().any(|r| r.overlaps(&exclusive));
            if let Some(other) = self.lent_by(lender).find(taken) {
                return Err(ScopeError::LoanConflict { holder: other.borrower.clone(), rule: rule_number });
            }
        }
        let uncovered = |rules: &[ScopeRule], targets: Option<&BTreeSet<TargetId>>| {
            let has = |rule: &ScopeRule| match (&rule.target, targets) {
                (TargetSelector::Target(target), Some(targets)) => targets.contains(target),
                _ => true,
            };
            loan.rules.iter().position(|rule| !has(rule) || !rule.is_covered_by(rules))
        };
        match uncovered(&own.scope.allow, Some(&own.targets)) {
            None => loan.parent_loan = None,
            Some(first) => {
                let mut borrowed = self.loans.values().filter(|l| l.borrower == *lender);
                let source =
                    borrowed.find(|l| l.state == LoanState::Active && uncovered(&l.rules, None).is_none());
                let source = source
                    .ok_or_else(|| ScopeError::LoanNotSubset { lender: lender.clone(), rule: first + 1 })?;
                loan.parent_loan = Some(source.loan_id.clone());
            }
        }
        loan.state = LoanState::Pending;
        let id = loan.loan_id.clone();
        Ok(self.loans.entry(id).insert_entry(loan).into_mut())
    }

    /// Returns whether `session` is `other` or borrows from it, directly or through others.
    fn borrows_from(&self, session: &str, other: &str) -> bool {
        session == other
            || self.loans.values().any(|l| l.borrower == session && self.borrows_from(&l.lender, other))
    }

    /// Ends a loan and returns the scope to its lender. Loans that the borrower made from this loan
    /// pass to the lender, so that the work of their borrowers continues; with `cascade`, they end
    /// too. Ending a loan that has ended changes nothing.
    pub fn reclaim(&mut self, id: &LoanId, cascade: bool) -> Reclaimed {
        let mut reclaimed = Reclaimed { ended: Vec::new(), reparented: Vec::new() };
        self.end(id, cascade, &mut reclaimed);
        reclaimed
    }

    fn end(&mut self, id: &LoanId, cascade: bool, reclaimed: &mut Reclaimed) {
        let parts: Vec<LoanId> = self
            .loans
            .values()
            .filter(|loan| loan.parent_loan.as_ref() == Some(id))
            .map(|loan| loan.loan_id.clone())
            .collect();
        if cascade {
            for part in &parts {
                self.end(part, cascade, reclaimed);
            }
        }
        let Some(mut ended) = self.loans.remove(id) else { return };
        for part in parts {
            if let Some(loan) = self.loans.get_mut(&part) {
                loan.lender.clone_from(&ended.lender);
                loan.parent_loan.clone_from(&ended.parent_loan);
                reclaimed.reparented.push(loan.clone());
            }
        }
        ended.state = LoanState::Reclaimed;
        reclaimed.ended.push(ended);
    }
}
