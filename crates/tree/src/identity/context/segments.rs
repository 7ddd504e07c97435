//! Decides where one segment ends and another begins.

use super::fact::{SegmentKey, nonzero_hash};
use crate::identity::records::Records;
use crate::identity::surroundings::popup::is_popup;
use crate::{NodeRef, Role, States};

/// Returns whether a node is a separate segment inside the segment around it.
#[doc(hidden)]
#[must_use]
pub fn is_segment_root(records: &Records<'_>, node: NodeRef<'_>) -> bool {
    match node.role() {
        Role::Complementary => true,
        Role::Document => !is_same_origin_frame(node),
        Role::Row => !(is_header_row(node) || is_property(node)) && records.is_list_row(node),
        _ => is_message(node) || is_popup(node) || records.is_list_row(node),
    }
}

/// Returns whether a node is a message, such as a live region, log or timer, whose content comes
/// and goes by itself. A message directly inside another message does not count.
pub(super) fn is_message(node: NodeRef<'_>) -> bool {
    let is_live = |n: NodeRef<'_>| {
        n.is(States::LIVE)
            || matches!(n.role(), Role::Alert | Role::Log | Role::Marquee | Role::Status | Role::Timer)
    };
    is_live(node) && !node.parent().is_some_and(is_live)
}

/// Returns whether a document in a frame has the origin of the document around it or an `about:`
/// address, so that both are parts of one page.
pub(super) fn is_same_origin_frame(node: NodeRef<'_>) -> bool {
    let Some(around) = node.parent() else { return false };
    node.document().url.starts_with("about:") || node.document().origin() == around.document().origin()
}

/// Returns whether a row is a property of the record that the table shows, rather than a record: a
/// row header and one cell without controls.
fn is_property(row: NodeRef<'_>) -> bool {
    let cells = row.children().filter(|n| n.role() != Role::Text).map(NodeRef::role);
    cells.eq([Role::RowHeader, Role::Cell]) && !row.subtree().skip(1).any(|n| n.role().is_control())
}

/// Returns whether a row consists of column headers, which belong to all rows of the table.
fn is_header_row(row: NodeRef<'_>) -> bool {
    let mut cells = row.children().filter(|n| n.role() != Role::Text).peekable();
    cells.peek().is_some() && cells.all(|n| n.role() == Role::ColumnHeader)
}

/// Returns the key of the segment whose root is this node.
pub(super) fn segment_key(segment: NodeRef<'_>) -> SegmentKey {
    match (segment.role(), segment.handle()) {
        (_, Some(handle)) => SegmentKey::Node(handle),
        (Role::Document, None) => SegmentKey::Document(nonzero_hash(&segment.document().frame)),
        (_, None) => SegmentKey::Unnamed,
    }
}
