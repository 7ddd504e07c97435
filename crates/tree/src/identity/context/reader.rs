//! Reads the facts of a tree, segment by segment.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::fact::{ElementContent, FactKind, Segment, SegmentBuilder, SegmentKey, handle_hash};
use super::map::{Context, ContextMap};
use super::node_facts::{
    MAX_FACT_CHARS, append_stable_content, is_toggle, list_of, new_fact, node_text, note_selected,
    visit_document_facts, visit_element_facts,
};
use super::segments::{is_message, is_same_origin_frame, is_segment_root, segment_key};
use crate::identity::records::Records;
use crate::identity::rows::text::{is_field, leaf_text};
use crate::identity::surroundings::popup::is_popup;
use crate::{Attr, NodeId, NodeRef, Role, States};

/// Reads contexts from one tree.
pub struct ContextReader<'r, 't> {
    records: &'r Records<'t>,
    is_segment_root: fn(&Records<'_>, NodeRef<'_>) -> bool,
    /// The nodes that are selected, current or checked, in order.
    selected_nodes: Vec<NodeId>,
    /// The buttons whose menu or section is open, in order.
    expanded: Vec<NodeId>,
    /// The dialogs, in order.
    dialogs: Vec<NodeId>,
}

impl<'r, 't> ContextReader<'r, 't> {
    /// Creates a reader for the tree of these records.
    #[must_use]
    pub fn new(records: &'r Records<'t>) -> Self {
        Self::with_segments(records, is_segment_root)
    }

