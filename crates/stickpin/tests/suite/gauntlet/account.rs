//! The results of all situations, and the table at the end of a run.

use super::data::{Kind, Situation};
use super::site::Hit;
use super::verdict::Verdict;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use stickpin_kernel::Response;

/// One use of a ref.
#[derive(Debug, Clone)]
pub struct UseOutcome {
    pub id: String,
    pub situation: String,
    pub group: &'static str,
    pub kind: Kind,
    pub hard: bool,
    pub verdict: Verdict,
    /// Whether `CONTEXT_CHANGED` came first.
    pub noticed: bool,
    /// Whether a snapshot between the change and the use listed the ref again.
    pub relisted: bool,
    /// The input that the page received, and the answer.
    pub detail: String,
}

impl UseOutcome {
    pub fn new(
        situation: &Situation,
        verdict: Verdict,
        noticed: bool,
        hits: &[Hit],
        response: &Response,
    ) -> Self {
        Self {
            id: situation.id.clone(),
            situation: situation.id.clone(),
            group: situation.group,
            kind: situation.kind,
            hard: situation.hard,
            verdict,
            noticed,
            relisted: false,
            detail: detail(situation, hits, response),
        }
    }
}

fn detail(situation: &Situation, hits: &[Hit], response: &Response) -> String {
    let hits: Vec<String> = hits.iter().map(Hit::to_string).collect();
    let answer = match &response.error {
        Some(e) => format!("{}: {}", e.code.name(), e.message),
        None => response.text.clone().unwrap_or_default(),
    };
    let warning = response.warning.as_deref().unwrap_or("");
    let [answer, warning] = [&answer, warning].map(|t| t.split_whitespace().collect::<Vec<_>>().join(" "));
    format!("wanted {:?}, hit {hits:?}: {answer} {warning}", situation.want)
}

/// A whole run.
#[derive(Debug, Default)]
pub struct Account {
    pub uses: Vec<UseOutcome>,
    /// Situations that could not be completed, which is no evidence about the product.
    pub broken: Vec<String>,
}

impl Account {
    pub fn add(&mut self, played: Result<UseOutcome, String>, id: &str) {
        match played {
            Ok(outcome) => self.uses.push(outcome),
            Err(e) => self.broken.push(format!("{id}: {e}")),
        }
    }

    pub fn merge(&mut self, other: Self) {
        self.uses.extend(other.uses);
        self.broken.extend(other.broken);
    }

    /// Returns the share of wrong actions in all uses.
    pub fn wrong_uses(&self) -> f64 {
        share(self.uses.iter().filter(|u| u.verdict.is_wrong()).count(), self.uses.len())
    }

    /// Returns the share of situations with a wrong action, among those in which readable content
    /// distinguishes the records.
    pub fn wrong_situations(&self) -> f64 {
        let readable: BTreeSet<&str> =
            self.uses.iter().filter(|u| !u.hard).map(|u| u.situation.as_str()).collect();
        let wrong = self.uses.iter().filter(|u| !u.hard && u.verdict.is_wrong());
        let wrong: BTreeSet<&str> = wrong.map(|u| u.situation.as_str()).collect();
        share(wrong.len(), readable.len())
    }

    fn must_act(&self) -> impl Iterator<Item = &UseOutcome> {
        self.uses.iter().filter(|u| u.kind == Kind::Act)
    }

    /// Returns the share of uses that acted, at the first or the repeated call, among those that
    /// must act.
    pub fn acted(&self) -> f64 {
        let acted = self.must_act().filter(|u| u.verdict == Verdict::Correct);
        share(acted.count(), self.must_act().count())
    }

    fn row(&self, f: &mut fmt::Formatter<'_>, name: &str, uses: &[&UseOutcome]) -> fmt::Result {
        write!(f, "{name:<12}{:>5}", uses.len())?;
        for verdict in Verdict::ALL {
            let count = uses.iter().filter(|u| u.verdict == verdict).count();
            write!(f, "{count:>w$}", w = verdict.name().len() + 2)?;
        }
        let notices = uses.iter().filter(|u| u.noticed);
        writeln!(f, "{:>9}", notices.count())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred uses")]
fn share(count: usize, of: usize) -> f64 {
    count as f64 / of.max(1) as f64
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<12}{:>5}", "group", "uses")?;
        Verdict::ALL.iter().try_for_each(|v| write!(f, "  {}", v.name()))?;
        writeln!(f, "  notices")?;
        let mut groups: BTreeMap<&str, Vec<&UseOutcome>> = BTreeMap::new();
        for outcome in &self.uses {
            groups.entry(outcome.group).or_default().push(outcome);
        }
        groups.iter().try_for_each(|(name, uses)| self.row(f, name, uses))?;
        self.row(f, "total", &self.uses.iter().collect::<Vec<_>>())?;
        let readable: Vec<&UseOutcome> = self.uses.iter().filter(|u| !u.hard).collect();
        self.row(f, "readable", &readable)?;
        writeln!(
            f,
            "wrong: {:.1} % of uses, {:.1} % of readable situations; must act: {:.1} % acted on, {} of {} \
             after a notice; notices for a ref that was listed again: {}",
            self.wrong_uses() * 100.0,
            self.wrong_situations() * 100.0,
            self.acted() * 100.0,
            self.must_act().filter(|u| u.noticed).count(),
            self.must_act().count(),
            self.uses.iter().filter(|u| u.noticed && u.relisted).count()
        )?;
        for outcome in &self.uses {
            let UseOutcome { id, kind, verdict, detail, hard, .. } = outcome;
            let fine = matches!(verdict, Verdict::Correct | Verdict::Refused | Verdict::Relisted);
            if !fine {
                let hard = if *hard { " (hard)" } else { "" };
                writeln!(f, "{} {id}{hard} {kind:?}: {detail}", verdict.name())?;
            }
        }
        self.broken.iter().try_for_each(|b| writeln!(f, "BROKEN {b}"))
    }
}
