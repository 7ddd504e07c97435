//! What is true of one toolkit, or of few, by names that say what it means for who reads or drives
//! an app.

use super::Toolkit;

/// Declares the profile by its facts, each with the toolkits of which it is true.
macro_rules! profile {
    ($($(#[$doc:meta])* $fact:ident: $($toolkit:ident)|+,)*) => {
        /// Facts about a toolkit. What is false here is as most toolkits have it.
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct Profile {
            /// The end of a text, as the end of a range.
            pub(crate) text_end: i32,
            /// How a file chooser is told.
            pub(crate) chooser: Chooser,
            /// Where pop-ups are listed.
            pub(crate) popups: Popups,
            $($(#[$doc])* pub(crate) $fact: bool,)*
        }

        impl Profile {
            #[inline]
            pub(super) const fn of(toolkit: Toolkit) -> Self {
                Self {
                    // GTK 4 answers -1 with nothing; others read beyond their text when the end
                    // lies behind it.
                    text_end: if matches!(toolkit, Toolkit::Gtk4) { i32::MAX } else { -1 },
                    chooser: Chooser::of(toolkit),
                    popups: Popups::of(toolkit),
                    $($fact: matches!(toolkit, $(Toolkit::$toolkit)|+),)*
                }
            }
        }
    };
}

profile! {
    /// Its cache is empty: nothing is gained by asking for it.
    has_an_empty_cache: Qt,
    /// Pop-ups may be missing from the children of the app; they only signal that they are shown.
    leaves_out_popups: Qt,
    /// Shows pages of the web, whose elements carry attributes of HTML.
    is_browser: Gecko | Chromium,
    /// Tells text by roles and attributes: it is asked for in rounds of its own
    /// (`capture/gecko.rs`).
    reads_text_late: Gecko,
    /// May hold the windows of other processes in place of an object (`AtkSocket`).
    has_sockets: Gtk3,
    /// Says SHOWING of windows only; VISIBLE means the same of the rest.
    shows_windows_only: Gtk4,
    /// Says SENSITIVE and never ENABLED.
    enables_nothing: Gtk4,
    /// Names at a point whatever it shows there: where the window names nothing, the page does.
    knows_all_that_it_shows: Gecko | Office,
    /// Says of nothing in a window that is covered that it is shown.
    hides_covered_windows: Gecko,
    /// Does not say of the pages of a stack which one is shown.
    hides_pages_silently: Gtk4,
    /// Keeps parts that are not used outside of their window, and says that they are shown.
    parks_parts_outside: Qt,
    /// The list of a combo box that is folded away says that it is shown.
    folded_lists_say_shown: Qt,
    /// Names things after their classes (`GtkButton`) where nobody named them.
    names_after_classes: Gtk4,
    /// The text of a label is not its name.
    labels_differ_from_their_names: Gtk4,
    /// Some labels have a text and no name.
    labels_lack_names: Gtk3 | Office,
    /// Calls every tab `Tab`, and a page after nothing: the label of the tab names both.
    tabs_have_one_name: Gtk4,
    /// What stands in a tab is the page that it chooses, not what the tab is made of.
    tabs_hold_pages: Gtk3 | Office,
    /// Says some controls twice, the one in the other (`GtkMenuButton`, `GtkEntry`).
    wraps_controls: Gtk4,
    /// Says of a dialog only that it is a window of the app.
    dialogs_are_fillers: Gtk4,
    /// Says of no line or item that a press opens it.
    lines_say_no_press: Gtk4,
    /// A cell of a table may hold others, which make its text.
    cells_hold_cells: Gtk3,
    /// Rows of a tree name the row that they belong to; else their indentation tells.
    rows_name_their_parent: Gtk3,
    /// Headers of columns and rows are the children before the cells.
    headers_lie_before_cells: Gtk3 | Qt,
    /// A header that is not shown says so by its place only.
    headers_may_be_hidden: Qt,
    /// Says of the first cell of a row that it is its header where none begins a column.
    first_cells_are_headers: Gecko,
    /// A tree is a table of the lines that are unfolded: they move as others unfold.
    counts_trees_by_lines: Qt,
    /// A table without headers may be icons beside one another.
    shows_icons_in_tables: Qt,
    /// The items say that several may be chosen, not what holds them.
    items_say_that_several_may_be_chosen: Qt,
    /// What stands in a group box borrows its title for a name.
    group_boxes_name_what_they_hold: Qt,
    /// Objects say that they have the focus which have it not.
    several_say_focused: Qt,
    /// The tab that is chosen says that it has the focus, whatever has it.
    chosen_tab_says_focused: Qt,
    /// An entry of a menu says only that it is checked, not that it can be.
    entries_say_only_checked: Qt,
    /// A spin box says only when nobody may write into it.
    spin_boxes_say_only_read_only: Qt,
    /// Fields say only when nobody may write into them, never EDITABLE.
    fields_say_only_read_only: AccessKit,
    /// A combo box that nobody named is called what is chosen in it.
    combo_boxes_are_called_after_their_choice: Gtk3,
    /// The name of a combo box always is what is chosen in it.
    combo_boxes_have_no_other_name: Qt,
    /// A combo box into which anything may be typed holds the field.
    combo_boxes_hold_their_field: Gtk3 | Qt,
    /// A combo box does not say what can be chosen; what is chosen stands on the button that opens
    /// it.
    combo_boxes_list_nothing: Gtk4,
    /// Its states do not tell what is scrolled or paged away: everything is asked for its place.
    is_asked_for_places: Gtk4,
    /// Gives positions in the window where it should give them on the screen.
    places_are_in_the_window: Gtk4,
    /// An input goes to the last of the children that have the point.
    draws_in_order: Gtk3 | Qt,
    /// What lies beside an object in the tree may lie over it in the window.
    children_overlap: Gtk4 | Gtk3,
    /// Of containers only panels let their children lie over one another.
    only_panels_overlap: Gtk3,
    /// What is empty may only paint over controls, and lets presses through.
    paints_over_controls: Qt,
    /// A pop-up may be a modal panel in the window, beside what it covers.
    popovers_are_panels: Gtk3,
    /// A pop-up is told by its class.
    popovers_by_class: Gtk4,
    /// A dock that floats has a window of its own, and is listed below the one that it can go back
    /// into.
    docks_float: Qt,
    /// Names at a point what a press there reaches, not what lies there.
    says_what_a_press_reaches: Gtk4,
    /// Says nothing of what was never shown before, not even its name.
    new_is_silent: Gtk4,
    /// What the arrival of the pointer shows has its place only when it is drawn.
    draws_after_arrival: Gtk4 | Gtk3,
    /// Does what an action asks for a moment after it has answered.
    acts_later: Gtk4,
    /// Over the bus alone locks up at the next key where an action shows a dialog from inside
    /// (`bus/orders.rs`).
    locks_up_in_dialogs: Gtk3,
    /// The actions of boxes turn them without `clicked` or `triggered`, those of menus leave the
    /// menu open.
    turns_without_click: Qt,
    /// A button may have a menu on a part of it only: what a press does then, no action does.
    menu_on_a_part: Qt,
    /// A check box may be the frame of other controls.
    boxes_hold_controls: Qt,
    /// Check boxes and radio buttons take no press behind their text.
    takes_presses_on_text_only: Qt,
    /// A spin box has its buttons behind the text.
    spins_behind_text: Gtk4,
    /// A text that is put into a field leaves the caret before it.
    caret_stays_before_text: Gtk4 | Gtk3,
    /// A field says that it did its action, and does nothing.
    fields_activate_nothing: Gtk4,
    /// A file chooser says on a button whether it opens or saves, and its field takes several
    /// paths.
    choosers_say_what_they_do: Qt,
}

/// By what a window shows that it is a file chooser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chooser {
    /// The role, its own or that of something in it.
    Role,
    /// The class of something in it.
    Class,
    /// A dialog with a list that says which folder it shows, and a field beside.
    Folder,
}

impl Chooser {
    const fn of(toolkit: Toolkit) -> Self {
        match toolkit {
            Toolkit::Gtk4 => Self::Class,
            Toolkit::Qt => Self::Folder,
            _ => Self::Role,
        }
    }
}

/// Where the app lists its pop-ups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Popups {
    /// At any depth.
    Anywhere,
    /// As windows of the app.
    AsWindows,
    /// In windows, never as one; asked for a point, the window answers as if they were not there.
    InWindows,
}

impl Popups {
    const fn of(toolkit: Toolkit) -> Self {
        match toolkit {
            Toolkit::Gtk3 => Self::AsWindows,
            Toolkit::Gtk4 => Self::InWindows,
            _ => Self::Anywhere,
        }
    }
}
