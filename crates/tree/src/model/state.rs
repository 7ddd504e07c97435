//! The states of a node at the moment of a capture. States are never part of an element's meaning.

use bitflags::bitflags;

bitflags! {
    /// States and traits of a node.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
    pub struct States: u32 {
        /// Cannot be used now.
        const DISABLED = 1;
        /// Can be checked at all (checkbox, radio, switch, menu item).
        const CHECKABLE = 1 << 1;
        /// Is checked.
        const CHECKED = 1 << 2;
        /// Is partly checked.
        const MIXED = 1 << 3;
        /// Can be expanded and collapsed.
        const EXPANDABLE = 1 << 4;
        /// Is expanded.
        const EXPANDED = 1 << 5;
        /// Can be selected (option, tab, row).
        const SELECTABLE = 1 << 6;
        /// Is selected.
        const SELECTED = 1 << 7;
        /// Is a toggle button.
        const PRESSABLE = 1 << 8;
        /// Is a toggle button that is on.
        const PRESSED = 1 << 9;
        /// Must be filled in.
        const REQUIRED = 1 << 10;
        /// Shows a value that cannot be changed.
        const READONLY = 1 << 11;
        /// Has the keyboard focus.
        const FOCUSED = 1 << 12;
        /// Can take the keyboard focus.
        const FOCUSABLE = 1 << 13;
        /// Has a value that the app considers wrong.
        const INVALID = 1 << 14;
        /// Allows several options to be selected at once.
        const MULTISELECTABLE = 1 << 15;
        /// Is a dialog that blocks the rest of the app.
        const MODAL = 1 << 16;
        /// Is in the tree but invisible to a person (`visibility: hidden` and similar).
        const HIDDEN = 1 << 17;
        /// Accepts text.
        const EDITABLE = 1 << 18;
        /// Is a text field of several lines.
        const MULTILINE = 1 << 19;
        /// Holds a password or another secret: the value is never reported.
        const PROTECTED = 1 << 20;
        /// Can be scrolled by a person.
        const SCROLLABLE = 1 << 21;
        /// Is being updated (`aria-busy`).
        const BUSY = 1 << 22;
        /// Is a live region, or has a role that implies one (`status`, `alert`, `log`, `timer`).
        const LIVE = 1 << 23;
        /// Can be acted on by a person: a control, or another clickable element.
        const ACTIONABLE = 1 << 24;
        /// Has a name that comes from its content, so the text leaves below repeat the name.
        const NAME_FROM_CONTENT = 1 << 25;
        /// Opens a popup (`aria-haspopup`).
        const HAS_POPUP = 1 << 26;
        /// Is the root of content that a person edits, such as a text area. The text inside is the
        /// person's, not the app's.
        const EDIT_HOST = 1 << 27;
        /// Is a `<time>` element or similar.
        const TIME = 1 << 28;
        /// Is a text leaf of a block-like parent: an outline must not join it with texts outside
        /// that parent.
        const BLOCK = 1 << 29;
        /// Has a value that was cut in the capture; the device has the rest.
        const CLIPPED = 1 << 30;
    }
}
