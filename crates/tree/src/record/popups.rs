//! Menus, dialogs and messages: what they say, and which they are.

use std::cell::RefCell;
use std::sync::Arc;

use hashbrown::HashMap;

use super::place::without_mark;
use super::print::{Part, Print};
use super::text::{is_field, leaves_without, walk};
use super::volatile::is_bare;
use crate::{Attr, NodeId, NodeRef, Role, States};

/// A surface that opens over the rest: menus, listboxes, dialogs, tooltips, and whatever is modal.
pub(super) fn is_popup(n: NodeRef<'_>) -> bool {
    matches!(n.role(), Role::Menu | Role::Dialog | Role::AlertDialog | Role::ListBox | Role::Tooltip)
        || n.is(States::MODAL)
}

/// The popup that an element stands in.
pub(super) fn popup_of(element: NodeRef<'_>) -> Option<NodeRef<'_>> {
    element.ancestors().take_while(|n| n.role() != Role::Document).find(|n| is_popup(*n))
}

/// The dialog or message whose text says what an element in it is about. The items of a menu or listbox are
/// not about its other items.
pub(super) fn speaker_of(element: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let around = || element.ancestors().take_while(|n| n.role() != Role::Document);
    let speaks = |n: &NodeRef<'_>| {
        matches!(n.role(), Role::Alert | Role::Status | Role::AlertDialog) || n.is(States::LIVE)
    };
    popup_of(element)
        .or_else(|| around().find(speaks))
        .filter(|n| !matches!(n.role(), Role::Menu | Role::ListBox))
}

/// What a dialog or message says, without the mark of what is not saved.
#[derive(Debug, Clone)]
pub(super) struct Speech {
    pub(super) text: Arc<[Print]>,
    /// Whether there are fields or cells: then part of the text changes with them.
    pub(super) fields: bool,
}

/// The speeches of one tree, read once each.
#[derive(Debug, Default)]
pub(super) struct Speeches(RefCell<HashMap<NodeId, Speech>>);

impl Speeches {
    pub(super) fn of(&self, speaker: NodeRef<'_>, join: bool) -> Speech {
        if let Some(known) = self.0.borrow().get(&speaker.id()) {
            return known.clone();
        }
        let mut fields = false;
        walk(speaker, |n| {
            let field = is_field(n) && !matches!(n.role(), Role::ListBox | Role::Option);
            fields |= field || matches!(n.role(), Role::Cell | Role::GridCell);
            !fields
        });
        let texts =
            leaves_without(speaker, join, |n| n.is(States::ACTIONABLE) || is_field(n) || n.is(States::LIVE));
        let said = texts.iter().filter(|t| !is_bare(t)).map(|t| without_mark(t));
        let text = said.filter(|t| !t.is_empty()).map(|t| Print::of(Part::Text, t)).collect();
        let speech = Speech { text, fields };
        self.0.borrow_mut().insert(speaker.id(), speech.clone());
        speech
    }
}

/// The element that says that it opens a popup (`aria-controls`, `aria-owns`), or else that labels it.
pub(super) fn linked_opener(popup: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let nodes = || popup.tree().nodes().filter(|n| n.document_index() == popup.document_index());
    let names = |list: &str, id: &str| list.split_whitespace().any(|word| word == id);
    if let Some(id) = popup.attr(Attr::Id)
        && let Some(opener) = nodes().find(|n| n.attr(Attr::Controls).is_some_and(|list| names(list, id)))
    {
        return Some(opener);
    }
    let labels = popup.attr(Attr::LabelledBy)?;
    nodes().find(|n| n.role() != Role::Heading && n.attr(Attr::Id).is_some_and(|id| names(labels, id)))
}
