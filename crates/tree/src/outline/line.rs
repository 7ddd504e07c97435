//! Writes one node as a line.

use crate::model::escape::{MAX_CHARS, quote, quote_into};
use crate::{Attr, NodeRef, Role, States};
use std::borrow::Cow;
use stickpin_refs::Ref;

/// The view that contains a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// The full view, in which a value is written `value="0"`.
    Full,
    /// `-i`, in which a value, the most frequent state, is written `="0"`.
    Compact,
    /// `--raw`, which also marks hidden nodes.
    Raw,
}

/// Returns one node as a line for messages, without indentation: `@e57 button "Delete" in "Mail
/// 11"`. `distinguishing_text`, if given, identifies the row.
#[must_use]
pub fn line(node: NodeRef<'_>, r#ref: Option<Ref>, distinguishing_text: Option<&str>) -> String {
    let mut out = r#ref.map_or_else(String::new, |r| format!("{r} "));
    let label = if node.value().is_empty() { label_or_first_text(node, node.name()) } else { node.name() };
    describe(&mut out, node, label, Style::Full);
    if let Some(telling) = distinguishing_text {
        out.push_str(" in ");
        quote_into(&mut out, telling, MAX_CHARS);
    }
    out
}

/// Returns the label, or the first name or text inside a node without a label, so that a message
/// can name the node; empty if neither is found nearby.
pub(crate) fn label_or_first_text<'a>(node: NodeRef<'a>, label: &'a str) -> &'a str {
    if !label.is_empty() {
        return label;
    }
    // Bounded, so that a message about a large container does not search all of it.
    node.subtree().skip(1).take(200).map(NodeRef::name).find(|n| !n.is_empty()).unwrap_or("")
}

/// Appends the role, label and states of a node.
pub(crate) fn describe(out: &mut String, node: NodeRef<'_>, label: &str, style: Style) {
    out.push_str(node.role().name());
    if !label.is_empty() {
        out.push(' ');
        quote_into(out, label, MAX_CHARS);
    }
    for word in state_words(node, label, style) {
        out.push(' ');
        out.push_str(&word);
    }
}

/// States that are written as one word, whatever the role and the other states are.
const STATE_WORDS: [(States, &str); 9] = [
    (States::SELECTED, "selected"),
    (States::DISABLED, "disabled"),
    (States::REQUIRED, "required"),
    (States::READONLY, "readonly"),
    (States::INVALID, "invalid"),
    (States::MULTISELECTABLE, "multiple"),
    (States::MODAL, "modal"),
    (States::BUSY, "busy"),
    (States::FOCUSED, "focused"),
];

/// Returns the level, value and states that a reader needs, as words of the line.
pub(crate) fn state_words<'t>(node: NodeRef<'t>, label: &str, style: Style) -> Vec<Cow<'t, str>> {
    let mut words: Vec<Cow<'t, str>> = Vec::new();
    let states = node.states();
    if node.level() > 0 {
        words.push(format!("level={}", node.level()).into());
    }
    words.extend(value(node, label, style).map(Cow::Owned));
    if label.is_empty() && node.is(States::ACTIONABLE) {
        words.extend(name_substitute(node).map(Cow::Owned));
    }
    if states.contains(States::MIXED) {
        words.push(if states.contains(States::PRESSABLE) { "pressed=mixed" } else { "checked=mixed" }.into());
    } else {
        if states.contains(States::CHECKED) {
            words.push("checked".into());
        }
        if states.contains(States::PRESSED) {
            words.push("pressed".into());
        }
    }
    if states.contains(States::EXPANDED) {
        words.push("expanded".into());
    } else if states.contains(States::EXPANDABLE) && node.role() != Role::Combobox {
        // A combobox is closed by default; everything else states that it is closed.
        words.push("expanded=false".into());
    } else if states.contains(States::HAS_POPUP) && node.role() != Role::Combobox {
        words.push("haspopup".into());
    }
    if let Some(current) = node.attr(Attr::Current) {
        let is_shown = matches!(current, "true" | "page");
        words.push(if is_shown { "current".into() } else { format!("current={}", quote(current)).into() });
    }
    words.extend(STATE_WORDS.into_iter().filter(|(s, _)| states.contains(*s)).map(|(_, word)| word.into()));
    if style == Style::Raw && states.contains(States::HIDDEN) {
        words.push("hidden".into());
    }
    words
}

