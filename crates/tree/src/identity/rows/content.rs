//! The content of rows, and what distinguishes a row from the others.
//!
//! A container consists of the rows with one parent. Everything about it is computed once per
//! capture, however many elements use it.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::identity::fingerprint::{Fingerprint, TextKind};
use crate::identity::rows::field_values::Values;
use crate::identity::rows::keys::{self, RowKey};
use crate::identity::rows::numbers::{is_number, is_volatile};
use crate::identity::rows::text::{is_field, leaf_text, walk};
use crate::identity::step_count;
use crate::{Attr, NodeId, NodeRef, Role, States, StrId, Tree};

/// Rows with one parent, in order.
#[derive(Debug)]
pub(crate) struct Container {
    pub(crate) ids: Vec<NodeId>,
    rows: OnceCell<Vec<Arc<Row>>>,
    names: OnceCell<HashMap<(Role, StrId), Option<u32>>>,
    values: OnceCell<Arc<Values>>,
    similar: OnceCell<Vec<bool>>,
}

/// The content of a row. Lists sorted by fingerprint serve lookups; those in document order provide
/// evidence.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) key: Option<RowKey>,
    pub(crate) raw_key: Option<Fingerprint>,
    pub(crate) text: RowFingerprints,
    pub(crate) names: RowFingerprints,
    /// The names of row headers that contain no text leaves, as on most desktops.
    pub(crate) headers: RowFingerprints,
    pub(crate) numbers: RowFingerprints,
    pub(crate) values: RowFingerprints,
    /// The texts that are labels of fields in the row, in document order.
    labels: Vec<NodeId>,
    /// Whether the label of a field distinguishes the row. A label that all rows have, such as
    /// `Quantity`, does not make the rows a form.
    pub(crate) is_of_form: bool,
}

/// Fingerprints of one kind in a row, each with its node.
#[derive(Debug, Default)]
pub(crate) struct RowFingerprints {
    /// All fingerprints, sorted.
    all: Vec<(Fingerprint, NodeId)>,
    /// The fingerprints that no other row of the container has, in document order.
    pub(crate) distinguishing: Vec<(NodeId, Fingerprint)>,
}

impl RowFingerprints {
    /// Returns whether the row has this fingerprint outside an element.
    pub(crate) fn has(&self, fingerprint: Fingerprint, outside: &Range<NodeId>) -> bool {
        let from = self.all.partition_point(|&(p, _)| p < fingerprint);
        self.all[from..].iter().take_while(|&&(p, _)| p == fingerprint).any(|&(_, n)| is_outside(n, outside))
    }

    /// Returns all fingerprints outside an element.
    pub(crate) fn outside<'a>(
        &'a self,
        element: &'a Range<NodeId>,
    ) -> impl Iterator<Item = Fingerprint> + 'a {
        self.all.iter().filter(|&&(_, n)| is_outside(n, element)).map(|&(p, _)| p)
    }

    /// Returns the distinguishing fingerprints outside an element, in document order.
    pub(crate) fn distinguishing_outside<'a>(
        &'a self,
        element: NodeRef<'a>,
    ) -> impl Iterator<Item = (NodeId, Fingerprint)> + 'a {
        let element = range_of(element);
        self.distinguishing.iter().copied().filter(move |&(n, _)| is_outside(n, &element))
    }
}

/// Returns whether a node provides evidence about an element's row: nodes below the element do not,
/// but the element's own link target does.
fn is_outside(node: NodeId, element: &Range<NodeId>) -> bool {
    step_count::count_step();
    node <= element.start || node >= element.end
}

/// Returns the node range of an element and its descendants.
pub(crate) fn range_of(element: NodeRef<'_>) -> Range<NodeId> {
    element.id()..element.subtree_end()
}

impl Row {
    /// Returns whether the row belongs to a form. A row without siblings shares no labels, so all
    /// of its texts must be labels.
    fn is_form_row(&self, only_row: bool) -> bool {
        let is_label = |(id, _): &(NodeId, Fingerprint)| {
            step_count::count_step();
            self.labels.binary_search(id).is_ok()
        };
        let mut telling = self.text.distinguishing.iter();
        if only_row { !self.labels.is_empty() && telling.all(is_label) } else { telling.any(is_label) }
    }
}

