//! Content matching: finds the node that replaced a node that is gone.
//!
//! On a device with identity, a match needs a reason to believe that the same record re-rendered.
//! Reasons are an equal row key, a surviving row node, several rows that re-rendered together,
//! replaced surroundings with mostly the same text, and a reload of the same document. A row that
//! looks equal is no such reason: someone may delete "Untitled" and create another "Untitled".

use std::rc::Rc;

use hashbrown::HashMap;

use crate::identity::candidates::{candidates, similar_nodes_inside};
use crate::identity::evidence::Evidence;
use crate::identity::fingerprint::Fingerprint;
use crate::identity::meaning::Meaning;
use crate::identity::memo::{Memo, RecordsId};
use crate::identity::records::Records;
use crate::identity::rows::content::Container;
use crate::identity::rows::detect::RowAt;
use crate::identity::rows::field_values::Shift;
use crate::identity::step_count;
use crate::identity::text_similarity::{reads_same, same_document};
use crate::identity::verdict::{NoMatch, Verdict};
use crate::{IdentityGrade, NodeId, NodeRef};

/// Whether any row of an older container survived, by the container's first row.
pub(crate) type SurvivingRows = Memo<(RecordsId, NodeId), bool>;

/// Rows of an older list with the rows that replaced them, by the first rows of both lists.
pub(crate) type RerenderedRows = Memo<(RecordsId, NodeId, NodeId), Rc<HashMap<NodeId, NodeId>>>;

/// Returns the node of a new tree that replaces an element whose own node is gone.
///
/// `old_node` is the node in which the element was last seen, in the tree of `old`; `meaning` is
/// the issued meaning. The returned node has both the issued meaning and the one that the element
/// last had. On a device without identity, the issued meaning suffices.
///
/// # Errors
/// Returns the reason why no node is accepted.
pub fn content_match(
    old: &Records<'_>,
    old_node: NodeId,
    meaning: &Meaning,
    new: &Records<'_>,
) -> Result<NodeId, NoMatch> {
    let a = old.tree.node(old_node);
    if a.handle().is_some_and(|h| new.tree.hidden().binary_search(&h).is_ok()) {
        return Err(NoMatch::Hidden);
    }
    let last = old.meaning(old_node);
    let found = match find_in_surviving_row(old, a, &last, new) {
        Some(b) => b,
        None => match find_elsewhere(old, a, &last, new) {
            // Without handles, every capture is matched, and content that has since unfolded in the
            // row must not count as its record.
            Err(NoMatch::Absent) if old.tree.grade() == IdentityGrade::None => {
                find_elsewhere(old, a, meaning, new)?
            }
            found => found?,
        },
    };
    if new.judge(meaning, found.id()).is_same() { Ok(found.id()) } else { Err(NoMatch::Absent) }
}

/// Returns whether the row of an absent element came back with its list.
///
/// True if the list had at least three rows, none of these rows is left, and the list without this
/// row keeps more than half of its text. That is the case for a virtual list that was scrolled
/// back, and for a list that was paged back. Also true if several rows re-rendered with equal text,
/// even if other rows stayed.
#[must_use]
pub fn reappeared_with_list(old: &Records<'_>, old_node: NodeId, new: &Records<'_>, node: NodeId) -> bool {
    let row_of =
        |records: &Records<'_>, node| records.cache.structure.row_of(records.tree.node(node)).map(|at| at.id);
    let (Some(then), Some(at)) = (row_of(new, node), old.cache.structure.row_of(old.tree.node(old_node)))
    else {
        return false;
    };
    let (row, row_now) = (old.tree.node(at.id), new.tree.node(then));
    let (Some(list), Some(list_now)) = (row.parent(), row_now.parent()) else { return false };
    at.container.ids.len() >= MIN_RERENDERED_ROWS
        && !has_surviving_row(new, old, &at.container.ids)
        && reads_same((old, list, Some(row)), (new, list_now, Some(row_now))) == Some(true)
        || several_rows_rerendered(old, at, new, node)
}

/// The minimum number of rows that are assumed to re-render together instead of coming and going
/// one by one.
const MIN_RERENDERED_ROWS: usize = 3;

/// Returns whether several rows of a list, including the element's, have new nodes, and each has
/// exactly the text of one row that is gone. Other rows may have kept their nodes, as in a partly
/// re-rendered table that was sorted or filtered. Nobody deletes several records and creates as
/// many equal ones; for a single row, that cannot be ruled out.
fn several_rows_rerendered(old: &Records<'_>, at: RowAt<'_>, new: &Records<'_>, node: NodeId) -> bool {
    let Some(now) = new.cache.structure.row_of(new.tree.node(node)) else { return false };
    let (Some(&first), Some(&first_now)) = (at.container.ids.first(), now.container.ids.first()) else {
        return false;
    };
    let pairs = new
        .rerendered_rows
        .get((old.token(), first, first_now), || Rc::new(find_rerendered_rows(old, at, new, now)));
    pairs.len() >= MIN_RERENDERED_ROWS && pairs.get(&at.id) == Some(&now.id)
}

