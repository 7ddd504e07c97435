//! The context rule over recordings: the numbers of wrong actions and of notices, for several
//! scopes of context and two ways to determine what changes by itself.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use stickpin_tree::{
    Context, ContextChange, ContextMap, ContextReader, FactKey, NodeId, NodeRef, Records, Role, States,
    is_segment_root, is_volatile,
};

use super::ablation::{Ablation, WHOLE};
use super::capture::{Case, Kind};
use super::replay::{self, Entry};

type Segments = fn(&Records<'_>, NodeRef<'_>) -> bool;

/// The scopes that were measured, narrowest first.
pub const SCOPES: [(&str, Segments); 5] = [
    ("own row and enclosing headings", narrow),
    ("separate sections", sections),
    ("separate complementary sections, messages and popups", is_segment_root),
    ("separate popups and messages", popups),
    ("whole page except other rows", page),
];

fn narrow(records: &Records<'_>, node: NodeRef<'_>) -> bool {
    !matches!(node.role(), Role::Generic | Role::Clickable | Role::Paragraph)
        && !node.is(States::ACTIONABLE)
        && !node.is_text()
        && node.role() != Role::Heading
        || records.is_list_row(node)
}

fn sections(records: &Records<'_>, node: NodeRef<'_>) -> bool {
    use Role::{
        Article, Banner, ContentInfo, Figure, Form, Group, Navigation, Region, Search, TabPanel, Toolbar,
    };
    let section = matches!(
        node.role(),
        Article
            | Banner
            | ContentInfo
            | Figure
            | Form
            | Group
            | Navigation
            | Region
            | Search
            | TabPanel
            | Toolbar
    );
    section || is_segment_root(records, node)
}

fn popups(records: &Records<'_>, node: NodeRef<'_>) -> bool {
    node.role() != Role::Complementary && is_segment_root(records, node)
}

fn page(records: &Records<'_>, node: NodeRef<'_>) -> bool {
    node.role() == Role::Document || records.is_list_row(node)
}

/// How to determine what changes by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Volatility {
    /// By the text: numbers, times and amounts change.
    Guessed,
    /// By observation: the text changed twice while nobody was acting.
    Learned,
}

pub const VOLATILITIES: [Volatility; 2] = [Volatility::Guessed, Volatility::Learned];

/// The outcome of one action.
#[derive(Debug, Default, Clone)]
pub struct Outcome {
    pub acts: usize,
    /// Actions before which a notice was reported.
    pub notices: Vec<String>,
    /// Actions on another record without a notice.
    pub wrong: Vec<String>,
    pub refused: usize,
}

impl Outcome {
    fn add(&mut self, other: Self) {
        self.acts += other.acts;
        self.notices.extend(other.notices);
        self.wrong.extend(other.wrong);
        self.refused += other.refused;
    }
}

