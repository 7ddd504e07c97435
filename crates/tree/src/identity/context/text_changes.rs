//! Finds texts that differ between two captures of one page: a clock, a price, a counter.

use hashbrown::{HashMap, HashSet};

use super::clocks::{contains_number, differ_in_numbers, differ_in_state};
use super::compare::pattern;
use super::fact::{FactKey, FactKind, handle_hash};
use super::node_facts::shape_of;
use crate::{Handle, NodeId, NodeRef, Tree};

/// The maximum number of added texts, and of removed texts, that are compared. If there are more,
/// these texts are not compared at all.
const MAX_RERENDERED: usize = 2_000;

/// The differences between two trees of one surface.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TextChanges {
    /// The positions of texts that differ only in numbers. Changed words may belong to another
    /// record.
    pub changed_numbers: Vec<FactKey>,
    /// The positions of texts that now name another state, such as `per second, rising`, each with
    /// the earlier and the current text.
    pub states: Vec<(FactKey, String, String)>,
    /// The [patterns](super::ContextChange::pattern) of numbers that moved to other nodes below an
    /// element that stayed: the marks of a re-rendered chart.
    pub rerendered: Vec<u64>,
}

/// Returns the [pattern](super::ContextChange::pattern) of the numbers in a text; `None` if the
/// node is not a text or contains no number.
#[must_use]
pub fn number_pattern(text: NodeRef<'_>) -> Option<u64> {
    let is_text = text.is_text() && contains_number(text.name());
    is_text.then(|| pattern(FactKind::Text, shape_of(text, FactKind::Text), text.name()))
}

/// Compares the texts of two trees. A rewritten text may be a new node in the same parent, so a
/// text is identified by its parent. Finds nothing on devices without identity.
#[must_use]
pub fn compare_texts(before: &Tree, now: &Tree) -> TextChanges {
    let mut changes = TextChanges::default();
    let old_index = before.handle_index();
    let (mut last, mut nth) = (None, 0);
    let mut added: Vec<NodeRef<'_>> = Vec::new();
    for text in now.nodes().filter(|n| n.is_text()) {
        let Some(handle) = text.parent().and_then(NodeRef::handle) else { continue };
        nth = if last.replace(handle) == Some(handle) { nth + 1 } else { 0 };
        let Some(&then) = old_index.get(&handle) else {
            if contains_number(text.name()) {
                added.push(text);
            }
            continue;
        };
        let mut texts = before.node(then).children().filter(|n| n.is_text()).map(NodeRef::name);
        let Some(was) = texts.nth(nth) else { continue };
        let key = FactKey { kind: FactKind::Text, position: handle_hash(Some(handle)) };
        if differ_in_numbers(was, text.name()) {
            changes.changed_numbers.push(key);
        } else if was != text.name() && differ_in_state(was, text.name()) {
            changes.states.push((key, was.to_owned(), text.name().to_owned()));
        }
    }
    changes.changed_numbers.dedup();
    if !added.is_empty() && added.len() <= MAX_RERENDERED {
        changes.rerendered = rerendered_patterns(before, &old_index, now, &added);
    }
    changes
}

/// Returns the patterns of the new texts that replaced other texts below the same element. The same
/// number of texts with the pattern must have disappeared, or any number if the new texts are bare
/// numbers. The old and new texts must differ.
fn rerendered_patterns(
    before: &Tree,
    old_index: &HashMap<Handle, NodeId>,
    now: &Tree,
    added: &[NodeRef<'_>],
) -> Vec<u64> {
    let is_in = now.handle_index();
    let removed = before.nodes().filter(|n| {
        let parent = || n.parent().and_then(NodeRef::handle);
        n.is_text() && contains_number(n.name()) && parent().is_some_and(|h| !is_in.contains_key(&h))
    });
    let removed: Vec<NodeRef<'_>> = removed.take(MAX_RERENDERED + 1).collect();
    if removed.is_empty() || removed.len() > MAX_RERENDERED {
        return Vec::new();
    }
    // The nearest ancestor of a text that exists in both trees.
    let below = |text: NodeRef<'_>, other: &HashMap<Handle, NodeId>| {
        text.ancestors().filter_map(NodeRef::handle).find(|h| other.contains_key(h))
    };
    let groups = |texts: &[NodeRef<'_>], other: &HashMap<Handle, NodeId>| {
        let mut groups: HashMap<(Handle, u64), Vec<String>> = HashMap::new();
        for text in texts {
            if let (Some(below), Some(pattern)) = (below(*text, other), number_pattern(*text)) {
                groups.entry((below, pattern)).or_default().push(text.name().to_owned());
            }
        }
        groups.values_mut().for_each(|texts| texts.sort_unstable());
        groups
    };
    let then = groups(&removed, &is_in);
    let now = groups(added, old_index);
    let patterns: HashSet<u64> = now
        .into_iter()
        .filter(|(group, texts)| {
            // A chart that re-renders at another scale has more or fewer marks.
            let is_mark = || !texts.iter().any(|text| text.contains(char::is_alphabetic));
            then.get(group).is_some_and(|was| was != texts && (was.len() == texts.len() || is_mark()))
        })
        .map(|((_, pattern), _)| pattern)
        .collect();
    patterns.into_iter().collect()
}
