//! The facts of a single node; the facts of a segment are those of its nodes.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use hashbrown::HashMap;

use super::fact::{Fact, FactKind, handle_hash, nonzero_hash};
use crate::identity::rows::numbers::{is_volatile, without_counts};
use crate::identity::rows::text::is_field;
use crate::identity::surroundings::heading::stable_title;
use crate::{Attr, NodeId, NodeRef, Role, States};

/// The maximum number of characters of a fact's text that are kept.
pub(super) const MAX_FACT_CHARS: usize = 500;

/// The maximum number of texts that name a selected item.
const MAX_ITEM_TEXTS: usize = 4;

/// Reports the facts about a document itself.
pub(super) fn visit_document_facts<'t>(
    node: NodeRef<'t>,
    found: &mut impl FnMut(NodeRef<'t>, FactKind, &str),
) {
    let document = node.document();
    found(node, FactKind::Address, path_and_query(&document.url));
    // With several windows, the document has the title of the frontmost one, and each window
    // reports its own title.
    if !node.children().any(|n| n.role() == Role::Window) {
        found(node, FactKind::Title, &stable_title(&document.title));
    }
}

/// Returns a URL without its fragment. A fragment stays if it is a route, such as `#/orders/17` or
/// `#!/orders/17`.
fn path_and_query(url: &str) -> &str {
    match url.split_once('#') {
        Some((_, fragment)) if fragment.starts_with(['/', '!']) => url,
        Some((page, _)) => page,
        None => url,
    }
}

/// Reports the facts about an element itself.
pub(super) fn visit_element_facts<'t>(
    node: NodeRef<'t>,
    found: &mut impl FnMut(NodeRef<'t>, FactKind, &str),
) {
    use Role::{Document, Meter, ProgressBar, ScrollBar, Timer};
    if matches!(node.role(), Document | Meter | ProgressBar | ScrollBar | Timer) {
        return;
    }
    if node.role() == Role::Window {
        found(node, FactKind::WindowTitle, &stable_title(node.name()));
    } else if !node.name().is_empty() && !node.is(States::NAME_FROM_CONTENT) {
        found(node, FactKind::Name, node.name());
    }
    // An empty field has a value as well, because its earlier content may have identified the
    // record.
    if is_field(node) && !node.is(States::EDIT_HOST) && !is_toggle(node) && node.role() != Role::ListBox {
        found(node, FactKind::Value, node.value());
    }
    if is_toggle(node) {
        let on = node.states().intersects(States::CHECKED | States::PRESSED | States::MIXED);
        found(node, FactKind::Checked, if on { "on" } else { "off" });
    }
    let attributes = [
        (Attr::Description, FactKind::Description),
        (Attr::Placeholder, FactKind::Placeholder),
        (Attr::Source, FactKind::Source),
        (Attr::Options, FactKind::Options),
        (Attr::ActiveDescendant, FactKind::Selected),
    ];
    for (attr, kind) in attributes {
        if let Some(text) = node.attr(attr) {
            found(node, kind, text);
        }
    }
}

/// Returns whether a node is a checkbox or toggle, which is on or off.
pub(super) fn is_toggle(node: NodeRef<'_>) -> bool {
    node.states().intersects(States::CHECKABLE | States::PRESSABLE)
}

/// Returns the node for which the selection of an item is reported. For a tab, link, list item,
/// option, row, row group or wrapper, this is the nearest ancestor that is not a row, row group or
/// wrapper. Any other item stands for itself.
pub(super) fn list_of(item: NodeRef<'_>) -> NodeId {
    let groups =
        |n: &NodeRef<'_>| !matches!(n.role(), Role::Generic | Role::Clickable | Role::RowGroup | Role::Row);
    std::iter::once(item)
        .filter(|n| groups(n) && !matches!(n.role(), Role::Tab | Role::Link | Role::ListItem | Role::Option))
        .chain(item.ancestors().filter(groups))
        .next()
        .map_or(item.id(), NodeRef::id)
}

pub(super) fn note_selected(selected: &mut BTreeMap<NodeId, String>, list: NodeId, item: NodeRef<'_>) {
    let items = selected.entry(list).or_default();
    if !items.is_empty() {
        items.push_str("; ");
    }
    let name = item.name();
    // `Inbox (7)` is still the same selected item.
    if name.is_empty() { append_stable_content(item, items) } else { items.push_str(&without_counts(name)) }
}

/// Appends the texts that identify an item. Leaves out prices, ages and counts, which change while
/// the item stays selected.
pub(super) fn append_stable_content(item: NodeRef<'_>, items: &mut String) {
    let texts = item.subtree().filter(|n| n.is_text() && !n.name().is_empty() && !is_volatile(n.name()));
    for text in texts.take(MAX_ITEM_TEXTS) {
        if !items.is_empty() {
            items.push(' ');
        }
        items.push_str(text.name());
    }
}

/// Returns the texts in a node, joined by spaces. Omits the texts after the first
/// [`MAX_FACT_CHARS`] bytes.
pub(super) fn node_text(node: NodeRef<'_>) -> String {
    let mut text = String::new();
    for leaf in node.subtree().filter(|n| n.is_text() && !n.name().is_empty()) {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(leaf.name());
        if text.len() > MAX_FACT_CHARS {
            break;
        }
    }
    text
}

/// Returns a hash of a fact's kind, and of the roles and tags of its node and the three nearest
/// ancestors.
pub(super) fn shape_of(node: NodeRef<'_>, kind: FactKind) -> u32 {
    let mut shape = DefaultHasher::new();
    (kind, node.role(), node.tag()).hash(&mut shape);
    for above in node.ancestors().take(3) {
        (above.role(), above.tag()).hash(&mut shape);
    }
    // Truncated on purpose: colliding shapes only pair facts that may be paired anyway.
    #[allow(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
    let shape = shape.finish() as u32;
    shape
}

/// Creates a fact without its text. `texts` counts the texts of each parent.
pub(super) fn new_fact(node: NodeRef<'_>, kind: FactKind, texts: &mut HashMap<u64, u64>) -> Fact {
    let id = |n: Option<NodeRef<'_>>| handle_hash(n.and_then(NodeRef::handle));
    let parent = node.parent();
    let (own, parent_id) = (id(Some(node)), id(parent));
    let slot = match (kind, parent_id) {
        (FactKind::Text, 0) => 0,
        (FactKind::Text, _) => {
            let nth = texts.entry(parent_id).or_default();
            *nth += 1;
            nonzero_hash(&(parent_id, *nth))
        }
        (FactKind::Address | FactKind::Title, _) => nonzero_hash(&node.document().frame),
        _ => own,
    };
    let shape = shape_of(node, kind);
    let grandparent = id(parent.and_then(NodeRef::parent));
    Fact { slot, parent: parent_id, grandparent, shape, end: 0, kind }
}
