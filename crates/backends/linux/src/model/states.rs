//! AT-SPI states (`AtspiStateType` in `atspi-constants.h`, by number) and their meaning.

use crate::toolkit::profile::Toolkit;
use stickpin_tree::{Role, States};

macro_rules! states {
    ($($name:ident = $bit:literal;)*) => { $(pub(crate) const $name: u64 = 1 << $bit;)* };
}

states! {
    ACTIVE = 1; BUSY = 3; CHECKED = 4; COLLAPSED = 5; DEFUNCT = 6; EDITABLE = 7; ENABLED = 8; EXPANDABLE = 9;
    EXPANDED = 10; FOCUSABLE = 11; FOCUSED = 12; MODAL = 16; MULTI_LINE = 17; MULTISELECTABLE = 18; OPAQUE = 19;
    PRESSED = 20; RESIZABLE = 21; SELECTABLE = 22; SELECTED = 23; SENSITIVE = 24; SHOWING = 25; VISIBLE = 30;
    MANAGES_DESCENDANTS = 31; INDETERMINATE = 32; REQUIRED = 33; INVALID_ENTRY = 36;
    SUPPORTS_AUTOCOMPLETION = 37; SELECTABLE_TEXT = 38; CHECKABLE = 41; HAS_POPUP = 42; READ_ONLY = 43;
}

/// The states of an object that is visible and usable.
pub(crate) const USABLE: u64 = VISIBLE | SHOWING | ENABLED | SENSITIVE;

/// Joins the two words of `GetState` into one number.
pub(crate) fn join_words(words: &[u32]) -> u64 {
    let word = |at: usize| u64::from(words.get(at).copied().unwrap_or(0));
    word(0) | word(1) << 32
}

/// Returns whether an object is visible, judging by its own states. In GTK 4.8, only windows report
/// SHOWING.
pub(crate) fn is_visible(states: u64, toolkit: Toolkit) -> bool {
    let sign = if toolkit.profile().shows_windows_only { VISIBLE } else { SHOWING };
    states & (sign | DEFUNCT) == sign
}

/// Returns whether an object is disabled. GTK 4 reports only SENSITIVE, and some objects of GTK 3
/// (tabs) report only ENABLED.
pub(crate) fn is_disabled(states: u64, toolkit: Toolkit) -> bool {
    let signs = if toolkit.profile().enables_nothing { SENSITIVE } else { ENABLED | SENSITIVE };
    states & signs == 0
}

/// Returns whether a role is an item of a selection, whose container may be multiselectable.
pub(crate) fn is_item(role: Role) -> bool {
    use Role::{Cell, ColumnHeader, GridCell, ListItem, Row, RowHeader, Tab, TreeItem};
    let in_table = matches!(role, Row | Cell | GridCell | ColumnHeader | RowHeader);
    in_table || matches!(role, Role::Option | ListItem | TreeItem | Tab)
}