    /// Creates a reader with other segment boundaries, to measure their effect.
    #[doc(hidden)]
    #[must_use]
    pub fn with_segments(
        records: &'r Records<'t>,
        is_segment_root: fn(&Records<'_>, NodeRef<'_>) -> bool,
    ) -> Self {
        let marks = States::SELECTED | States::CHECKED;
        let is_marked = |n: &NodeRef<'_>| {
            n.states().intersects(marks) || n.attr(Attr::Current).or(n.attr(Attr::Chosen)).is_some()
        };
        let (mut selected_nodes, mut expanded, mut dialogs) = (Vec::new(), Vec::new(), Vec::new());
        for node in records.tree().nodes() {
            if is_marked(&node) {
                selected_nodes.push(node.id());
            }
            if node.is(States::EXPANDED) && matches!(node.role(), Role::Button | Role::Clickable) {
                expanded.push(node.id());
            }
            if matches!(node.role(), Role::Dialog | Role::AlertDialog) {
                dialogs.push(node.id());
            }
        }
        Self { records, is_segment_root, selected_nodes, expanded, dialogs }
    }

    /// Returns the segments around a node, innermost first. A dialog is followed by the dialogs
    /// before it in the document, which count as opened earlier.
    fn segments_around(&self, node: NodeRef<'t>) -> Vec<NodeRef<'t>> {
        let tree = self.records.tree();
        let mut found: Vec<NodeRef<'t>> = Vec::new();
        for segment in std::iter::once(node).chain(node.ancestors()).filter(|n| self.is_segment(*n)) {
            found.push(segment);
            if self.dialogs.binary_search(&segment.id()).is_ok() {
                let below = self.dialogs.iter().map(|&d| tree.node(d));
                let below = below.take_while(|d| d.id() < segment.id());
                let nested = below.filter(|d| !d.contains(segment.id()) && self.is_segment(*d));
                found.extend(nested);
            }
        }
        found
    }

    /// Returns the context of an element: the chain of segments around it.
    #[must_use]
    pub fn context(&self, element: NodeId) -> Context {
        let element = self.records.tree().node(element);
        let segments = self.segments_around(element);
        let mut keys: Vec<SegmentKey> =
            std::iter::once(element).chain(element.ancestors()).map(segment_key).collect();
        for below in segments.iter().map(|n| segment_key(*n)) {
            if !keys.contains(&below) {
                keys.push(below);
            }
        }
        keys.retain(|key| *key != SegmentKey::Unnamed);
        Context { segments: segments.into_iter().map(|n| Arc::new(self.read(n))).collect(), enclosing: keys }
    }

    /// Returns the facts of the whole tree, except for segments that the device cannot identify.
    #[must_use]
    pub fn map(&self) -> ContextMap {
        let segments = self.records.tree().nodes().filter(|n| self.is_segment(*n));
        let segments =
            segments.filter(|n| segment_key(*n) != SegmentKey::Unnamed).map(|n| Arc::new(self.read(n)));
        ContextMap::new(segments.collect())
    }

    /// Adds to `seen` the segments around these nodes that the client sees for the first time:
    /// those that are neither in `seen` nor returned by `known_segments`.
    pub fn adopt_new(
        &self,
        nodes: &[NodeId],
        seen: &mut ContextMap,
        known_segments: impl Fn(&HashSet<SegmentKey>) -> HashSet<SegmentKey>,
    ) {
        let tree = self.records.tree();
        let mut requested = HashSet::new();
        let mut new = Vec::new();
        for &node in nodes {
            for segment in self.segments_around(tree.node(node)) {
                // The segments around this one were visited before.
                if !requested.insert(segment.id()) {
                    break;
                }
                if !seen.has(segment_key(segment)) {
                    new.push(segment);
                }
            }
        }
        if new.is_empty() {
            return;
        }
        let known = known_segments(&new.iter().map(|segment| segment_key(*segment)).collect());
        new.retain(|segment| !known.contains(&segment_key(*segment)));
        seen.replace(new.into_iter().map(|segment| Arc::new(self.read(segment))));
    }

    /// Returns up to `max` nodes outside an element that have facts in the element's context,
    /// nearest first. A device guards their content until the input has arrived.
    #[must_use]
    pub fn context_nodes(&self, element: NodeId, max: usize) -> Vec<NodeId> {
        let tree = self.records.tree();
        let element = tree.node(element);
        let mut found = Vec::new();
        for segment in self.segments_around(element) {
            self.visit(segment, |node, _, _| {
                if found.last() != Some(&node.id()) && !element.contains(node.id()) {
                    found.push(node.id());
                }
            });
            if found.len() >= max {
                break;
            }
        }
        found.truncate(max);
        found
    }

    /// Returns the nodes and facts that belong to an element itself and are judged like its name
    /// and states. For a field, a named control or an element named by its content, these are all
    /// of its content. Any other element counts with its own node alone: the content of a card or
    /// row that is pressed as a whole identifies the record.
    #[must_use]
    pub fn own_content(&self, element: NodeId) -> ElementContent {
        let element = self.records.tree().node(element);
        let named = element.is(States::NAME_FROM_CONTENT)
            || element.role().is_control() && !element.name().is_empty();
        let nodes = element.subtree().take(if named || is_field(element) { usize::MAX } else { 1 });
        let mut content = ElementContent::default();
        let mut texts = HashMap::new();
        for node in nodes {
            if let Some(handle) = node.handle() {
                content.ids.insert(handle_hash(Some(handle)));
                continue;
            }
            let mut found = |node, kind, text: &str| {
                content.unnamed.insert((kind, new_fact(node, kind, &mut texts).shape, text.to_owned()));
            };
            if !node.is_text() {
                visit_element_facts(node, &mut found);
            } else if let Some(text) = leaf_text(node) {
                found(node, FactKind::Text, &text);
            }
        }
        content
    }

    fn is_segment(&self, node: NodeRef<'t>) -> bool {
        node.id() == NodeId::ROOT || (self.is_segment_root)(self.records, node)
    }

    fn read(&self, segment: NodeRef<'t>) -> Segment {
        let mut builder = SegmentBuilder::default();
        let mut texts: HashMap<u64, u64> = HashMap::new();
        self.visit(segment, |node, kind, text| {
            let fact = new_fact(node, kind, &mut texts);
            let end = text.char_indices().nth(MAX_FACT_CHARS).map_or(text.len(), |(at, _)| at);
            builder.push(fact, &text[..end]);
        });
        builder.finish(segment_key(segment))
    }

    /// Calls `found` with the node, kind and text of each fact of a segment: first in document
    /// order, then for the selections and the open button.
    fn visit(&self, segment: NodeRef<'t>, mut found: impl FnMut(NodeRef<'t>, FactKind, &str)) {
        if segment.role() == Role::Document {
            visit_document_facts(segment, &mut found);
        }
        let tree = segment.tree();
        // The selected items per list, reported after the walk.
        let mut selected: BTreeMap<NodeId, String> = BTreeMap::new();
        let mut next = segment.id();
        let end = segment.subtree_end();
        while next < end {
            let node = tree.node(next);
            if node != segment && self.is_segment(node) {
                if node.role() == Role::Document {
                    // The content of a nested document belongs to that document, but its identity
                    // belongs to this segment.
                    visit_document_facts(node, &mut found);
                } else {
                    self.selection_in(node, &mut selected);
                }
                next = node.subtree_end();
                continue;
            }
            if node.is_text() {
                if let Some(text) = leaf_text(node) {
                    found(node, FactKind::Text, &text);
                }
            } else {
                if node != segment && node.role() == Role::Document && is_same_origin_frame(node) {
                    visit_document_facts(node, &mut found);
                }
                visit_element_facts(node, &mut found);
                if node != segment
                    && self.selected_nodes.binary_search(&node.id()).is_ok()
                    && !is_toggle(node)
                {
                    note_selected(&mut selected, list_of(node), node);
                }
                if node.is(States::EDIT_HOST) {
                    // Text that a person writes is one value, not text from the app.
                    found(node, FactKind::Value, &node_text(node));
                    next = node.subtree_end();
                    continue;
                }
            }
            next.0 += 1;
        }
        for (list, items) in &selected {
            found(tree.node(*list), FactKind::Selected, items);
        }
        if let Some(words) = self.expanded_in(segment) {
            found(segment, FactKind::Expanded, &words);
        }
    }

    /// Returns the name of the only expanded button in a segment, with the text of its row. Content
    /// that appears elsewhere may belong to this button. `None` if no button or several buttons are
    /// expanded.
    fn expanded_in(&self, segment: NodeRef<'t>) -> Option<String> {
        let from = self.expanded.partition_point(|&n| n < segment.id());
        let mut inside = self.expanded[from..].iter().take_while(|&&n| n < segment.subtree_end());
        let (&one, None) = (inside.next()?, inside.next()) else { return None };
        let button = segment.tree().node(one);
        let mut words = button.name().to_owned();
        let row = button.ancestors().take_while(|n| *n != segment).find(|n| self.is_segment(*n));
        if let Some(row) = row {
            append_stable_content(row, &mut words);
        }
        Some(words)
    }

    /// Records the selection in a nested segment. For a row in which something is selected, this is
    /// the row itself with its text; for a list box, the selected items. Ignores other popups,
    /// messages and complementary sections.
    fn selection_in(&self, row: NodeRef<'t>, selected: &mut BTreeMap<NodeId, String>) {
        let from = self.selected_nodes.partition_point(|&n| n < row.id());
        let selected_nodes = self.selected_nodes[from..].iter().take_while(|&&n| n < row.subtree_end());
        let tree = row.tree();
        let is_list = is_popup(row);
        if !is_list {
            // One mark suffices to show that the row is selected.
            if selected_nodes.clone().next().is_some()
                && !is_message(row)
                && row.role() != Role::Complementary
            {
                note_selected(selected, row.parent().map_or(row.id(), list_of), row);
            }
            return;
        }
        if row.role() == Role::ListBox {
            for &item in selected_nodes {
                note_selected(selected, row.id(), tree.node(item));
            }
        }
    }
}