/// Returns the rows of a list that are gone, each with the one new row that has the same text. No
/// other row, then or now, may have that text.
fn find_rerendered_rows(
    old: &Records<'_>,
    at: RowAt<'_>,
    new: &Records<'_>,
    now: RowAt<'_>,
) -> HashMap<NodeId, NodeId> {
    let container_texts = |records: &Records<'_>, container: &Container| {
        let mut found: HashMap<Vec<Fingerprint>, Option<NodeId>> = HashMap::new();
        for (&id, row) in container.ids.iter().zip(container.rows(records.tree)) {
            step_count::count_step();
            // Text shared by two rows identifies neither.
            found.entry(row.all_fingerprints()).and_modify(|only| *only = None).or_insert(Some(id));
        }
        found
    };
    let is_in =
        |records: &Records<'_>, n: NodeRef<'_>| n.handle().is_none_or(|h| records.node_at(h).is_some());
    let new_texts = container_texts(new, now.container);
    let pair = |(says, then): (Vec<Fingerprint>, Option<NodeId>)| {
        let (then, now) = (then?, (*new_texts.get(&says)?)?);
        let replaced = !is_in(new, old.tree.node(then)) && !is_in(old, new.tree.node(now));
        (replaced && !says.is_empty()).then_some((then, now))
    };
    container_texts(old, at.container).into_iter().filter_map(pair).collect()
}

/// Returns the unique matching element in a row whose node survived. The row must have contained
/// exactly one such element before, too.
fn find_in_surviving_row<'n>(
    old: &Records<'_>,
    a: NodeRef<'_>,
    last: &Meaning,
    new: &Records<'n>,
) -> Option<NodeRef<'n>> {
    let handle = last.0.record.row?;
    let (row_then, row_now) = (old.node_at(handle)?, new.node_at(handle)?);
    let now = choose_unique(
        similar_nodes_inside(new, &last.0, row_now).into_iter().map(|n| (n, new.judge(last, n))),
    );
    let (found, exactly) = now.ok()??;
    let then = similar_nodes_inside(old, &last.0, row_then);
    let has_rival = then.into_iter().any(|n| n != a.id() && is_same(&old.judge(last, n), exactly));
    (!has_rival).then(|| new.tree.node(found))
}

/// Returns the only candidate that has the judged meaning, and whether its name is exactly equal.
/// `None` if no candidate has the meaning. If candidates differ only in the counts in their names,
/// as `Last 7 days` and `Last 30 days` do, the one with the exact name wins.
fn choose_unique(
    verdicts: impl Iterator<Item = (NodeId, Verdict)>,
) -> Result<Option<(NodeId, bool)>, NoMatch> {
    let same: Vec<(NodeId, bool)> = verdicts
        .filter(|(_, verdict)| verdict.is_same())
        .map(|(n, verdict)| (n, is_same(&verdict, true)))
        .collect();
    let mut exact = same.iter().filter(|(_, exactly)| *exactly);
    match (exact.next(), exact.next(), &*same) {
        (Some(&one), None, _) => Ok(Some(one)),
        (None, None, []) => Ok(None),
        (None, None, [one]) => Ok(Some(*one)),
        _ => Err(NoMatch::NotUnique),
    }
}

fn is_same(verdict: &Verdict, exactly: bool) -> bool {
    if exactly { *verdict == Verdict::Same { reads_now: None } } else { verdict.is_same() }
}

