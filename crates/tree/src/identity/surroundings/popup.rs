//! Menus, dialogs and messages: their text and their openers.

use std::sync::Arc;

use crate::identity::fingerprint::{Fingerprint, TextKind, count_kept};
use crate::identity::rows::numbers::is_bare;
use crate::identity::rows::text::{is_field, leaves_except, walk};
use crate::identity::surroundings::heading::strip_unsaved_mark;
use crate::{Attr, NodeRef, Role, States};

/// Returns whether a node opens over the rest of the page: a menu, listbox, dialog, tooltip or
/// anything modal.
pub(crate) fn is_popup(n: NodeRef<'_>) -> bool {
    matches!(n.role(), Role::Menu | Role::Dialog | Role::AlertDialog | Role::ListBox | Role::Tooltip)
        || n.is(States::MODAL)
}

/// Returns the nearest popup that contains an element.
pub(crate) fn popup_of(element: NodeRef<'_>) -> Option<NodeRef<'_>> {
    element.ancestors().take_while(|n| n.role() != Role::Document).find(|n| is_popup(*n))
}

/// Returns the dialog or message around an element, whose text indicates what the element acts on.
/// `None` in a menu or listbox, because its items do not describe each other.
pub(crate) fn enclosing_message(element: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let ancestors = || element.ancestors().take_while(|n| n.role() != Role::Document);
    let is_message = |n: &NodeRef<'_>| {
        matches!(n.role(), Role::Alert | Role::Status | Role::AlertDialog) || n.is(States::LIVE)
    };
    popup_of(element)
        .or_else(|| ancestors().find(is_message))
        .filter(|n| !matches!(n.role(), Role::Menu | Role::ListBox))
}

/// The text of a dialog or message, without the unsaved mark.
#[derive(Debug, Clone)]
pub(crate) struct PopupText {
    /// The fingerprints of the text, sorted.
    text: Arc<[Fingerprint]>,
    /// Whether there are fields or cells, in which case a part of the text may change.
    fields: bool,
    /// Whether there is a progress bar, in which case the text reports progress.
    progress: bool,
}

impl PopupText {
    /// Returns whether the text is still the same: all of it if there are no fields, otherwise more
    /// than half of it. True if there was no text. Also true for a row part if there is a progress
    /// bar, then and now, because a button bar serves the operation, whatever the text says.
    pub(crate) fn holds(&self, now: &Self, of_part: bool) -> bool {
        if self.text.is_empty() || of_part && self.progress && now.progress {
            return true;
        }
        let kept = count_kept(&self.text, |p| now.text.binary_search(&p).is_ok());
        if self.fields || now.fields { kept * 2 > self.text.len() } else { kept == self.text.len() }
    }
}

/// Reads the text of a dialog or message, with or without the `pages` of its tabs.
pub(crate) fn text_of(message: NodeRef<'_>, pages: bool) -> PopupText {
    let (mut fields, mut progress) = (false, false);
    walk(message, |n| {
        let field = is_field(n) && !matches!(n.role(), Role::ListBox | Role::Option);
        fields |= field || matches!(n.role(), Role::Cell | Role::GridCell);
        progress |= n.role() == Role::ProgressBar;
        !(fields && progress)
    });
    let texts = leaves_except(message, |n| {
        let page = !pages && n.role() == Role::TabPanel;
        n.is(States::ACTIONABLE) || is_field(n) || n.is(States::LIVE) || page
    });
    let said = texts.iter().filter(|(_, t)| !is_bare(t)).map(|(_, t)| strip_unsaved_mark(t));
    let mut text: Vec<Fingerprint> =
        said.filter(|t| !t.is_empty()).map(|t| Fingerprint::of(TextKind::Text, t)).collect();
    text.sort_unstable();
    PopupText { text: text.into(), fields, progress }
}

/// Returns the element that refers to the popup with `aria-controls` or `aria-owns`, or else an
/// element other than a heading that labels the popup.
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
