//! The words that describe an element in a view line.

use stickpin_tree::{Attr, States};

words! {
    /// The events of an element.
    Event {
        Press = "press", DoublePress = "dblpress", Context = "context", LongPress = "longpress",
        /// The pointer moved over the element.
        Hover = "hover",
        /// The element's value was changed by input.
        Input = "input", Enter = "enter", Escape = "escape",
        /// Another element was dropped on the element; `dragged` is the record of the innermost
        /// loop around the dropped element.
        Drop = "drop",
        /// The element or the page was scrolled.
        Scroll = "scrolled",
        Focus = "focused",
        /// Fires once per element, just before the device locates it, aims at it, or acts on it.
        Look = "look", Aim = "aim", Act = "act",
        /// Fires between any two events of one input to the element: two presses, two keys, two
        /// toggled options, pick-up and drop.
        Between = "between",
    }
}

words! {
    /// The other properties of an element.
    Prop {
        /// The unnamed text after the kind.
        Text = "text",
        /// `#name`, which scripts use and captures never see.
        Mark = "mark",
        /// The variable that the element displays and that input writes to.
        Bind = "bind",
        Label = "label", Value = "value", Level = "level", Truth = "truth", Format = "format",
        Min = "min", Max = "max", Step = "step", Src = "src", For = "for",
        /// A `<select>`: options are chosen without opening it.
        Native = "native",
        Width = "w", Height = "h",
        /// The position in the viewport, above the flow.
        X = "x", Y = "y",
        Scroll = "scroll",
        /// Lets the pointer through.
        Ghost = "ghost",
        /// Has no background.
        Clear = "clear",
        Inline = "inline", Block = "block",
        /// Is in the document and painted, but not in the tree.
        Inert = "inert",
        Hidden = "hidden",
    }
}

/// A word of a view line, the state that it sets, and the attribute for it in markup, if there is
/// one.
const STATES: &[(&str, States, &str)] = &[
    ("disabled", States::DISABLED, "disabled"),
    ("readonly", States::READONLY, "readonly"),
    ("required", States::REQUIRED, "required"),
    ("checked", States::CHECKABLE.union(States::CHECKED), "aria-checked"),
    ("expanded", States::EXPANDABLE.union(States::EXPANDED), "aria-expanded"),
    ("selected", States::SELECTABLE.union(States::SELECTED), "aria-selected"),
    ("pressed", States::PRESSABLE.union(States::PRESSED), "aria-pressed"),
    ("invalid", States::INVALID, "aria-invalid"),
    ("modal", States::MODAL, "aria-modal"),
    ("busy", States::BUSY, "aria-busy"),
    ("mixed", States::MIXED, ""),
    ("multiple", States::MULTISELECTABLE, ""),
    ("invisible", States::HIDDEN, ""),
    ("protected", States::PROTECTED, ""),
    ("haspopup", States::HAS_POPUP, ""),
];

/// Returns the states that a word of a view line sets.
pub(crate) fn state(word: &str) -> Option<States> {
    STATES.iter().find(|(known, ..)| *known == word).map(|(_, states, _)| *states)
}

/// Returns the markup attributes of the states that are set.
pub(crate) fn markup_states(of: States) -> impl Iterator<Item = &'static str> {
    let named = STATES.iter().filter(|(.., name)| !name.is_empty());
    named.filter(move |(_, states, _)| of.contains(*states - CAPABILITY_STATES)).map(|(.., name)| *name)
}

/// States that mean that another state is possible.
pub(crate) const CAPABILITY_STATES: States =
    States::CHECKABLE.union(States::EXPANDABLE).union(States::SELECTABLE).union(States::PRESSABLE);

/// Returns whether an attribute is content for a reader. Identifiers and positions are not.
pub(crate) fn is_content(attr: Attr) -> bool {
    ATTRS.iter().any(|(known, _, _, content)| *known == attr && *content)
}

/// An attribute, its word in view lines, its name in markup, and whether it is content for a
/// reader.
const ATTRS: &[(Attr, &str, &str, bool)] = &[
    (Attr::Id, "id", "id", false),
    (Attr::TestId, "data-testid", "data-testid", false),
    (Attr::DataTest, "data-test", "data-test", false),
    (Attr::DataCy, "data-cy", "data-cy", false),
    (Attr::DataTestId, "data-test-id", "data-test-id", false),
    (Attr::DataId, "data-id", "data-id", false),
    (Attr::DataKey, "data-key", "data-key", false),
    (Attr::DataRowKey, "data-row-key", "data-row-key", false),
    (Attr::DataItemId, "data-item-id", "data-item-id", false),
    (Attr::RowIndex, "rowindex", "aria-rowindex", false),
    (Attr::Href, "href", "href", true),
    (Attr::Controls, "controls", "aria-controls", false),
    (Attr::LabelledBy, "labelledby", "aria-labelledby", false),
    (Attr::Class, "class", "class", false),
    (Attr::Placeholder, "placeholder", "placeholder", true),
    (Attr::Description, "description", "aria-description", true),
    (Attr::Current, "current", "aria-current", true),
    (Attr::Live, "live", "aria-live", false),
    (Attr::ValueText, "valuetext", "aria-valuetext", true),
    (Attr::RoleDescription, "roledescription", "aria-roledescription", true),
    (Attr::Preformatted, "preformatted", "preformatted", false),
    (Attr::Start, "start", "start", false),
    (Attr::ColSpan, "colspan", "colspan", false),
    (Attr::RowSpan, "rowspan", "rowspan", false),
];

/// Returns the attribute that a word of a view line sets.
pub(crate) fn attr(word: &str) -> Option<Attr> {
    ATTRS.iter().find(|(_, known, ..)| *known == word).map(|(attr, ..)| *attr)
}

/// Returns the name of an attribute in markup.
pub(crate) fn attr_name(attr: Attr) -> &'static str {
    ATTRS.iter().find(|(known, ..)| *known == attr).map_or("", |(_, _, name, _)| name)
}
