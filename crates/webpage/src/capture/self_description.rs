//! The self-description of a custom element through `ElementInternals`.

use stickpin_tree::{Role, States};

/// The role, name, value and states that an element reports about itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SelfDescription {
    pub(crate) role: Option<Role>,
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) level: u8,
    /// The element's states, limited to [`REPORTED_STATES`].
    pub(crate) states: States,
}

/// The states that the browser's accessibility tree reports.
pub(crate) const REPORTED_STATES: States = States::DISABLED
    .union(States::CHECKABLE)
    .union(States::CHECKED)
    .union(States::MIXED)
    .union(States::EXPANDABLE)
    .union(States::EXPANDED)
    .union(States::SELECTABLE)
    .union(States::SELECTED)
    .union(States::PRESSABLE)
    .union(States::PRESSED)
    .union(States::REQUIRED)
    .union(States::READONLY)
    .union(States::INVALID)
    .union(States::MULTISELECTABLE)
    .union(States::MODAL)
    .union(States::BUSY)
    .union(States::HAS_POPUP)
    .union(States::NAME_FROM_CONTENT);
