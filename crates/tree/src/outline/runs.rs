//! Cuts runs of siblings of the same kind: a thousand rows are no more informative than
//! twenty-five.

use super::draft::{Draft, Fate};
use crate::{Attr, NodeId, NodeRef, Role};
use std::collections::BTreeMap;

/// The length above which a run is cut.
const MAX_RUN: usize = 30;
/// The number of items kept at the beginning of a cut run.
const KEPT_ITEMS: usize = 25;

/// A gap in a run.
#[derive(Debug, Clone)]
pub(super) struct OmittedItems {
    /// The number of missing items.
    pub(super) count: usize,
    /// The role of the items.
    pub(super) role: Role,
    /// The container to pass to `-s` to see the items, if one can be named.
    pub(super) within: Option<NodeId>,
    /// Whether this is the first gap of its run, whose line explains how to see the rest.
    pub(super) first: bool,
}

/// Drops the items of runs beyond the limit, except those that contain a node for which `has_ref`
/// returns true. Returns the gaps, keyed by their first dropped node.
pub(super) fn cut_runs(
    draft: &mut Draft<'_>,
    has_ref: &dyn Fn(NodeId) -> bool,
) -> BTreeMap<NodeId, OmittedItems> {
    let mut gaps = BTreeMap::new();
    let tree = draft.tree;
    let counts = LineCounts::new(draft);
    let parents: Vec<NodeRef<'_>> = draft.nodes().filter(|n| n.children().nth(MAX_RUN).is_some()).collect();
    for parent in parents {
        if std::iter::once(parent).chain(parent.ancestors()).any(|n| draft.fate_of(n) == Fate::Drop) {
            continue; // in an item that has already been cut
        }
        // Children without a line (white space, decoration) do not interrupt a run.
        let children: Vec<NodeRef<'_>> = parent.children().filter(|c| counts.lines_of(*c) > 0).collect();
        for run in children
            .chunk_by(|a, b| similarity_key(*a) == similarity_key(*b))
            .filter(|run| run.len() > MAX_RUN)
        {
            let within = scope_of(parent);
            let mut gap: Option<NodeId> = None;
            let mut first = true;
            for &item in &run[KEPT_ITEMS..] {
                if item.subtree().any(|n| has_ref(n.id())) {
                    gap = None;
                    continue;
                }
                draft.drop(item);
                let at = *gap.get_or_insert_with(|| {
                    let more =
                        OmittedItems { count: 0, role: item.role(), within: within.map(NodeRef::id), first };
                    first = false;
                    gaps.insert(item.id(), more);
                    item.id()
                });
                gaps.get_mut(&at).expect("just inserted").count += 1;
            }
            if let (Some(container), false) = (within, first) {
                draft.show(tree.node(container.id()));
            }
        }
    }
    gaps
}

/// Returns the nearest container that a ref can name, skipping wrappers, documents, row groups,
/// paragraphs and texts.
fn scope_of(parent: NodeRef<'_>) -> Option<NodeRef<'_>> {
    std::iter::once(parent).chain(parent.ancestors()).find(|n| {
        n.address().is_some()
            && !matches!(
                n.role(),
                Role::Generic | Role::Document | Role::RowGroup | Role::Paragraph | Role::Text
            )
    })
}

/// Returns the properties that the siblings of a run have in common.
fn similarity_key(node: NodeRef<'_>) -> (Role, &str, &str) {
    // Elements without a role are distinguished by the first word of their class: `row odd`, `row
    // even`.
    let class = match node.role() {
        Role::Generic | Role::Clickable => {
            node.attr(Attr::Class).and_then(|c| c.split_whitespace().next()).unwrap_or("")
        }
        _ => "",
    };
    (node.role(), node.tag(), class)
}

/// The number of lines before each position.
struct LineCounts(Vec<u32>);

impl LineCounts {
    fn new(draft: &Draft<'_>) -> Self {
        let mut before = vec![0; draft.tree.len() + 1];
        for node in draft.nodes().filter(|n| draft.shows(*n)) {
            before[node.id().index() + 1] = 1;
        }
        let mut sum = 0;
        for n in &mut before {
            sum += *n;
            *n = sum;
        }
        Self(before)
    }

    fn lines_of(&self, node: NodeRef<'_>) -> u32 {
        self.0[node.subtree_end().index()] - self.0[node.id().index()]
    }
}
