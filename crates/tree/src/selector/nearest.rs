//! Suggests what a selector without matches may have meant.

use super::{Key, Selector, Term};
use crate::{NodeId, NodeRef, Role, States, StrId, Tree};
use hashbrown::HashMap;

/// The minimum similarity (0 to 1) of a useful suggestion.
const MIN_SIMILARITY: f64 = 0.45;
/// The maximum number of characters in a name that are compared.
const MAX_COMPARED_CHARS: usize = 80;
/// The maximum number of different names that are compared closely.
const MAX_COMPARED_NAMES: usize = 1_000;

/// Returns at most `limit` visible elements whose name or text is most similar to a text in the
/// selector. The best come first; equally good ones are in document order.
///
/// Elements with a requested role rank higher, and actionable elements slightly higher. Of nested
/// elements, only the best is returned. Returns nothing if the selector names no text or if nothing
/// is similar.
#[must_use]
pub fn nearest(tree: &Tree, selector: &Selector, limit: usize) -> Vec<NodeId> {
    let wanted: Vec<String> = selector.texts().map(normalize_name).filter(|t| !t.is_empty()).collect();
    let roles: Vec<Role> = selector.roles().collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let likeness = similarities(tree, &wanted);
    let mut scored: Vec<(f64, NodeId)> = Vec::new();
    for node in tree.nodes().filter(|n| !n.is(States::HIDDEN)) {
        let (Some(score), Some(element)) = (likeness.get(&node.name_id()), candidate(node)) else { continue };
        let right_role = if roles.contains(&element.role()) { 0.2 } else { 0.0 };
        let control_bonus = if element.is(States::ACTIONABLE) { 0.05 } else { 0.0 };
        scored.push((score + right_role + control_bonus, element.id()));
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut found: Vec<NodeId> = Vec::new();
    for (_, id) in scored {
        let related = |&k: &NodeId| tree.node(k).contains(id) || tree.node(id).contains(k);
        if !found.iter().any(related) {
            found.push(id);
            if found.len() == limit {
                break;
            }
        }
    }
    found
}

/// Returns the element that a named node represents: itself, or the element that shows a text leaf;
/// `None` if that element is a document.
fn candidate(node: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let element = if node.is_text() { node.parent()? } else { node };
    (element.role() != Role::Document).then_some(element)
}

fn normalize_name(text: &str) -> String {
    text.chars().take(MAX_COMPARED_CHARS).collect::<String>().to_lowercase()
}

/// Returns, for each distinct name in the tree that is similar enough, the similarity to the wanted
/// texts. A cheap check of all names selects those to compare closely, so that a page of 100,000
/// names stays fast.
fn similarities(tree: &Tree, wanted: &[String]) -> HashMap<StrId, f64> {
    let letters: Vec<u64> = wanted.iter().map(|w| letter_set(w)).collect();
    let mut promising: HashMap<StrId, (u32, String)> = HashMap::new();
    for node in tree.nodes().filter(|n| !n.name().is_empty()) {
        promising.entry(node.name_id()).or_insert_with(|| {
            let name = normalize_name(node.name());
            let own_letters = letter_set(&name);
            let contained = wanted.iter().any(|w| contains(&name, w));
            let shared = letters
                .iter()
                .map(|w| 100 * (w & own_letters).count_ones() / (w | own_letters).count_ones().max(1))
                .max();
            (if contained { 100 } else { shared.unwrap_or(0) }, name)
        });
    }
    let mut ranked: Vec<(u32, StrId, String)> =
        promising.into_iter().map(|(id, (s, name))| (s, id, name)).collect();
    ranked.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    ranked.truncate(MAX_COMPARED_NAMES);
    let similar = ranked.into_iter().map(|(_, id, name)| (id, text_similarity(&name, wanted)));
    similar.filter(|&(_, score)| score >= MIN_SIMILARITY).collect()
}

/// Returns the characters of a text as a bit set, in which some characters share a bit.
fn letter_set(text: &str) -> u64 {
    text.chars().filter(|c| !c.is_whitespace()).fold(0, |set, c| set | 1 << (u32::from(c) % 64))
}

/// Returns whether one text is a part of the other. A text of at most two characters must be a
/// whole word of the other, because it is a part of nearly every text.
fn contains(name: &str, wanted: &str) -> bool {
    let (short, long) = if name.len() < wanted.len() { (name, wanted) } else { (wanted, name) };
    if short.chars().count() > 2 { long.contains(short) } else { long.split(' ').any(|word| word == short) }
}

/// Returns the similarity of a name to the wanted texts, from 0 to 1. All texts must be in lower
/// case.
pub(crate) fn text_similarity(name: &str, wanted: &[String]) -> f64 {
    let best = wanted.iter().map(|w| {
        if name == *w {
            return 1.0;
        }
        let similarity = strsim::normalized_damerau_levenshtein(name, w).max(strsim::sorensen_dice(name, w));
        if contains(name, w) { similarity.max(0.7) } else { similarity }
    });
    best.fold(0.0, f64::max)
}

impl Selector {
    /// Returns the texts, labels, values, placeholders and ids in the selector, outside `in(…)`.
    fn texts(&self) -> impl Iterator<Item = &str> {
        self.alternatives.iter().flat_map(|a| &a.terms).filter_map(|t| match t {
            Term::Has {
                key: Key::Text | Key::Label | Key::Value | Key::Placeholder | Key::Id,
                value,
                ..
            } => Some(value.as_str()),
            _ => None,
        })
    }

    fn roles(&self) -> impl Iterator<Item = Role> {
        self.alternatives.iter().flat_map(|a| &a.terms).filter_map(|t| match t {
            Term::Role(role) => Some(*role),
            _ => None,
        })
    }
}
