//! Pairs the lines of two outlines.

use super::DiffQueries;
use crate::model::pairing::pair_equal;
use crate::outline::{Draft, DraftLine, View, distilled_draft};
use crate::{NodeId, NodeRef, Role, States, Tree};
use hashbrown::{HashMap, HashSet};
use std::collections::VecDeque;

/// Two outlines and the pairs of their lines.
#[derive(Debug)]
pub(super) struct AlignedOutlines<'t> {
    pub(super) old: OutlineSide<'t>,
    pub(super) new: OutlineSide<'t>,
    /// For each line of the old outline, the index of the paired line of the new outline, if any.
    pub(super) to_new: Vec<Option<usize>>,
    /// For each line of the new outline, the index of the paired line of the old outline, if any.
    pub(super) to_old: Vec<Option<usize>>,
    /// The new outline's lines whose elements were in the old tree without lines of their own.
    pub(super) was_folded: HashSet<usize>,
    /// The old outline's lines that have no partner but do not count as removed. Their elements are
    /// in the new tree without lines of their own, or were never shown.
    pub(super) is_folded: HashSet<usize>,
}

/// One of the two outlines, with its lines.
#[derive(Debug)]
pub(super) struct OutlineSide<'t> {
    pub(super) draft: Draft<'t>,
    pub(super) lines: Vec<DraftLine<'t>>,
    at: HashMap<NodeId, usize>,
}

impl<'t> OutlineSide<'t> {
    fn new(tree: &'t Tree, view: &View) -> Self {
        let view = View { interactive: view.interactive, ..View::default() };
        let mut draft = distilled_draft(tree, &view);
        let lines = draft.lines();
        let at = lines.iter().enumerate().map(|(at, l)| (l.node.id(), at)).collect();
        Self { draft, lines, at }
    }

    pub(super) fn label(&self, at: usize) -> &str {
        self.draft.label(self.lines[at].node)
    }

    fn line_text(&self, at: usize) -> Option<(Role, &str)> {
        Some((self.lines[at].node.role(), self.label(at)))
    }

    fn has_text_below(&self, at: usize, text: &str) -> bool {
        let end = self.lines[at].node.subtree_end();
        let below = self.lines[at + 1..].iter().take_while(|l| l.node.id() < end);
        below.filter(|l| l.parent == Some(at) && l.node.is_text()).any(|l| self.draft.label(l.node) == text)
    }

    /// Returns the child lines of each line; `None` stands for the top level.
    fn children(&self) -> HashMap<Option<usize>, Vec<usize>> {
        let mut children: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        for (at, line) in self.lines.iter().enumerate() {
            children.entry(line.parent).or_default().push(at);
        }
        children
    }
}

/// Returns whether no ref was issued for the old node and the new node is a control in another
/// document.
fn is_unseen(old: NodeRef<'_>, new: NodeRef<'_>, queries: &DiffQueries<'_>) -> bool {
    let is_control = new.is(States::ACTIONABLE) || new.role().is_control();
    is_control && old.document().scope != new.document().scope && !(queries.issued)(old.id())
}

impl<'t> AlignedOutlines<'t> {
    pub(super) fn new(
        old: &'t Tree,
        new: &'t Tree,
        pairs: &[(NodeId, NodeId)],
        view: &View,
        queries: &DiffQueries<'_>,
    ) -> Self {
        let sides = (OutlineSide::new(old, view), OutlineSide::new(new, view));
        let mut aligned = Self {
            to_new: vec![None; sides.0.lines.len()],
            to_old: vec![None; sides.1.lines.len()],
            was_folded: HashSet::new(),
            is_folded: HashSet::new(),
            old: sides.0,
            new: sides.1,
        };
        for &(a, b) in pairs {
            match (aligned.old.at.get(&a), aligned.new.at.get(&b)) {
                // A control in another document counts as new if no ref to the old node was issued,
                // because the old node was never shown: its run of similar siblings was cut.
                (Some(&old_at), Some(_)) if is_unseen(old.node(a), new.node(b), queries) => {
                    aligned.is_folded.insert(old_at);
                }
                (Some(&a), Some(&b)) => aligned.pair(a, b),
                (None, Some(&b)) => {
                    aligned.was_folded.insert(b);
                }
                (Some(&a), None) => {
                    aligned.is_folded.insert(a);
                }
                (None, None) => {}
            }
        }
        aligned.pair_by_content(queries);
        aligned
    }

