//! What came of the acts, and the table at the end of a run.

use std::collections::BTreeMap;
use std::fmt;

/// The acts of one flow.
#[derive(Debug, Clone, Default)]
pub struct Flow {
    pub app: &'static str,
    pub name: String,
    /// Uses of a ref that should act.
    pub acts: usize,
    /// Those that were refused, by code and reason.
    pub refused: BTreeMap<String, usize>,
    /// Uses of a ref whose element is another one by now: each should be refused.
    pub traps: usize,
    /// The app says that something else received the input.
    pub wrong: Vec<String>,
    /// The act was said to be done and the app knows nothing of it, or the flow could not go on.
    pub lost: Vec<String>,
    /// What was said at each refusal.
    pub said: Vec<String>,
}

impl Flow {
    fn refusals(&self) -> usize {
        self.refused.values().sum()
    }
}

/// All flows of a run.
#[derive(Debug, Clone, Default)]
pub struct Account(pub Vec<Flow>);

impl Account {
    /// Acts, refused, traps, wrong, lost.
    fn sums(&self) -> [usize; 5] {
        self.0.iter().fold([0; 5], |[a, r, t, w, l], f| {
            [a + f.acts, r + f.refusals(), t + f.traps, w + f.wrong.len(), l + f.lost.len()]
        })
    }

    /// Refused of 1,000 acts.
    #[expect(clippy::cast_precision_loss, reason = "a few thousand acts")]
    pub fn per_thousand(&self) -> f64 {
        let [acts, refused, ..] = self.sums();
        refused as f64 * 1000.0 / acts.max(1) as f64
    }

    /// Fails when something wrong was acted on, something was lost, or more than `bar` of 1,000 acts were refused.
    pub fn judge(&self, at_least: usize, bar: f64) {
        println!("{self}");
        let [acts, _, _, wrong, lost] = self.sums();
        assert_eq!((wrong, lost), (0, 0), "wrong acts and lost acts:\n{self}");
        assert!(acts >= at_least, "only {acts} acts were judged, {at_least} or more are expected");
        assert!(self.per_thousand() <= bar, "more than {bar} of 1,000 acts were refused:\n{self}");
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.0.iter().map(|f| f.name.len()).max().unwrap_or(4).max(4);
        writeln!(
            f,
            "{:8} {:width$} {:>5} {:>7} {:>5} {:>5}  why",
            "app", "flow", "acts", "refused", "traps", "wrong"
        )?;
        for flow in &self.0 {
            let why: Vec<String> = flow.refused.iter().map(|(why, n)| format!("{n} {why}")).collect();
            writeln!(
                f,
                "{:8} {:width$} {:>5} {:>7} {:>5} {:>5}  {}",
                flow.app,
                flow.name,
                flow.acts,
                flow.refusals(),
                flow.traps,
                flow.wrong.len(),
                why.join(", ")
            )?;
        }
        let [acts, refused, traps, wrong, _] = self.sums();
        writeln!(
            f,
            "{acts} acts, {refused} refused: {:.1} of 1,000; {traps} traps; {wrong} wrong acts",
            self.per_thousand()
        )?;
        let mut clauses: BTreeMap<&str, usize> = BTreeMap::new();
        for (why, n) in self.0.iter().flat_map(|f| &f.refused) {
            *clauses.entry(why).or_default() += n;
        }
        for (why, n) in clauses {
            writeln!(f, "  refused {n}: {why}")?;
        }
        for flow in &self.0 {
            let lines = |kind: &str, list: &[String], f: &mut fmt::Formatter<'_>| {
                list.iter().try_for_each(|l| writeln!(f, "{kind} {} / {}: {l}", flow.app, flow.name))
            };
            lines("WRONG", &flow.wrong, f)?;
            lines("LOST", &flow.lost, f)?;
            lines("refused", &flow.said, f)?;
        }
        Ok(())
    }
}
