//! Replays a recording through a small ref table and reports for every action whether it was right.

use std::borrow::Cow;
use std::collections::HashMap;

use stickpin_tree::{IdentityGrade, Meaning, NodeId, Openers, Records, Tree};

use super::ablation::Ablation;
use super::capture::{Case, Kind};

/// The captures that the table sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Only the capture that issued a ref, and the one at the action.
    FirstSight,
    /// Every capture in between as well.
    EveryCapture,
}

pub const MODES: [Mode; 2] = [Mode::FirstSight, Mode::EveryCapture];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Acted on the intended element.
    Right,
    /// Refused, and the intended element is gone.
    RightlyRefused,
    /// Refused, although the intended element exists.
    Refused,
    /// Acted on a different element.
    Wrong,
}

/// One action of a recording.
#[derive(Debug)]
pub struct Judged {
    pub outcome: Outcome,
    /// What was issued, and why it was refused or accepted.
    pub why: String,
}

pub struct Entry {
    pub issued: Meaning,
    /// Where the element was last seen: the capture and the node.
    pub seen: (usize, NodeId),
}

/// Replays the actions of a recording on refs that were issued before.
pub fn replay(case: &Case, mode: Mode, without: Ablation) -> Vec<Judged> {
    let trees = trees(case, without);
    let openers = openers(case, &trees, without);
    let records = records(&trees, &openers);
    let mut table: HashMap<&str, Entry> = HashMap::new();
    let mut judged = Vec::new();
    for (at, event) in case.events.iter().enumerate() {
        if event.kind == Kind::Locate {
            if let Some(act) = &event.act
                && let Some(entry) = table.get(act.query.as_str())
            {
                let found = now(&records, entry, at, without);
                let address = |n: NodeId| event.tree.node(n).address().map(|a| a.id);
                let outcome = match (&found, act.truth) {
                    (Ok(n), truth) if truth.is_some() && address(*n) == truth => Outcome::Right,
                    (Ok(_), _) => Outcome::Wrong,
                    (Err(_), None) => Outcome::RightlyRefused,
                    (Err(_), Some(_)) => Outcome::Refused,
                };
                judged.push(Judged { outcome, why: format!("{}: {found:?}", entry.issued) });
                // A refusal hands over the current element under its new number.
                if let (Outcome::Refused, Some(node)) = (outcome, act.truth.and_then(|id| event.node(id))) {
                    let renewed = Entry { issued: records[at].meaning(node), seen: (at, node) };
                    table.insert(&act.query, renewed);
                }
            }
            continue;
        }
        if mode == Mode::EveryCapture {
            for entry in table.values_mut() {
                if let Ok(node) = now(&records, entry, at, without) {
                    let (seen, then) = entry.seen;
                    let handle = |at: usize, node| records[at].tree().node(node).handle();
                    if handle(seen, then) != handle(at, node) {
                        // As in a session: an element found in other nodes is tracked by these
                        // nodes.
                        entry.issued = entry.issued.with_nodes_of(&records[at].meaning(node));
                    }
                    entry.seen = (at, node);
                }
            }
        }
        for (query, id) in &event.asked {
            if let Some(node) = event.node(*id) {
                table
                    .entry(query)
                    .or_insert_with(|| Entry { issued: records[at].meaning(node), seen: (at, node) });
            }
        }
        hand_over(case, at, &records, &mut table, without);
    }
    judged
}

/// Reads the target again after an action: a toggle hands over its new state.
pub fn hand_over<'c>(
    case: &'c Case,
    at: usize,
    records: &[Records<'_>],
    table: &mut HashMap<&'c str, Entry>,
    without: Ablation,
) {
    let event = &case.events[at];
    let before = at.checked_sub(1).and_then(|i| case.events[i].act.as_ref());
    let Some(act) = before.filter(|_| event.kind == Kind::Settle) else { return };
    let target = act.truth.and_then(|id| event.node(id));
    if let Some(node) = target
        && let Some(entry) = table.get_mut(act.query.as_str())
        && event.tree.node(node).name() != entry.issued.name()
        && without.judge(&records[at], &entry.issued, node).is_err()
    {
        *entry = Entry { issued: records[at].meaning(node), seen: (at, node) };
    }
}

/// Returns the element of a ref in a capture, or why it is refused.
pub fn now(records: &[Records<'_>], entry: &Entry, at: usize, without: Ablation) -> Result<NodeId, String> {
    let (seen, node) = entry.seen;
    let tree = records[at].tree();
    let handle = records[seen].tree().node(node).handle();
    let here = handle.and_then(|h| tree.find_handle(h));
    match here {
        Some(n) => without.judge(&records[at], &entry.issued, n.id()).map(|()| n.id()),
        None => without
            .content_match((&records[seen], node), &entry.issued, &records[at])
            .map_err(|refused| format!("gone: {refused:?}")),
    }
}

/// Returns the captures as they are read without a clause.
pub fn trees(case: &Case, without: Ablation) -> Vec<Cow<'_, Tree>> {
    case.events.iter().map(|event| without.tree(&event.tree)).collect()
}

/// Returns the records of captures.
pub fn records<'t>(trees: &'t [Cow<'_, Tree>], openers: &'t [Openers]) -> Vec<Records<'t>> {
    trees.iter().zip(openers).map(|(tree, openers)| Records::new(tree, openers)).collect()
}

/// Returns what is known about openers at every capture.
pub fn openers(case: &Case, trees: &[Cow<'_, Tree>], without: Ablation) -> Vec<Openers> {
    let mut openers = Openers::default();
    let mut all = Vec::new();
    for (event, tree) in case.events.iter().zip(trees) {
        assert_eq!(tree.grade(), IdentityGrade::NeverReused);
        openers.observe(tree);
        all.push(openers.clone());
        if let Some(target) = event.act.as_ref().and_then(|a| event.node(a.truth?)) {
            let opener = Records::new(tree, all.last().expect("just pushed")).as_opener(target);
            openers.note_act(opener.filter(|_| without.notes_openers()));
        }
    }
    all
}