fn find_elsewhere<'n>(
    old: &Records<'_>,
    a: NodeRef<'_>,
    last: &Meaning,
    new: &Records<'n>,
) -> Result<NodeRef<'n>, NoMatch> {
    let (b, exactly) = find_unique_in_frame(new, last, &a.document().frame)?.ok_or(NoMatch::Absent)?;
    let has_rival = candidates(old, &last.0).into_iter().map(|n| old.tree.node(n)).any(|n| {
        n != a && n.document_index() == a.document_index() && is_same(&old.judge(last, n.id()), exactly)
    });
    if has_rival {
        return Err(NoMatch::NotUnique);
    }
    if a.document().scope != b.document().scope {
        return check_reload(old, a, new, b).map(|()| b);
    }
    if old.tree.grade() == IdentityGrade::None {
        return Ok(b);
    }
    if let Evidence::Key(_) = last.0.record.evidence {
        return Ok(b);
    }
    if let Evidence::Text { raw_key: Some(raw), .. } = last.0.record.evidence
        && new
            .cache
            .structure
            .row_of(b)
            .is_some_and(|at| new.cache.structure.row(new.tree, at).raw_key == Some(raw))
    {
        return Ok(b);
    }
    // A position is not a record: re-rendered rows with the same text cannot be told apart.
    if let Evidence::Position { values, .. } = &last.0.record.evidence
        && new.reader(b).surroundings().shift(values) != Shift::Stayed
    {
        return Err(NoMatch::NotUnique);
    }
    // A re-rendered node is new. A node that existed before was another element, whatever its text
    // is now.
    if b.handle().is_some_and(|h| old.node_at(h).is_some()) {
        return Err(NoMatch::Taken);
    }
    check_rerender(old, a, new, b).map(|()| b)
}

/// Returns the unique node with a given meaning in a frame.
fn find_unique_in_frame<'n>(
    new: &Records<'n>,
    last: &Meaning,
    frame: &str,
) -> Result<Option<(NodeRef<'n>, bool)>, NoMatch> {
    let inside =
        candidates(new, &last.0).into_iter().filter(|&id| new.tree.node(id).document().frame == frame);
    let found = choose_unique(inside.map(|id| (id, new.judge(last, id))))?;
    Ok(found.map(|(id, exactly)| (new.tree.node(id), exactly)))
}

/// Checks that a reloaded document shows the same record. Refs carry over only to such a document.
fn check_reload(old: &Records<'_>, a: NodeRef<'_>, new: &Records<'_>, b: NodeRef<'_>) -> Result<(), NoMatch> {
    if a.document().url != b.document().url {
        return Err(NoMatch::OtherAddress);
    }
    if same_document(old, a, new, b) { Ok(()) } else { Err(NoMatch::OtherDocument) }
}

/// Checks that the replacement of a subtree keeps more than half of the subtree's text.
fn check_rerender(
    old: &Records<'_>,
    a: NodeRef<'_>,
    new: &Records<'_>,
    b: NodeRef<'_>,
) -> Result<(), NoMatch> {
    let current_node = |n: NodeRef<'_>| n.handle().and_then(|h| new.node_at(h));
    // Find the lowest surviving ancestor, and what was replaced below it.
    let mut replaced = a;
    let outcome = loop {
        let parent = replaced.parent().ok_or(NoMatch::Absent)?;
        match current_node(parent) {
            Some(kept) => break kept,
            None => replaced = parent,
        }
    };
    if !outcome.contains(b.id()) {
        return Err(NoMatch::Moved);
    }
    let replacement = std::iter::once(b)
        .chain(b.ancestors())
        .find(|n| n.parent() == Some(outcome))
        .ok_or(NoMatch::Moved)?;
    if let Some(at) = old.cache.structure.row_of(a)
        && let row = old.tree.node(at.id)
        && current_node(row).is_none()
    {
        if has_surviving_row(new, old, &at.container.ids) {
            let several = several_rows_rerendered(old, at, new, b.id());
            return if several { Ok(()) } else { Err(NoMatch::SiblingSurvived) };
        }
        let row_now = new.cache.structure.row_of(b).map_or(b, |at| new.tree.node(at.id));
        let (Some(list), Some(list_now)) = (row.parent(), row_now.parent()) else {
            return Err(NoMatch::Isolated);
        };
        return judge_text(reads_same((old, list, None), (new, list_now, None)));
    }
    let surroundings_match = reads_same((old, replaced, Some(a)), (new, replacement, Some(b)));
    let parent = replaced.parent().ok_or(NoMatch::Isolated)?;
    judge_text(surroundings_match.or_else(|| reads_same((old, parent, Some(a)), (new, outcome, Some(b)))))
}

fn judge_text(reads: Option<bool>) -> Result<(), NoMatch> {
    match reads {
        Some(true) => Ok(()),
        Some(false) => Err(NoMatch::TextDiffers),
        None => Err(NoMatch::Isolated),
    }
}

/// Returns whether a row of an older container still exists. Computed once for all rows of the
/// container.
fn has_surviving_row(new: &Records<'_>, old: &Records<'_>, rows: &[NodeId]) -> bool {
    let Some(&first) = rows.first() else { return false };
    new.kept_rows.get((old.token(), first), || {
        rows.iter().any(|&id| {
            step_count::count_step();
            old.tree.node(id).handle().is_some_and(|h| new.node_at(h).is_some())
        })
    })
}
