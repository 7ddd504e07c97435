//! Finds the element that shows a text, even if the text is spread over several leaves.
//!
//! White space is collapsed leaf by leaf, so the white space between two leaves is unknown
//! (`Hel<b>lo</b>`). Comparisons across leaves therefore ignore white space; comparisons within a
//! leaf do not. Each query takes one pass over the text of the tree, whatever its depth.

use super::Compare;
use super::matching::{WantedText, normalize_typed_text};
use crate::{NodeId, NodeRef, States, Tree};
use hashbrown::HashSet;

/// All text of a tree without white space, with the position at which each leaf begins.
#[derive(Debug)]
pub(super) struct TextIndex {
    exact: CompactText,
    /// The text in lower case, created on first use.
    folded: Option<CompactText>,
}

#[derive(Debug)]
struct CompactText {
    text: String,
    /// Pairs (start in `text`, leaf).
    leaves: Vec<(usize, NodeId)>,
}

impl CompactText {
    fn new(tree: &Tree, fold: bool) -> Self {
        let mut found = Self { text: String::new(), leaves: Vec::new() };
        for leaf in tree.nodes().filter(|n| n.is_text() && !n.name().is_empty()) {
            found.leaves.push((found.text.len(), leaf.id()));
            for word in normalize_typed_text(leaf.name()).split(' ') {
                if fold { found.text.push_str(&word.to_lowercase()) } else { found.text.push_str(word) }
            }
        }
        found
    }

    /// Returns the index of the leaf at a byte offset.
    fn leaf(&self, at: usize) -> usize {
        self.leaves.partition_point(|&(begin, _)| begin <= at) - 1
    }

    fn end(&self, leaf: usize) -> usize {
        self.leaves.get(leaf + 1).map_or(self.text.len(), |&(begin, _)| begin)
    }
}

impl TextIndex {
    pub(super) fn new(tree: &Tree) -> Self {
        Self { exact: CompactText::new(tree, false), folded: None }
    }

    /// Returns the smallest elements whose text matches the wanted text. Omits elements inside a
    /// control, or inside another element named by its content, if the name of that outer element
    /// matches.
    pub(super) fn find_holders(&mut self, tree: &Tree, wanted: &WantedText<'_>) -> HashSet<NodeId> {
        let mut found = HashSet::new();
        let compact: String = wanted.text.split_whitespace().collect();
        if compact.is_empty() {
            return found;
        }
        let all = match wanted.compare {
            Compare::Contains => self.folded.get_or_insert_with(|| CompactText::new(tree, true)),
            Compare::Equals | Compare::StartsWith | Compare::EndsWith => &self.exact,
        };
        let mut from = 0;
        while let Some(at) = all.text[from..].find(&compact) {
            let (begin, end) = (from + at, from + at + compact.len());
            let (first, last) = (all.leaf(begin), all.leaf(end - 1));
            // A leaf that does not contain the text may contain its beginning, with the end in the
            // next leaf.
            let is_whole = first == last && wanted.is(tree.node(all.leaves[first].1).name());
            // Overlapping occurrences have the same holders, so one per leaf is enough.
            from = if is_whole { all.end(first) } else { begin + first_char(&compact) };
            if first == last && !is_whole {
                continue;
            }
            let Some(holder) = common_ancestor(tree, all.leaves[first].1, all.leaves[last].1) else {
                continue;
            };
            let inside = |leaf: Option<&(usize, NodeId)>| leaf.is_some_and(|&(_, l)| holder.contains(l));
            let starts = || {
                let before = first.checked_sub(1).and_then(|before| all.leaves.get(before));
                begin == all.leaves[first].0 && !inside(before)
            };
            // In a single leaf, whose end was compared above, a later occurrence may be the last
            // one.
            let ends = || (first == last || end == all.end(last)) && !inside(all.leaves.get(last + 1));
            let is_match = match wanted.compare {
                Compare::Contains => true,
                Compare::Equals => starts() && ends(),
                Compare::StartsWith => starts(),
                Compare::EndsWith => ends(),
            };
            if is_match && !is_part_of_control(holder, wanted) {
                found.insert(holder.id());
            }
        }
        found
    }
}

fn first_char(s: &str) -> usize {
    s.chars().next().map_or(1, char::len_utf8)
}

/// Returns the smallest element around two leaves.
fn common_ancestor(tree: &Tree, first: NodeId, last: NodeId) -> Option<NodeRef<'_>> {
    tree.node(first).ancestors().find(|n| n.contains(last))
}

/// Returns whether `holder` is inside an actionable element, or an element named by its content,
/// whose name matches.
fn is_part_of_control(holder: NodeRef<'_>, wanted: &WantedText<'_>) -> bool {
    std::iter::once(holder).chain(holder.ancestors()).any(|n| {
        (n.is(States::NAME_FROM_CONTENT) || n.is(States::ACTIONABLE)) && n != holder && wanted.is(n.name())
    })
}
