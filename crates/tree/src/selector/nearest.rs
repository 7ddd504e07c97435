//! What a selector that matches nothing may have meant.

use super::{Key, Selector, Term};
use crate::{NodeId, NodeRef, Role, States, StrId, Tree};
use hashbrown::HashMap;

/// Below this likeness (0 to 1) a name is no help.
const LIKE_ENOUGH: f64 = 0.45;
/// Names are compared over so many characters.
const COMPARED: usize = 80;

/// At most `limit` visible elements whose name, value or text is nearest to what the selector asks for, best first,
/// equally good ones in document order. Elements of the role that was asked for come before others that are as
/// near. Empty when the selector names no text, or when nothing is like it.
#[must_use]
pub fn nearest(tree: &Tree, selector: &Selector, limit: usize) -> Vec<NodeId> {
    let wanted: Vec<String> = selector.texts().map(folded).filter(|t| !t.is_empty()).collect();
    let roles: Vec<Role> = selector.roles().collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut seen: HashMap<StrId, f64> = HashMap::new();
    let mut scored: Vec<(f64, NodeId)> = Vec::new();
    for node in tree.nodes().filter(|n| !n.is(States::HIDDEN) && !n.name().is_empty()) {
        let score = *seen.entry(node.name_id()).or_insert_with(|| likeness(node.name(), &wanted));
        let Some(element) = candidate(node) else { continue };
        if score >= LIKE_ENOUGH {
            let right_role = if roles.contains(&element.role()) { 0.2 } else { 0.0 };
            let acts = if element.is(States::ACTIONABLE) { 0.05 } else { 0.0 };
            scored.push((score + right_role + acts, element.id()));
        }
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

/// The element that a named node stands for: itself, or the element that shows a text leaf.
fn candidate(node: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let element = if node.is_text() { node.parent()? } else { node };
    (element.role() != Role::Document).then_some(element)
}

fn folded(text: &str) -> String {
    text.chars().take(COMPARED).collect::<String>().to_lowercase()
}

fn likeness(name: &str, wanted: &[String]) -> f64 {
    let name = folded(name);
    let best = wanted.iter().map(|w| {
        if name == *w {
            return 1.0;
        }
        let contained = name.contains(w.as_str()) || (name.chars().count() > 2 && w.contains(&name));
        let alike = strsim::normalized_damerau_levenshtein(&name, w).max(strsim::sorensen_dice(&name, w));
        if contained { alike.max(0.7) } else { alike }
    });
    best.fold(0.0, f64::max)
}

impl Selector {
    /// The texts that it asks for.
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
