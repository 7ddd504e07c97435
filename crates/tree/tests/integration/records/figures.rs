//! The outcomes of the actions of recordings, and the effect of each clause on them.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::ablation::{ABLATIONS, Ablation, ROLE_AND_NAME, WHOLE};
use super::capture::Case;
use super::context::wrong_beside;
use super::replay::{MODES, Mode, Outcome, replay};

/// The outcomes of the actions of some recordings. Each is named by its recording, with what was
/// issued and why.
#[derive(Debug, Default, Clone)]
pub struct Figures {
    pub acts: usize,
    pub wrong: Vec<(String, String)>,
    pub refused: Vec<(String, String)>,
}

impl Figures {
    #[expect(clippy::cast_precision_loss, reason = "a few hundred acts")]
    pub fn refused_per_thousand(&self) -> f64 {
        self.refused.len() as f64 * 1000.0 / self.acts as f64
    }
}

/// Counts the outcomes. With `last_only`, only the last action of each recording is judged; the
/// earlier ones lead up to it.
pub fn figures(cases: &[Case], mode: Mode, without: Ablation, last_only: bool) -> Figures {
    let mut figures = Figures::default();
    for case in cases {
        let mut acts = replay(case, mode, without);
        if last_only {
            acts.drain(..acts.len().saturating_sub(1));
        }
        for act in acts {
            figures.acts += 1;
            match act.outcome {
                Outcome::Wrong => figures.wrong.push((case.name.clone(), act.why)),
                Outcome::Refused => figures.refused.push((case.name.clone(), act.why)),
                Outcome::Right | Outcome::RightlyRefused => {}
            }
        }
    }
    figures
}

/// Formats, in Markdown, the outcomes of the rule with all clauses and without each of them. `told`
/// are situations that must be refused. They are judged by the context rule together with the
/// record rule, like the recorded ones.
pub fn table(situations: &[Case], flows: &[Case], told: &[Case]) -> String {
    let mut variants = vec![("all clauses".to_owned(), WHOLE)];
    variants.extend(ABLATIONS.map(|clause| (format!("without `{}`", clause.name), clause)));
    variants.push(("role and name only".to_owned(), ROLE_AND_NAME));
    let rows: Mutex<Vec<(usize, String)>> = Mutex::default();
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let at = next.fetch_add(1, Ordering::Relaxed)
                    && let Some((name, without)) = variants.get(at)
                {
                    let row = row(name, *without, situations, flows, told);
                    rows.lock().expect("no worker panics").push((at, row));
                }
            });
        }
    });
    let mut rows = rows.into_inner().expect("no worker panics");
    rows.sort();
    let mut out = format!(
        "| the rule | wrong actions of 73 | refused of 47 | wrong in flows | refused of 1,000 | wrong with the context \
         rule, of {} |\n|---|---|---|---|---|---|\n",
        told.len() + 73
    );
    out.extend(rows.into_iter().map(|(_, row)| row));
    out
}

fn row(name: &str, without: Ablation, situations: &[Case], flows: &[Case], told: &[Case]) -> String {
    let both = |cases: &[Case], last_only: bool| MODES.map(|mode| figures(cases, mode, without, last_only));
    let range = |numbers: [f64; 2]| {
        let [low, high] = [numbers[0].min(numbers[1]), numbers[0].max(numbers[1])];
        if (high - low).abs() < 0.5 { format!("{high:.0}") } else { format!("{low:.0}-{high:.0}") }
    };
    let count = |list: &Vec<(String, String)>| f64::from(u32::try_from(list.len()).expect("few"));
    let (hard, plain) = (both(situations, true), both(flows, false));
    let mut out = String::new();
    writeln!(
        out,
        "| {name} | {} | {} | {} | {} | {} |",
        range([0, 1].map(|i| count(&hard[i].wrong))),
        range([0, 1].map(|i| count(&hard[i].refused))),
        range([0, 1].map(|i| count(&plain[i].wrong))),
        range([0, 1].map(|i| plain[i].refused_per_thousand())),
        wrong_beside(situations, without) + wrong_beside(told, without),
    )
    .expect("a string takes all");
    out
}
