//! What came of all situations, and the table at the end of a run.

use crate::data::{Kind, Situation};
use crate::site::Hit;
use crate::verdict::Verdict;
use std::collections::BTreeMap;
use std::fmt;
use stickpin_kernel::Response;

/// One use of a ref.
#[derive(Debug, Clone)]
pub struct Judged {
    pub id: String,
    pub group: &'static str,
    pub kind: Kind,
    pub hard: bool,
    pub verdict: Verdict,
    /// The command had to be typed again because its context had changed.
    pub noticed: bool,
    /// What the page received, and what was answered.
    pub detail: String,
}

impl Judged {
    pub fn new(
        situation: &Situation,
        look_again: bool,
        verdict: Verdict,
        noticed: bool,
        hits: &[Hit],
        response: &Response,
    ) -> Self {
        let id = format!("{}{}", situation.id, if look_again { ".re" } else { "" });
        Self {
            id,
            group: situation.group,
            kind: situation.kind,
            hard: situation.hard,
            verdict,
            noticed,
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
    pub uses: Vec<Judged>,
    /// Situations that could not be played to their end, which says nothing about the product.
    pub broken: Vec<String>,
}

impl Account {
    pub fn add(&mut self, played: Result<Judged, String>, id: &str) {
        match played {
            Ok(judged) => self.uses.push(judged),
            Err(e) => self.broken.push(format!("{id}: {e}")),
        }
    }

    pub fn merge(&mut self, other: Self) {
        self.uses.extend(other.uses);
        self.broken.extend(other.broken);
    }

    fn share(&self, among: impl Fn(&Judged) -> bool, of: impl Fn(&Judged) -> bool) -> f64 {
        let among: Vec<&Judged> = self.uses.iter().filter(|j| among(j)).collect();
        let count = among.iter().filter(|j| of(j)).count();
        #[expect(clippy::cast_precision_loss, reason = "a few hundred uses")]
        let share = count as f64 / among.len().max(1) as f64;
        share
    }

    /// Wrong acts among situations with anything readable to tell the records apart.
    pub fn wrong(&self) -> f64 {
        self.share(|j| !j.hard, |j| j.verdict.is_wrong())
    }

    /// Acted on, at the first or the repeated call, among those that must be.
    pub fn acted(&self) -> f64 {
        self.share(|j| j.kind == Kind::Act, |j| j.verdict == Verdict::Correct)
    }

    fn row(&self, f: &mut fmt::Formatter<'_>, name: &str, uses: &[&Judged]) -> fmt::Result {
        write!(f, "{name:<12}{:>5}", uses.len())?;
        for verdict in Verdict::ALL {
            let count = uses.iter().filter(|j| j.verdict == verdict).count();
            write!(f, "{count:>w$}", w = verdict.name().len() + 2)?;
        }
        let notices = uses.iter().filter(|j| j.noticed);
        writeln!(f, "{:>9}", notices.count())
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<12}{:>5}", "group", "uses")?;
        Verdict::ALL.iter().try_for_each(|v| write!(f, "  {}", v.name()))?;
        writeln!(f, "  notices")?;
        let mut groups: BTreeMap<&str, Vec<&Judged>> = BTreeMap::new();
        for judged in &self.uses {
            groups.entry(judged.group).or_default().push(judged);
        }
        groups.iter().try_for_each(|(name, uses)| self.row(f, name, uses))?;
        self.row(f, "total", &self.uses.iter().collect::<Vec<_>>())?;
        let readable: Vec<&Judged> = self.uses.iter().filter(|j| !j.hard).collect();
        self.row(f, "readable", &readable)?;
        writeln!(
            f,
            "wrong acts of the readable: {:.1} %; must act and acted on: {:.1} %",
            self.wrong() * 100.0,
            self.acted() * 100.0
        )?;
        for judged in &self.uses {
            let Judged { id, kind, verdict, detail, hard, .. } = judged;
            let fine = matches!(verdict, Verdict::Correct | Verdict::Refused | Verdict::Shown);
            if !fine {
                let hard = if *hard { " (hard)" } else { "" };
                writeln!(f, "{} {id}{hard} {kind:?}: {detail}", verdict.name())?;
            }
        }
        self.broken.iter().try_for_each(|b| writeln!(f, "BROKEN {b}"))
    }
}