/// Returns a word that identifies a nameless actionable element, such as `href="/cart"` for a link
/// around a picture; `None` if nothing identifies the element.
fn name_substitute(node: NodeRef<'_>) -> Option<String> {
    let identifiers = [
        (Attr::Description, "description"),
        (Attr::Href, "href"),
        (Attr::Id, "id"),
        (Attr::TestId, "id"),
        (Attr::DataTestId, "id"),
    ];
    let identifier = identifiers.into_iter().find_map(|(attr, word)| Some((word, node.attr(attr)?)));
    let (word, text) = identifier.or_else(|| picture_in(node))?;
    Some(format!("{word}={}", quote(text)))
}

/// The maximum number of nodes in an element that may be an icon, such as a link around a span
/// around a picture.
const MAX_ICON_NODES: usize = 8;

/// Identifies the picture that a wordless element consists of: returns `source` with its file name,
/// or else `class` with its icon class; `None` if neither is known.
fn picture_in(node: NodeRef<'_>) -> Option<(&'static str, &str)> {
    let mut within = node.subtree();
    let parts: Vec<NodeRef<'_>> = within.by_ref().take(MAX_ICON_NODES).collect();
    if within.next().is_some() || parts.iter().any(|n| !n.name().is_empty() || !n.value().is_empty()) {
        return None;
    }
    let source = parts.iter().find_map(|n| n.attr(Attr::Source)).and_then(file_name);
    let class = || parts.iter().filter_map(|n| n.attr(Attr::Class)).find_map(icon_class);
    source.map(|file| ("source", file)).or_else(|| Some(("class", class()?)))
}

/// Returns the file name at the end of a picture's URL; `None` for an embedded picture or an empty
/// path.
fn file_name(source: &str) -> Option<&str> {
    if source.starts_with("data:") || source.starts_with("blob:") {
        return None;
    }
    let path = source.split('?').next().unwrap_or(source);
    path.rsplit('/').find(|part| !part.is_empty())
}

/// Returns the class that names an icon of a family (`fa-trash` in `fa fa-trash`), or else the
/// first class longer than two bytes. Skips classes with digits, which tools often generate.
fn icon_class(class: &str) -> Option<&str> {
    let names = || class.split_whitespace().filter(|name| !name.contains(|c: char| c.is_ascii_digit()));
    let is_of =
        |name: &str, family: &str| name.strip_prefix(family).is_some_and(|rest| rest.starts_with('-'));
    names()
        .find(|name| names().any(|family| is_of(name, family)))
        .or_else(|| names().find(|name| name.len() > 2))
}

fn value(node: NodeRef<'_>, label: &str, style: Style) -> Option<String> {
    // Never print a protected value, whatever the device reports. The value of an option is meant
    // for the server.
    if node.is(States::PROTECTED) || node.role() == Role::Option {
        return None;
    }
    let shown = node.attr(Attr::ValueText).unwrap_or(node.value());
    if !shown.is_empty() && (shown != label || node.role().is_input()) {
        return Some(format!("{}={}", if style == Style::Compact { "" } else { "value" }, quote(shown)));
    }
    // The placeholder describes what to type, and is often the only description of an unlabelled
    // field.
    let placeholder = node.attr(Attr::Placeholder)?;
    (placeholder != label && (style != Style::Compact || label.is_empty()))
        .then(|| format!("placeholder={}", quote(placeholder)))
}
