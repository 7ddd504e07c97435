//! Finds candidates for an issued element: nodes with its role and name, indexed by possible
//! evidence.

use std::rc::Rc;

use hashbrown::HashMap;

use crate::identity::evidence::Evidence;
use crate::identity::fingerprint::{Fingerprint, TextKind};
use crate::identity::meaning::MeaningData;
use crate::identity::record::ElementSurroundings;
use crate::identity::records::Records;
use crate::identity::step_count;
use crate::{NodeId, NodeRef, Role};

/// The maximum number of nodes for which judging each one is faster than indexing their evidence.
const MAX_UNINDEXED: usize = 4;

/// Nodes by role and name. A node is listed under its full name and under its name without counts.
pub(crate) type NodesByName = HashMap<(Role, Fingerprint), Vec<NodeId>>;

/// Nodes with the same role and name, by similarity key.
#[derive(Debug, Default)]
pub(crate) struct SimilarNodes {
    all: Vec<NodeId>,
    by_similarity_key: HashMap<Fingerprint, Vec<NodeId>>,
}

/// Returns the nodes for which a meaning could hold: those with its role and name. If there are
/// many and the evidence of the meaning is indexed, returns only those that share some of the
/// evidence. Always includes the nodes in the meaning's row, if the row identifies the element and
/// still exists.
pub(crate) fn candidates(records: &Records<'_>, last: &MeaningData) -> Vec<NodeId> {
    let mut found = Vec::new();
    for name in searched_names(last) {
        let same_named = nodes_named(records, last.role, name);
        if same_named.len() <= MAX_UNINDEXED {
            found.extend(same_named);
            continue;
        }
        let similar_nodes = similar_nodes(records, last.role, name);
        let mut add_with = |fingerprints: &[Fingerprint]| {
            found
                .extend(fingerprints.iter().filter_map(|p| similar_nodes.by_similarity_key.get(p)).flatten());
        };
        match &last.record.evidence {
            Evidence::Key((_, fingerprint))
            | Evidence::Region(fingerprint)
            | Evidence::Address(fingerprint) => add_with(&[*fingerprint]),
            Evidence::Text { fingerprints, .. } | Evidence::Numbers { fingerprints, .. } => {
                add_with(fingerprints)
            }
            Evidence::Position { index, count, values } => {
                add_with(&values.own_values);
                add_with(&[position_fingerprint(*index, *count)]);
            }
            Evidence::Heading(title) if !records.has_title(title) => add_with(&[title.text]),
            Evidence::Window(title) if title.node.and_then(|n| records.node_at(n)).is_none() => {
                add_with(&[title.text]);
            }
            Evidence::Heading(_) | Evidence::Window(_) | Evidence::OwnName | Evidence::Always => {
                found.extend(&similar_nodes.all);
            }
        }
    }
    if let Some(row) =
        last.record.row.filter(|_| last.record.evidence.is_row()).and_then(|h| records.node_at(h))
    {
        found.extend(similar_nodes_inside(records, last, row));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the nodes inside `root` that have the role and name of a meaning.
pub(crate) fn similar_nodes_inside(
    records: &Records<'_>,
    last: &MeaningData,
    root: NodeRef<'_>,
) -> Vec<NodeId> {
    let mut found = Vec::new();
    for name in searched_names(last) {
        let list = nodes_named(records, last.role, name);
        let from = list.partition_point(|&n| n <= root.id());
        found.extend(list[from..].iter().take_while(|&&n| n < root.subtree_end()));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the nodes with a given role and name, in document order.
fn nodes_named<'r>(records: &'r Records<'_>, role: Role, name: Fingerprint) -> &'r [NodeId] {
    nodes_by_name(records).get(&(role, name)).map_or(&[], Vec::as_slice)
}

fn nodes_by_name<'r>(records: &'r Records<'_>) -> &'r NodesByName {
    records.nodes_by_name.get_or_init(|| {
        let mut named = NodesByName::new();
        for n in records.tree.nodes().filter(|n| !n.is_text()) {
            let exact = Fingerprint::of(TextKind::Name, n.name());
            named.entry((n.role(), exact)).or_default().push(n.id());
            let stable = records.stable_name(n);
            if stable != exact {
                named.entry((n.role(), stable)).or_default().push(n.id());
            }
        }
        named
    })
}

fn similar_nodes(records: &Records<'_>, role: Role, name: Fingerprint) -> Rc<SimilarNodes> {
    records.similar_nodes.get((role, name), || {
        let mut similar_nodes = SimilarNodes::default();
        for &id in nodes_named(records, role, name) {
            step_count::count_step();
            similar_nodes.all.push(id);
            for fingerprint in similarity_keys(&records.reader(records.tree.node(id)).surroundings()) {
                similar_nodes.by_similarity_key.entry(fingerprint).or_default().push(id);
            }
        }
        Rc::new(similar_nodes)
    })
}

/// Returns fingerprints of the names to search for: the name, and the name without counts if it
/// differs.
fn searched_names(last: &MeaningData) -> Vec<Fingerprint> {
    let exact = Fingerprint::of(TextKind::Name, &last.name);
    if last.stable_name == exact { vec![exact] } else { vec![exact, last.stable_name] }
}

fn position_fingerprint(index: usize, count: usize) -> Fingerprint {
    Fingerprint::of(TextKind::Position, &format!("{index} of {count}"))
}

/// Returns all fingerprints under which evidence may look up an element.
fn similarity_keys(context: &ElementSurroundings) -> Vec<Fingerprint> {
    let mut found: Vec<Fingerprint> = context.heading.into_iter().chain(context.region).collect();
    found.push(context.address);
    if let Some(at) = &context.row {
        let row = &*at.row;
        found.push(position_fingerprint(at.index, at.count));
        found.extend(row.key.map(|(_, fingerprint)| fingerprint));
        for traces in [&row.text, &row.names, &row.headers, &row.numbers, &row.values] {
            found.extend(traces.outside(&at.element));
        }
    }
    found
}
