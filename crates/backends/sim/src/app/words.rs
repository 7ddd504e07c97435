//! The words that can be said of an element in a view line.

use stickpin_tree::{Attr, States};

words! {
    /// What can happen to an element.
    Event {
        Press = "press", DoublePress = "dblpress", Context = "context", LongPress = "longpress",
        /// The pointer arrived over it.
        Hover = "hover",
        /// Its value changed by input.
        Input = "input", Enter = "enter", Escape = "escape",
        /// Something was dropped on it; `dragged` is the record of the source's loop.
        Drop = "drop",
        /// It, or the page, was scrolled.
        Scroll = "scrolled",
        Focus = "focused",
        /// Once, just before the device looks for it, aims at it, acts on it.
        Look = "look", Aim = "aim", Act = "act",
        /// Each time between two events of one input to it: two presses, two keys, pick-up and drop.
        Between = "between",
    }
}

words! {
    /// What else is said of an element.
    Prop {
        Label = "label", Value = "value", Level = "level", Truth = "truth", Format = "format",
        Min = "min", Max = "max", Step = "step", Src = "src", For = "for",
        /// A `<select>`: options are chosen without opening it.
        Native = "native",
        Width = "w", Height = "h",
        /// Place in the viewport, on top of what is in the flow.
        X = "x", Y = "y",
        Scroll = "scroll",
        /// Lets the pointer through.
        Ghost = "ghost",
        /// Nothing is painted behind it.
        Clear = "clear",
        Inline = "inline", Block = "block",
        /// In the document, not in the tree, still painted.
        Inert = "inert",
        Hidden = "hidden",
    }
}

/// The states that a word of a view line says.
pub(crate) fn state(word: &str) -> Option<States> {
    Some(match word {
        "disabled" => States::DISABLED,
        "checked" => States::CHECKABLE.union(States::CHECKED),
        "mixed" => States::MIXED,
        "expanded" => States::EXPANDABLE.union(States::EXPANDED),
        "selected" => States::SELECTABLE.union(States::SELECTED),
        "pressed" => States::PRESSABLE.union(States::PRESSED),
        "required" => States::REQUIRED,
        "readonly" => States::READONLY,
        "invalid" => States::INVALID,
        "multiple" => States::MULTISELECTABLE,
        "modal" => States::MODAL,
        "invisible" => States::HIDDEN,
        "protected" => States::PROTECTED,
        "busy" => States::BUSY,
        "haspopup" => States::HAS_POPUP,
        _ => return None,
    })
}

/// The attribute that a word of a view line says.
pub(crate) fn attr(word: &str) -> Option<Attr> {
    Some(match word {
        "id" => Attr::Id,
        "data-testid" => Attr::TestId,
        "data-test" => Attr::DataTest,
        "data-cy" => Attr::DataCy,
        "data-test-id" => Attr::DataTestId,
        "data-id" => Attr::DataId,
        "data-key" => Attr::DataKey,
        "data-row-key" => Attr::DataRowKey,
        "data-item-id" => Attr::DataItemId,
        "rowindex" => Attr::RowIndex,
        "href" => Attr::Href,
        "controls" => Attr::Controls,
        "labelledby" => Attr::LabelledBy,
        "class" => Attr::Class,
        "placeholder" => Attr::Placeholder,
        "description" => Attr::Description,
        "current" => Attr::Current,
        "live" => Attr::Live,
        "valuetext" => Attr::ValueText,
        "roledescription" => Attr::RoleDescription,
        "preformatted" => Attr::Preformatted,
        "start" => Attr::Start,
        "colspan" => Attr::ColSpan,
        "rowspan" => Attr::RowSpan,
        _ => return None,
    })
}