impl Row {
    /// Returns all texts, link targets and numbers of the row, sorted, including those that other
    /// rows share. Omits volatile texts other than numbers.
    pub(crate) fn all_fingerprints(&self) -> Vec<Fingerprint> {
        let mut fingerprints: Vec<Fingerprint> =
            self.text.all.iter().chain(&self.numbers.all).map(|&(fingerprint, _)| fingerprint).collect();
        fingerprints.sort_unstable();
        fingerprints
    }
}

impl Container {
    pub(crate) fn new(ids: Vec<NodeId>) -> Self {
        Self {
            ids,
            rows: OnceCell::new(),
            names: OnceCell::new(),
            values: OnceCell::new(),
            similar: OnceCell::new(),
        }
    }

    /// Returns for each row whether `find` counts another row as similar. `find` is called once.
    pub(crate) fn similar(&self, find: impl FnOnce(&[NodeId]) -> Vec<bool>) -> &[bool] {
        self.similar.get_or_init(|| find(&self.ids))
    }

    pub(crate) fn index_of(&self, id: NodeId) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }

    /// Returns the rows, read and compared with each other once.
    pub(crate) fn rows(&self, tree: &Tree) -> &[Arc<Row>] {
        self.rows.get_or_init(|| {
            let nodes: Vec<NodeRef<'_>> = self.ids.iter().map(|&id| tree.node(id)).collect();
            let mut rows: Vec<Row> = nodes.iter().map(|&n| read_row(n)).collect();
            for ((row, key), node) in rows.iter_mut().zip(keys::keys_of(&nodes)).zip(&nodes) {
                row.key = key;
                row.raw_key = keys::raw_key(*node);
            }
            mark_distinguishing(&mut rows, |r| &mut r.text);
            mark_distinguishing(&mut rows, |r| &mut r.names);
            mark_distinguishing(&mut rows, |r| &mut r.headers);
            mark_distinguishing(&mut rows, |r| &mut r.numbers);
            mark_distinguishing(&mut rows, |r| &mut r.values);
            let only_row = rows.len() == 1;
            for row in &mut rows {
                row.is_of_form = row.is_form_row(only_row);
            }
            rows.into_iter().map(Arc::new).collect()
        })
    }

    /// Returns the field values that distinguish the rows.
    pub(crate) fn values(&self, tree: &Tree) -> &Arc<Values> {
        self.values.get_or_init(|| {
            let rows = self.rows(tree).iter().enumerate();
            let values = rows.flat_map(|(at, r)| r.values.distinguishing.iter().map(move |&(_, p)| (p, at)));
            Arc::new(Values::new(values.collect()))
        })
    }

    /// Returns whether no other row has an element with this role and name.
    pub(crate) fn is_own_name(&self, row: usize, element: NodeRef<'_>) -> bool {
        let tree = element.tree();
        let names = self.names.get_or_init(|| {
            let mut names = HashMap::new();
            for (at, &id) in (0_u32..).zip(&self.ids) {
                step_count::count_step();
                for n in tree.node(id).subtree().skip(1).filter(|n| !n.is_text() && !n.name().is_empty()) {
                    let only = names.entry((n.role(), n.name_id())).or_insert(Some(at));
                    if *only != Some(at) {
                        *only = None;
                    }
                }
            }
            names
        });
        let only = names.get(&(element.role(), element.name_id())).copied().flatten();
        only.is_some_and(|at| at as usize == row)
    }
}

