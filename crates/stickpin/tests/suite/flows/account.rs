//! The results of the actions, and the table at the end of a run.

use std::collections::BTreeMap;
use std::fmt;

/// The actions of one flow.
#[derive(Debug, Clone, Default)]
pub struct Flow {
    pub app: &'static str,
    pub name: String,
    /// Uses of a ref that should act.
    pub acts: usize,
    /// The number of commands that were answered with `CONTEXT_CHANGED`.
    pub notices: usize,
    /// Other refusals, by code and reason.
    pub refused: BTreeMap<String, usize>,
    /// Uses of a ref whose element has changed: each should be refused.
    pub traps: usize,
    /// The app reports that another element received the input.
    pub wrong: Vec<String>,
    /// The action was reported as done and the app did not receive it, or the flow could not
    /// continue.
    pub lost: Vec<String>,
    /// The messages of notices and refusals.
    pub said: Vec<String>,
    /// Whether the app's own data was compared at the end.
    pub checked: bool,
}

impl Flow {
    fn refusals(&self) -> usize {
        self.refused.values().sum()
    }
}

/// All flows of a run.
#[derive(Debug, Clone, Default)]
pub struct Account(pub Vec<Flow>);

/// The sums of all flows.
#[derive(Debug, Clone, Copy, Default)]
struct Totals {
    acts: usize,
    notices: usize,
    refused: usize,
    traps: usize,
    wrong: usize,
    lost: usize,
}

impl Account {
    fn totals(&self) -> Totals {
        self.0.iter().fold(Totals::default(), |t, f| Totals {
            acts: t.acts + f.acts,
            notices: t.notices + f.notices,
            refused: t.refused + f.refusals(),
            traps: t.traps + f.traps,
            wrong: t.wrong + f.wrong.len(),
            lost: t.lost + f.lost.len(),
        })
    }

    /// Fails after a wrong or lost action, or with too many notices or refusals per 1,000 actions.
    pub fn judge(&self, at_least: usize, notices: f64, refusals: f64) {
        println!("{self}");
        let totals = self.totals();
        let [told, refused] = totals.per_thousand();
        println!(
            "of 1,000 acts: {told:.1} notices (at most {notices}), {refused:.1} refusals (at most {refusals})"
        );
        assert_eq!((totals.wrong, totals.lost), (0, 0), "wrong actions and lost actions:\n{self}");
        assert!(
            totals.acts >= at_least,
            "only {} actions were judged, at least {at_least} are expected",
            totals.acts
        );
        assert!(told <= notices, "more than {notices} notices per 1,000 actions:\n{self}");
        assert!(refused <= refusals, "more than {refusals} of 1,000 actions were refused:\n{self}");
    }
}

impl Totals {
    /// Notices and refusals per 1,000 actions.
    #[expect(clippy::cast_precision_loss, reason = "a few thousand acts")]
    fn per_thousand(self) -> [f64; 2] {
        [self.notices, self.refused].map(|n| n as f64 * 1000.0 / self.acts.max(1) as f64)
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.0.iter().map(|f| f.name.len()).max().unwrap_or(4).max(4);
        writeln!(
            f,
            "{:9} {:width$} {:>5} {:>7} {:>8} {:>5} {:>5}  why",
            "app", "flow", "acts", "notices", "refused", "traps", "wrong"
        )?;
        for flow in &self.0 {
            let why: Vec<String> = flow.refused.iter().map(|(why, n)| format!("{n} {why}")).collect();
            writeln!(
                f,
                "{:9} {:width$} {:>5} {:>7} {:>8} {:>5} {:>5}  {}",
                flow.app,
                flow.name,
                flow.acts,
                flow.notices,
                flow.refusals(),
                flow.traps,
                flow.wrong.len(),
                why.join(", ")
            )?;
        }
        let totals = self.totals();
        let Totals { acts, notices, refused, traps, wrong, .. } = totals;
        let [told, per] = totals.per_thousand();
        writeln!(
            f,
            "{acts} actions in {} flows: {notices} notices ({told:.1} of 1,000), {refused} refused ({per:.1} of 1,000); {traps} traps; {wrong} wrong actions",
            self.0.len()
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
            lines("told", &flow.said, f)?;
        }
        Ok(())
    }
}

/// Compares 1,000 actions with limits of 15 notices and 5 refusals.
fn judge(notices: usize, refusals: usize) {
    let refused = [("STALE_REF gone".to_owned(), refusals)].into();
    let account = Account(vec![Flow { acts: 1000, notices, refused, ..Flow::default() }]);
    account.judge(1000, 15.0, 5.0);
}

#[test]
fn account_at_both_bars_passes() {
    judge(15, 5);
}

#[test]
#[should_panic(expected = "more than 15 notices per 1,000 actions")]
fn account_above_the_notice_bar_fails() {
    judge(16, 0);
}

#[test]
#[should_panic(expected = "more than 5 of 1,000 actions were refused")]
fn account_above_the_refusal_bar_fails() {
    judge(0, 6);
}