/// Converts states to those of the tree.
pub(crate) fn aria_states(states: u64, role: Role, toolkit: Toolkit) -> States {
    let is = |bit: u64| states & bit != 0;
    let mut out = States::empty();
    let mut set = |on: bool, state: States| out |= if on { state } else { States::empty() };
    let control = role.is_control();
    set(control && is_disabled(states, toolkit), States::DISABLED);
    set(is(BUSY), States::BUSY);
    set(is(FOCUSABLE), States::FOCUSABLE);
    // In Qt, the selected tab reports the focus, wherever the focus is.
    let chosen_tab = role == Role::Tab && toolkit.profile().chosen_tab_says_focused && is(FOCUSED);
    set(is(FOCUSED) && !chosen_tab, States::FOCUSED);
    set(chosen_tab, States::SELECTABLE | States::SELECTED);
    set(is(MODAL), States::MODAL);
    set(is(REQUIRED), States::REQUIRED);
    set(is(INVALID_ENTRY), States::INVALID);
    set(is(MULTISELECTABLE) && !is_item(role), States::MULTISELECTABLE);
    set(is(HAS_POPUP), States::HAS_POPUP);
    set(is(SELECTABLE), States::SELECTABLE);
    set(is(SELECTABLE) && is(SELECTED), States::SELECTED);
    // Qt and GTK 4 report COLLAPSED instead of EXPANDABLE.
    set(is(EXPANDABLE) || is(COLLAPSED), States::EXPANDABLE);
    set(is(EXPANDED), States::EXPANDED | States::EXPANDABLE);
    let in_menu = matches!(role, Role::MenuItemCheckbox | Role::MenuItemRadio);
    let checkable = in_menu || matches!(role, Role::Checkbox | Role::Radio | Role::Switch);
    // For lines with a box, Qt reports which of them are checkable, but GTK 3 reports only which
    // are checked. For menu entries, Qt does the latter.
    let says = is_item(role) || role == Role::MenuItem && toolkit.profile().entries_say_only_checked;
    let checkable = checkable || says && is(CHECKABLE | CHECKED);
    set(checkable, States::CHECKABLE);
    set(checkable && is(CHECKED), States::CHECKED);
    set(checkable && is(INDETERMINATE), States::MIXED);
    let field = matches!(role, Role::TextBox | Role::SearchBox | Role::SpinButton);
    // Qt reports that a spin box is read-only, but never that it is editable.
    let spun = role == Role::SpinButton && toolkit.profile().spin_boxes_say_only_read_only;
    let editable = is(EDITABLE) || spun || toolkit.profile().fields_say_only_read_only;
    set(field && editable, States::EDITABLE);
    set(field && is(MULTI_LINE), States::MULTILINE | States::EDIT_HOST);
    set(field && (is(READ_ONLY) || !editable), States::READONLY);
    set(control, States::ACTIONABLE);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spin_box_of_qt_says_only_that_it_is_not_to_be_written_into() {
        let on =
            |states, toolkit| aria_states(states | ENABLED, Role::SpinButton, toolkit) & States::READONLY;
        assert!(on(0, Toolkit::Qt).is_empty());
        assert!(!on(READ_ONLY, Toolkit::Qt).is_empty());
        assert!(!on(0, Toolkit::Gtk3).is_empty());
    }

    #[test]
    fn what_can_be_seen_depends_on_the_toolkit() {
        assert!(is_visible(VISIBLE, Toolkit::Gtk4));
        assert!(!is_visible(VISIBLE, Toolkit::Gtk3));
        assert!(is_visible(VISIBLE | SHOWING, Toolkit::Qt));
        assert!(!is_visible(VISIBLE | SHOWING | DEFUNCT, Toolkit::Qt));
    }

    #[test]
    fn gtk_4_button_is_disabled_only_without_sensitive() {
        let states = |s| aria_states(s, Role::Button, Toolkit::Gtk4);
        assert!(!states(SENSITIVE | VISIBLE).contains(States::DISABLED));
        assert!(states(VISIBLE).contains(States::DISABLED));
        assert!(!aria_states(ENABLED | SENSITIVE, Role::Button, Toolkit::Gtk3).contains(States::DISABLED));
        assert!(aria_states(SHOWING, Role::Button, Toolkit::Qt).contains(States::DISABLED));
        assert!(!aria_states(SHOWING | ENABLED, Role::Tab, Toolkit::Gtk3).contains(States::DISABLED));
        // An element that cannot be operated is not disabled.
        assert!(!aria_states(VISIBLE, Role::Group, Toolkit::Gtk4).contains(States::DISABLED));
    }

    #[test]
    fn what_takes_several_is_the_list_not_what_is_in_it() {
        let several =
            |role| aria_states(MULTISELECTABLE, role, Toolkit::Qt).contains(States::MULTISELECTABLE);
        assert!(several(Role::ListBox) && several(Role::Table));
        assert!(!several(Role::Option) && !several(Role::Cell));
    }

    #[test]
    fn the_chosen_tab_of_qt_has_not_the_focus() {
        let tab = |toolkit| {
            aria_states(FOCUSED | FOCUSABLE, Role::Tab, toolkit) & (States::FOCUSED | States::SELECTED)
        };
        assert_eq!(tab(Toolkit::Qt), States::SELECTED);
        assert_eq!(tab(Toolkit::Gtk3), States::FOCUSED);
    }

    #[test]
    fn checked_counts_for_what_can_be_checked() {
        let on = |role| aria_states(CHECKED | ENABLED, role, Toolkit::Qt);
        assert!(on(Role::Checkbox).contains(States::CHECKED | States::CHECKABLE));
        let entry =
            |toolkit| aria_states(CHECKED | ENABLED, Role::MenuItem, toolkit).contains(States::CHECKED);
        assert!(entry(Toolkit::Qt), "its role is the same whether or not it is checked");
        assert!(!entry(Toolkit::Gtk3));
        assert!(on(Role::Cell).contains(States::CHECKED), "a line with a box");
        let off = |states| aria_states(states | ENABLED, Role::Option, Toolkit::Qt);
        assert!(off(CHECKABLE).contains(States::CHECKABLE) && !off(0).contains(States::CHECKABLE));
    }

    #[test]
    fn a_field_that_cannot_be_edited_is_read_only() {
        let field = |s| aria_states(s, Role::TextBox, Toolkit::Gtk3);
        assert!(field(SENSITIVE | EDITABLE).contains(States::EDITABLE));
        assert!(field(SENSITIVE).contains(States::READONLY));
        assert!(field(SENSITIVE | EDITABLE | MULTI_LINE).contains(States::EDIT_HOST | States::MULTILINE));
    }
}