    fn pair(&mut self, old: usize, new: usize) {
        if self.to_new[old].is_none() && self.to_old[new].is_none() {
            self.to_new[old] = Some(new);
            self.to_old[new] = Some(old);
        }
    }

    /// Pairs lines without identity, from the top down, among the children of paired lines.
    fn pair_by_content(&mut self, queries: &DiffQueries<'_>) {
        let (old_children, new_children) = (self.old.children(), self.new.children());
        let none = Vec::new();
        let mut open: VecDeque<(Option<usize>, Option<usize>)> = VecDeque::from([(None, None)]);
        while let Some((a, b)) = open.pop_front() {
            let olds = old_children.get(&a).unwrap_or(&none);
            let news = new_children.get(&b).unwrap_or(&none);
            self.pair_children(olds, news, queries);
            open.extend(olds.iter().filter_map(|&o| self.to_new[o].map(|n| (Some(o), Some(n)))));
        }
        // Also handle lines that are paired by identity below unpaired parents.
        for old in 0..self.to_new.len() {
            let Some(new) = self.to_new[old] else { continue };
            let parents = (self.old.lines[old].parent, self.new.lines[new].parent);
            if !matches!(parents, (Some(a), Some(b)) if self.to_new[a] == Some(b)) {
                let olds = old_children.get(&Some(old)).unwrap_or(&none);
                let news = new_children.get(&Some(new)).unwrap_or(&none);
                self.pair_children(olds, news, queries);
            }
        }
    }

    fn pair_children(&mut self, olds: &[usize], news: &[usize], queries: &DiffQueries<'_>) {
        let is_anonymous = |o: &usize| {
            self.to_new[*o].is_none()
                && !self.is_folded.contains(o)
                && !(queries.issued)(self.old.lines[*o].node.id())
        };
        let is_left = |n: &usize| self.to_old[*n].is_none() && !self.was_folded.contains(n);
        let mut unpaired: Vec<usize> = olds.iter().copied().filter(is_anonymous).collect();
        let mut right: Vec<usize> = news.iter().copied().filter(is_left).collect();
        let mut found = Vec::new();
        // First pair lines with the same words.
        let keys = (|o| self.old.line_text(o), |n| self.new.line_text(n));
        pair_equal(&mut unpaired, &mut right, keys, |o, n| found.push((o, n)));
        // Then pair texts that changed, in order: "2 items" became "3 items". Pair elements this
        // way only if they have no handles, because a different handle means a different element.
        let loose = |side: &OutlineSide<'t>, at: usize| {
            let node = side.lines[at].node;
            node.handle().is_none().then(|| node.role())
        };
        let keys = (|o| loose(&self.old, o), |n| loose(&self.new, n));
        pair_equal(&mut unpaired, &mut right, keys, |o, n| found.push((o, n)));
        found.into_iter().for_each(|(o, n)| self.pair(o, n));
    }

    /// Returns whether a text line of one outline repeats the label that the line of its container
    /// has in the other outline.
    pub(super) fn moved_between_name_and_text(&self, at: usize, new_side: bool) -> bool {
        let (here, there, to_there) = if new_side {
            (&self.new, &self.old, &self.to_old)
        } else {
            (&self.old, &self.new, &self.to_new)
        };
        let line = &here.lines[at];
        let counterpart = line.parent.and_then(|p| to_there[p]);
        line.node.is_text() && counterpart.is_some_and(|c| there.label(c) == here.label(at))
    }

    /// Returns whether two lines of the old outline are siblings with the same role.
    pub(super) fn are_similar_siblings(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.old.lines[a], &self.old.lines[b]);
        a.parent == b.parent && a.node.role() == b.node.role()
    }

    /// Returns whether one of two paired lines has no label, but a text line directly below it that
    /// equals the label of the other line.
    pub(super) fn have_same_text(&self, old_at: usize, new_at: usize) -> bool {
        let (was, is) = (self.old.label(old_at), self.new.label(new_at));
        (is.is_empty() && self.new.has_text_below(new_at, was))
            || (was.is_empty() && self.old.has_text_below(old_at, is))
    }
}
