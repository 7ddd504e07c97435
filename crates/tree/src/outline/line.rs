//! How one node reads.

use crate::escape::{MAX_CHARS, quote_into};
use crate::{Attr, NodeRef, Role, States};
use stickpin_refs::Ref;

/// Which view a line stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// All that a reader needs: `value="0"`.
    Full,
    /// `-i`, where a value, the most frequent state of all, is written `="0"`.
    Compact,
    /// `--raw`: hidden ones say so, too.
    Raw,
}

/// One node as a line for messages, without indentation: `@e57 button "Delete" in "Mail 11"`. `telling` is the text
/// of its row where that is wanted.
#[must_use]
pub fn line(node: NodeRef<'_>, r#ref: Option<Ref>, telling: Option<&str>) -> String {
    let mut out = r#ref.map_or_else(String::new, |r| format!("{r} "));
    // Not every element that is read has a name; its first words say which it is.
    let text = if node.name().is_empty() && node.value().is_empty() { first_text(node) } else { "" };
    describe(&mut out, node, if text.is_empty() { node.name() } else { text }, Style::Full);
    if let Some(telling) = telling {
        out.push_str(" in ");
        quote_into(&mut out, telling, MAX_CHARS);
    }
    out
}

fn first_text(node: NodeRef<'_>) -> &str {
    // Bounded: a message about a large container needs no search through all of it.
    node.subtree().take(200).find(|n| n.is_text() && !n.name().is_empty()).map_or("", NodeRef::name)
}

/// Appends role, label and states.
pub(crate) fn describe(out: &mut String, node: NodeRef<'_>, label: &str, style: Style) {
    out.push_str(node.role().name());
    if !label.is_empty() {
        out.push(' ');
        quote_into(out, label, MAX_CHARS);
    }
    states(out, node, label, style);
}

/// States that are said by one word.
const WORDS: [(States, &str); 9] = [
    (States::SELECTED, " selected"),
    (States::DISABLED, " disabled"),
    (States::REQUIRED, " required"),
    (States::READONLY, " readonly"),
    (States::INVALID, " invalid"),
    (States::MULTISELECTABLE, " multiple"),
    (States::MODAL, " modal"),
    (States::BUSY, " busy"),
    (States::FOCUSED, " focused"),
];

fn states(out: &mut String, node: NodeRef<'_>, label: &str, style: Style) {
    let states = node.states();
    if node.level() > 0 {
        out.push_str(" level=");
        out.push_str(&node.level().to_string());
    }
    value(out, node, label, style);
    if states.contains(States::MIXED) {
        let word = if states.contains(States::PRESSABLE) { " pressed=mixed" } else { " checked=mixed" };
        out.push_str(word);
    } else {
        if states.contains(States::CHECKED) {
            out.push_str(" checked");
        }
        if states.contains(States::PRESSED) {
            out.push_str(" pressed");
        }
    }
    if states.contains(States::EXPANDED) {
        out.push_str(" expanded");
    } else if states.contains(States::EXPANDABLE) && node.role() != Role::Combobox {
        // A combobox is expected to be closed; everything else says so.
        out.push_str(" expanded=false");
    } else if states.contains(States::HAS_POPUP) && node.role() != Role::Combobox {
        out.push_str(" haspopup");
    }
    if let Some(current) = node.attr(Attr::Current) {
        out.push_str(" current");
        if current != "true" && current != "page" {
            out.push('=');
            quote_into(out, current, MAX_CHARS);
        }
    }
    for (state, word) in WORDS {
        if states.contains(state) {
            out.push_str(word);
        }
    }
    if style == Style::Raw && states.contains(States::HIDDEN) {
        out.push_str(" hidden");
    }
}

fn value(out: &mut String, node: NodeRef<'_>, label: &str, style: Style) {
    // Whatever a device says: what is protected is not printed.
    if node.is(States::PROTECTED) {
        return;
    }
    let shown = node.attr(Attr::ValueText).unwrap_or(node.value());
    if !shown.is_empty() && (shown != label || node.role().is_input()) {
        out.push_str(if style == Style::Compact { " =" } else { " value=" });
        quote_into(out, shown, MAX_CHARS);
    } else if let Some(placeholder) = node.attr(Attr::Placeholder) {
        // The placeholder tells what to type, and is often all that a field without a label has.
        if placeholder != label && (style != Style::Compact || label.is_empty()) {
            out.push_str(" placeholder=");
            quote_into(out, placeholder, MAX_CHARS);
        }
    }
}