/// Measures one recording under one rule. The client has read the first capture. It is notified of
/// what its own actions replaced, and of nothing else.
pub fn measure(case: &Case, segments: Segments, volatility: Volatility, without: Ablation) -> Outcome {
    let [trees, whole] = [without, WHOLE].map(|rule| replay::trees(case, rule));
    let openers = replay::openers(case, &trees, without);
    let records = replay::records(&trees, &openers);
    // The context is read with all data.
    let whole = replay::records(&whole, &openers);
    let reader = |at: usize| ContextReader::with_segments(&whole[at], segments);
    let counts = |c: &ContextChange| {
        volatility == Volatility::Learned || !(is_volatile(&c.before) && is_volatile(&c.after))
    };
    // The changes at each position while nobody was acting, and what is known by now to change by
    // itself.
    let mut changed: HashMap<FactKey, u32> = HashMap::new();
    let mut tickers: HashSet<FactKey> = HashSet::new();
    let mut shown = reader(0).map();
    let mut table: HashMap<&str, Entry> = HashMap::new();
    let mut outcome = Outcome::default();
    let mut before: Option<ContextMap> = None;
    for (at, event) in case.events.iter().enumerate() {
        let own = at > 0 && case.events[at - 1].act.is_some();
        let map = reader(at).map();
        if let Some(before) = &before {
            if own {
                shown.note_effects(before, &map, |_| Context::default(), Context::default);
            } else {
                for change in before.changes_to(&map) {
                    let times = changed.entry(change.key).or_default();
                    *times += 1;
                    if *times >= 2 && volatility == Volatility::Learned {
                        tickers.insert(change.key);
                    }
                }
            }
        }
        before = Some(map);
        if event.kind == Kind::Locate {
            let Some((act, entry)) = event.act.as_ref().and_then(|a| Some((a, table.get(a.query.as_str())?)))
            else {
                continue;
            };
            outcome.acts += 1;
            let words = format!("{}: {}", case.name, entry.issued);
            match replay::now(&records, entry, at, without) {
                Err(_) => {
                    outcome.refused += 1;
                    if let Some(node) = act.truth.and_then(|id| event.node(id)) {
                        let issued = records[at].meaning(node);
                        table.insert(&act.query, Entry { issued, seen: (at, node) });
                    }
                }
                Ok(node) => {
                    let changes = compare(&reader(at), &shown, node, &tickers);
                    let changes: Vec<ContextChange> = changes.into_iter().filter(counts).collect();
                    let right = event.tree.node(node).address().map(|a| a.id) == act.truth;
                    if let Some(first) = changes.first() {
                        outcome.notices.push(format!(
                            "{words}: {:?} {:?} -> {:?} ({})",
                            first.kind,
                            first.before,
                            first.after,
                            changes.len()
                        ));
                        shown.note_shown(&reader(at).context(node));
                    } else if !right {
                        outcome.wrong.push(words);
                    }
                }
            }
            continue;
        }
        for (query, id) in &event.asked {
            if let Some(node) = event.node(*id)
                && !table.contains_key(query.as_str())
            {
                reader(at).adopt_new(&[node], &mut shown, |_| hashbrown::HashSet::new());
                table.insert(query, Entry { issued: records[at].meaning(node), seen: (at, node) });
            }
        }
        replay::hand_over(case, at, &records, &mut table, without);
    }
    outcome
}

fn compare(
    reader: &ContextReader<'_, '_>,
    shown: &ContextMap,
    node: NodeId,
    tickers: &HashSet<FactKey>,
) -> Vec<ContextChange> {
    let now = reader.context(node);
    shown.context_of(&now).changes_to(&now, &reader.own_content(node), |key| tickers.contains(&key))
}

/// Sums the measurements of all recordings under one rule.
pub fn total(cases: &[Case], segments: Segments, volatility: Volatility, without: Ablation) -> Outcome {
    let mut total = Outcome::default();
    for case in cases {
        total.add(measure(case, segments, volatility, without));
    }
    total
}

#[allow(clippy::cast_precision_loss, reason = "a few thousand acts")]
pub fn per_thousand(n: usize, of: usize) -> f64 {
    n as f64 * 1000.0 / of.max(1) as f64
}

/// Returns the table of `docs/identity.md`.
pub fn table(gauntlet: &[Case], situations: &[Case], flows: &[Case]) -> String {
    let must = |cases: &[Case], word: &str| cases.iter().filter(|c| c.name.starts_with(word)).count();
    let mut text = format!(
        "| scope of context | what changes by itself | wrong of {} (gauntlet) | wrong of {} (situations) | notices of 1,000 \
         ordinary actions |\n|---|---|---|---|---|\n",
        must(gauntlet, "REF"),
        must(situations, "REF"),
    );
    for (name, segments) in SCOPES {
        for volatility in VOLATILITIES {
            let [g, s, f] =
                [gauntlet, situations, flows].map(|cases| total(cases, segments, volatility, WHOLE));
            println!("{name}: notices in ordinary flows: {:#?}", f.notices);
            writeln!(
                text,
                "| {name} | {} | {} | {} | {:.1} |",
                if volatility == Volatility::Guessed { "guessed from its words" } else { "learned" },
                g.wrong.len(),
                s.wrong.len(),
                per_thousand(f.notices.len(), f.acts)
            )
            .expect("writing to a String");
        }
    }
    text
}

/// Returns the number of silent wrong actions under the shipped context rule together with the
/// record rule without a clause.
pub fn wrong_beside(cases: &[Case], without: Ablation) -> usize {
    total(cases, is_segment_root, Volatility::Learned, without).wrong.len()
}
