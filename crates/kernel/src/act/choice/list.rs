//! What a captured tree shows of a list: its options, its choice, and the field that filters it.

use stickpin_tree::{Attr, Handle, NodeId, NodeRef, Role, States, Tree};

/// Returns the field that took the focus when a list was opened. Text that is typed there filters
/// the list.
pub(super) fn filter_of(tree: &Tree, list: NodeId) -> Option<Handle> {
    let takes_text = |n: &NodeRef<'_>| {
        n.states().contains(States::FOCUSED | States::EDITABLE) && !n.is(States::HIDDEN) && n.id() != list
    };
    tree.nodes().find(takes_text)?.address()
}

/// Returns the only visible list box of a tree; `None` if there are none or several.
pub(super) fn only_list(tree: &Tree) -> Option<NodeId> {
    let mut lists = tree.nodes().filter(|n| n.role() == Role::ListBox && !n.is(States::HIDDEN));
    let first = lists.next()?;
    lists.next().is_none().then(|| first.id())
}

/// Returns whether an option is selected.
pub(super) fn on(option: NodeRef<'_>) -> bool {
    option.states().intersects(States::SELECTED | States::CHECKED)
}

/// Returns the choice that a list shows: its value and its text without its options.
pub(super) fn displayed_choice(list: NodeRef<'_>) -> String {
    let inside = |n: &NodeRef<'_>| {
        n.ancestors().take_while(|a| a.id() != list.id()).all(|a| !is_option(a)) && !n.is(States::HIDDEN)
    };
    let texts = list.subtree().filter(|n| n.is_text() && inside(n)).map(NodeRef::name);
    let mut parts: Vec<&str> = std::iter::once(list.value()).chain(texts).filter(|t| !t.is_empty()).collect();
    parts.dedup();
    parts.join(" ")
}

/// Returns whether a text contains `words` at word boundaries.
pub(super) fn says(text: &str, words: &str) -> bool {
    let bounded = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
    !words.is_empty()
        && text.match_indices(words).any(|(at, _)| {
            bounded(text[..at].chars().next_back()) && bounded(text[at + words.len()..].chars().next())
        })
}

/// Returns whether a press on the node is expected to show options. `select` opens no other nodes.
pub(super) fn opens_a_list(node: NodeRef<'_>) -> bool {
    matches!(node.role(), Role::Combobox | Role::ListBox)
        || node.states().intersects(States::HAS_POPUP | States::EXPANDABLE | States::EXPANDED)
}

fn is_option(n: NodeRef<'_>) -> bool {
    matches!(n.role(), Role::Option | Role::Radio | Role::MenuItemRadio)
}

pub(super) fn lists(tree: &Tree) -> impl Iterator<Item = NodeRef<'_>> {
    tree.nodes().filter(|n| matches!(n.role(), Role::ListBox | Role::Menu) && !n.is(States::HIDDEN))
}

/// Returns the options that belong to a list: the options inside the list or, if it contains no
/// options, those inside the elements that it controls. If these contain no options either, and
/// `older` is given, returns the options of the only visible list or menu that is not in `older`.
pub(super) fn options_of(tree: &Tree, list: NodeId, older: Option<&[Handle]>) -> Vec<NodeId> {
    let list = tree.node(list);
    let is_one = |n: &NodeRef<'_>| {
        let one = match list.role() {
            Role::RadioGroup | Role::Group => n.role() == Role::Radio,
            // Other menu items run a command each time they are pressed, so they are not a choice.
            _ => matches!(n.role(), Role::Option | Role::MenuItemRadio),
        };
        one && !n.is(States::HIDDEN)
    };
    let inside: Vec<NodeId> = list.subtree().filter(is_one).map(|n| n.id()).collect();
    if !inside.is_empty() {
        return inside;
    }
    let controlled: Vec<&str> = list.attr(Attr::Controls).unwrap_or("").split_whitespace().collect();
    // An id is valid only within its own document.
    let near = tree.nodes().filter(|n| n.document_index() == list.document_index());
    let popups = near.filter(|n| n.attr(Attr::Id).is_some_and(|id| controlled.contains(&id)));
    let found: Vec<NodeId> =
        popups.flat_map(|p| p.subtree().filter(is_one).map(|n| n.id()).collect::<Vec<_>>()).collect();
    let Some(older) = older.filter(|_| found.is_empty()) else { return found };
    let mut new = lists(tree).filter(|l| !l.address().is_some_and(|a| older.contains(&a)));
    match (new.next(), new.next()) {
        (Some(popup), None) => popup.subtree().filter(is_one).map(|n| n.id()).collect(),
        _ => found,
    }
}

/// Returns whether several options of a list can be selected.
pub(super) fn several(tree: &Tree, list: NodeId, option: NodeId) -> bool {
    let multiple = |n: NodeRef<'_>| n.is(States::MULTISELECTABLE);
    multiple(tree.node(list))
        || tree.node(option).ancestors().find(|n| n.role() == Role::ListBox).is_some_and(multiple)
}

#[cfg(test)]
mod tests {
    use super::says;

    #[test]
    fn a_text_says_words_of_its_own_only() {
        assert!(says("Country: Norway", "Norway"));
        assert!(says("S", "S"));
        assert!(!says("Size", "S"));
        assert!(!says("Norwayland", "Norway"));
        assert!(!says("anything", ""));
    }
}
