//! Menus, dialogs and messages: what they say, and which they are.

use std::sync::Arc;

use crate::identity::fingerprint::{Fingerprint, TextKind, count_kept};
use crate::identity::rows::numbers::is_bare;
use crate::identity::rows::text::{is_field, leaves_without, walk};
use crate::identity::surroundings::heading::without_mark;
use crate::{Attr, NodeRef, Role, States};

/// A surface that opens over the rest: menus, listboxes, dialogs, tooltips, and whatever is modal.
pub(crate) fn is_popup(n: NodeRef<'_>) -> bool {
    matches!(n.role(), Role::Menu | Role::Dialog | Role::AlertDialog | Role::ListBox | Role::Tooltip)
        || n.is(States::MODAL)
}

/// The popup that an element stands in.
pub(crate) fn popup_of(element: NodeRef<'_>) -> Option<NodeRef<'_>> {
    element.ancestors().take_while(|n| n.role() != Role::Document).find(|n| is_popup(*n))
}

/// The dialog or message whose text says what an element in it is about. The items of a menu or listbox are
/// not about its other items.
pub(crate) fn speaker_of(element: NodeRef<'_>) -> Option<NodeRef<'_>> {
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
pub(crate) struct PopupText {
    /// Sorted.
    text: Arc<[Fingerprint]>,
    /// Whether there are fields or cells: then part of the text changes with them.
    fields: bool,
    /// Whether there is a progress bar: then the text says how far it is.
    progress: bool,
}

impl PopupText {
    /// Whether it still says what it said: without fields all of it, with fields more than half. In a dialog with a
    /// progress bar, bars of buttons are for what goes on in it, whatever the text says of that.
    pub(crate) fn holds(&self, now: &Self, of_part: bool) -> bool {
        if self.text.is_empty() || of_part && self.progress && now.progress {
            return true;
        }
        let still = count_kept(&self.text, |p| now.text.binary_search(&p).is_ok());
        if self.fields || now.fields { still * 2 > self.text.len() } else { still == self.text.len() }
    }
}

/// What a dialog or message says: with the `pages` of its tabs, or without them.
pub(crate) fn text_of(speaker: NodeRef<'_>, pages: bool) -> PopupText {
    let (mut fields, mut progress) = (false, false);
    walk(speaker, |n| {
        let field = is_field(n) && !matches!(n.role(), Role::ListBox | Role::Option);
        fields |= field || matches!(n.role(), Role::Cell | Role::GridCell);
        progress |= n.role() == Role::ProgressBar;
        !(fields && progress)
    });
    let texts = leaves_without(speaker, |n| {
        let page = !pages && n.role() == Role::TabPanel;
        n.is(States::ACTIONABLE) || is_field(n) || n.is(States::LIVE) || page
    });
    let said = texts.iter().filter(|(_, t)| !is_bare(t)).map(|(_, t)| without_mark(t));
    let mut text: Vec<Fingerprint> =
        said.filter(|t| !t.is_empty()).map(|t| Fingerprint::of(TextKind::Text, t)).collect();
    text.sort_unstable();
    PopupText { text: text.into(), fields, progress }
}

/// The element that says that it opens a popup (`aria-controls`, `aria-owns`), or else that labels it.
pub(crate) fn linked_opener(popup: NodeRef<'_>) -> Option<NodeRef<'_>> {
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