/// Finds the fingerprints that only one row of the container has, and sorts all fingerprints for
/// lookups.
fn mark_distinguishing(rows: &mut [Row], part: impl Fn(&mut Row) -> &mut RowFingerprints) {
    const SHARED: usize = usize::MAX;
    let mut owner: HashMap<Fingerprint, usize> = HashMap::new();
    for (at, row) in rows.iter_mut().enumerate() {
        for &(fingerprint, _) in &part(row).all {
            step_count::count_step();
            let owner = owner.entry(fingerprint).or_insert(at);
            if *owner != at {
                *owner = SHARED;
            }
        }
    }
    for (at, row) in rows.iter_mut().enumerate() {
        let fingerprints = part(row);
        // Still in document order here.
        fingerprints.distinguishing =
            fingerprints.all.iter().filter(|(p, _)| owner[p] == at).map(|&(p, n)| (n, p)).collect();
        fingerprints.all.sort_unstable();
    }
}

fn read_row(row: NodeRef<'_>) -> Row {
    let mut found = Row::default();
    // Text before this node does not belong to the record; names of controls and values are still
    // read.
    let mut from = NodeId(0);
    let mut fields: HashSet<Fingerprint> = HashSet::new();
    walk(row, |n| {
        let id = n.id();
        if n.is_text() {
            if id >= from
                && let Some(text) = leaf_text(n)
            {
                if !is_volatile(&text) {
                    found.text.all.push((Fingerprint::of(TextKind::Text, &text), id));
                }
                if is_number(&text) {
                    found.numbers.all.push((Fingerprint::of(TextKind::Number, &text), id));
                }
            }
            return true;
        }
        if id >= from
            && let Some(link) = link_path(n)
        {
            found.text.all.push((Fingerprint::of(TextKind::Link, &link), id));
        }
        if n.is(States::ACTIONABLE)
            && matches!(n.role(), Role::Button | Role::Link | Role::MenuItem)
            && !n.name().is_empty()
            && !is_volatile(n.name())
        {
            found.names.all.push((Fingerprint::of(TextKind::Name, n.name()), id));
        }
        if n.role() == Role::RowHeader
            && n.children().next().is_none()
            && !n.name().is_empty()
            && !is_volatile(n.name())
        {
            found.headers.all.push((Fingerprint::of(TextKind::Name, n.name()), id));
        }
        if is_field(n) && !n.value().is_empty() && !n.is(States::PROTECTED) {
            found.values.all.push((Fingerprint::of(TextKind::Value, n.value()), id));
        }
        if (n.role().holds_a_value() || n.is(States::EDIT_HOST)) && !n.name().is_empty() {
            fields.insert(field_label(n.name()));
        }
        let button =
            matches!(n.role(), Role::Button | Role::MenuItem | Role::MenuItemCheckbox | Role::MenuItemRadio);
        if button || is_field(n) || n.is(States::LIVE) || n.is(States::TIME) {
            from = from.max(n.subtree_end());
        }
        !n.is(States::EDIT_HOST)
    });
    if !fields.is_empty() {
        // Labels may come before or after their fields.
        let is_label = |id: NodeId| {
            let n = row.tree().node(id);
            n.is_text() && leaf_text(n).is_some_and(|text| fields.contains(&field_label(&text)))
        };
        found.labels = found.text.all.iter().map(|&(_, id)| id).filter(|&id| is_label(id)).collect();
    }
    found
}

/// Returns a fingerprint of the name or the label of a field, without white space, colons and
/// asterisks around it.
fn field_label(text: &str) -> Fingerprint {
    Fingerprint::of(
        TextKind::Name,
        text.trim_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '：' | '*')),
    )
}

/// Returns the target of a link. Omits a query that equals the query of the page, because such a
/// query does not distinguish records. `None` for a node without a target, and for `#` and scripts,
/// which lead nowhere.
fn link_path(link: NodeRef<'_>) -> Option<String> {
    let href = link.attr(Attr::Href).filter(|h| *h != "#" && !h.starts_with("javascript:"))?;
    let Some((path, query)) = href.split_once('?') else { return Some(href.to_owned()) };
    let without_fragment = |q: &str| q.split('#').next().unwrap_or("").to_owned();
    let of_page = link.document().url.split_once('?').map(|(_, q)| without_fragment(q));
    if of_page.is_some_and(|q| q == without_fragment(query)) {
        return Some(path.to_owned());
    }
    Some(href.to_owned())
}
