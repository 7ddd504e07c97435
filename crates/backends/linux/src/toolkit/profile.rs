//! Toolkits, how they are recognized, and facts about them. The name of each fact states its
//! meaning for reading or driving an app.

/// The prefix of AccessKit's object paths: `/org/a11y/atspi/accessible/ADAPTER/NODE`, in which
/// `ADAPTER` and `NODE` are numbers.
const ACCESSIBLE: &str = "/org/a11y/atspi/accessible/";

/// The toolkit of an app. Toolkits that need not be distinguished share a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub(crate) enum Toolkit {
    Gtk4,
    /// GTK 3, and others that use its bridge: Java, VTE.
    Gtk3,
    /// Qt. It crashes on `Properties.GetAll` of its root.
    Qt,
    /// Firefox and its relatives.
    Gecko,
    /// Chromium and Electron.
    Chromium,
    /// LibreOffice.
    Office,
    /// AccessKit apps: egui, Slint, Bevy, Godot and others. Each reports a different toolkit name.
    AccessKit,
    /// Unknown toolkits, which are assumed to behave like most toolkits.
    #[default]
    Other,
}

impl Toolkit {
    /// Determines a toolkit by `Application.ToolkitName` and `Application.Version` (`gtk` 3.24,
    /// `GTK` 4.8, `Qt`, `Gecko`, `VCL`).
    pub(crate) fn of(name: &str, version: &str) -> Self {
        match name {
            "GTK" => Self::Gtk4,
            "gtk" if version.starts_with('4') => Self::Gtk4,
            "gtk" => Self::Gtk3,
            "Gecko" => Self::Gecko,
            "Chromium" => Self::Chromium,
            "VCL" => Self::Office,
            name if name.starts_with("Qt") => Self::Qt,
            _ => Self::Other,
        }
    }

    /// Determines a toolkit by the path of a window, if the name of the toolkit is not conclusive.
    pub(crate) fn of_window(path: &str) -> Self {
        let is_number = |part: &str| part.bytes().all(|b| b.is_ascii_digit()) && !part.is_empty();
        let numbers = path.strip_prefix(ACCESSIBLE).and_then(|rest| rest.split_once('/'));
        match numbers {
            Some((adapter, node)) if is_number(adapter) && is_number(node) => Self::AccessKit,
            _ => Self::Other,
        }
    }
}

/// Declares the profile: each fact with the toolkits for which it is true.
macro_rules! profile {
    ($($(#[$doc:meta])* $fact:ident: $($toolkit:ident)|+,)*) => {
        /// The facts about a toolkit. `false` is the common behavior.
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct Profile {
            /// The end of a range that extends to the end of a text.
            pub(crate) text_end: i32,
            /// How file choosers are recognized.
            pub(crate) chooser: Chooser,
            /// Where popups are listed.
            pub(crate) popups: Popups,
            /// The class that the content of every popup is named after.
            pub(crate) popover: Option<&'static str>,
            /// The prefixes of the classes that objects without a name are named after.
            pub(crate) class_prefixes: &'static [&'static str],
            $($(#[$doc])* pub(crate) $fact: bool,)*
        }

        impl Toolkit {
            /// Returns the facts about the toolkit.
            #[inline]
            pub(crate) const fn profile(self) -> Profile {
                Profile {
                    // GTK 4 returns nothing for -1; others read beyond the text if the end is
                    // greater than its length.
                    text_end: if matches!(self, Self::Gtk4) { i32::MAX } else { -1 },
                    chooser: match self {
                        Self::Gtk4 => Chooser::Class("GtkFileChooserWidget"),
                        Self::Qt => Chooser::Folder,
                        _ => Chooser::Role,
                    },
                    popups: match self {
                        Self::Gtk3 => Popups::AsWindows,
                        Self::Gtk4 => Popups::InWindows,
                        _ => Popups::Anywhere,
                    },
                    // Until GTK 4.10.
                    popover: if matches!(self, Self::Gtk4) { Some("GtkPopoverContent") } else { None },
                    class_prefixes: match self {
                        Self::Gtk4 => &["Gtk", "Adw", "Gdk", "Hdy", "Vte", "WebKit"],
                        _ => &[],
                    },
                    $($fact: matches!(self, $(Self::$toolkit)|+),)*
                }
            }
        }
    };
}

profile! {
    /// The app shows web pages, whose elements have HTML attributes.
    is_browser: Gecko | Chromium,
    /// Roles and attributes determine which texts are read, in separate rounds
    /// (`toolkit/gecko.rs`).
    reads_text_late: Gecko,
    /// The app may embed windows of other processes (`AtkSocket`).
    has_sockets: Gtk3,
    /// Only windows report SHOWING. For all other objects, VISIBLE means the same.
    shows_windows_only: Gtk4,
    /// The app reports SENSITIVE and never ENABLED.
    enables_nothing: Gtk4,
    /// At any point, the app can name the object that it shows there: if the window names none, the
    /// page does.
    knows_all_that_it_shows: Gecko | Office,
    /// The text of a label differs from its name.
    labels_differ_from_their_names: Gtk4,
    /// Some labels have a text but no name.
    labels_lack_names: Gtk3 | Office,
    /// An object has the same role as long as it exists (`GtkAccessible:accessible-role`).
    roles_are_fixed: Gtk4,
    /// Every tab is named `Tab`, and pages have no name. The label of the tab names both.
    tabs_have_one_name: Gtk4,
    /// The child of a tab is its page, not its label.
    tabs_hold_pages: Gtk3 | Office,
    /// Some controls appear twice, one inside the other (`GtkMenuButton`, `GtkEntry`).
    wraps_controls: Gtk4,
    /// Dialogs are reported as mere windows of the app.
    dialogs_are_fillers: Gtk4,
    /// Lines of lists and items of grids do not report that a press opens them.
    lines_say_no_press: Gtk4,
    /// A table cell may contain other cells, which make up its text.
    cells_hold_cells: Gtk3,
    /// Rows of a tree name their parent row; otherwise, their indentation determines their level.
    rows_name_their_parent: Gtk3,
    /// Column and row headers are children of the table, each before the cells that it belongs to.
    headers_lie_before_cells: Gtk3 | Qt,
    /// Some hidden headers are recognizable only by their empty rectangles.
    headers_may_be_hidden: Qt,
    /// A tree is a table of its visible lines, whose indices shift when other lines are unfolded.
    counts_trees_by_lines: Qt,
    /// A table without headers may be a grid of icons.
    shows_icons_in_tables: Qt,
    /// Multiple selection is reported by the items, not by their container.
    items_say_that_several_may_be_chosen: Qt,
    /// The content of a group box is named after the title of the box.
    group_boxes_name_what_they_hold: Qt,
    /// The selected tab reports the focus, wherever the focus is.
    chosen_tab_says_focused: Qt,
    /// A menu entry reports that it is checked, but not that it is checkable.
    entries_say_only_checked: Qt,
    /// A spin box reports that it is read-only, but never that it is editable.
    spin_boxes_say_only_read_only: Qt,
    /// Fields report READ_ONLY but never EDITABLE.
    fields_say_only_read_only: AccessKit,
    /// A combo box without a name is named after its selected option.
    combo_boxes_are_called_after_their_choice: Gtk3,
    /// A combo box is always named after its selected option.
    combo_boxes_have_no_other_name: Qt,
    /// An editable combo box contains its field.
    combo_boxes_hold_their_field: Gtk3 | Qt,
    /// A combo box does not list its options. The selected one is on the button that opens it.
    combo_boxes_list_nothing: Gtk4,
    /// The states of objects do not reveal what is scrolled or paged away, so every rectangle is
    /// queried.
    is_asked_for_places: Gtk4,
    /// Positions are relative to the window; those on the screen are not supported.
    places_are_in_the_window: Gtk4,
    /// An input goes to the last child at the point.
    draws_in_order: Gtk3 | Qt,
    /// Siblings may cover an object inside the window.
    children_overlap: Gtk4 | Gtk3,
    /// Only panels let their children overlap.
    only_panels_overlap: Gtk3,
    /// Empty objects may merely paint over controls and let presses through.
    paints_over_controls: Qt,
    /// A popup may be a modal panel inside the window, next to the objects that it covers.
    popovers_are_panels: Gtk3,
    /// A floating dock has its own window, but is listed below its original window.
    docks_float: Qt,
    /// At a point, the toolkit names the object that a press there reaches, not the one that is
    /// positioned there.
    says_what_a_press_reaches: Gtk4,
    /// Neither the appearance nor the name of an object that has never been shown before is
    /// signaled.
    new_is_silent: Gtk4,
    /// Content that the pointer's arrival reveals has a position only after it is drawn.
    draws_after_arrival: Gtk4 | Gtk3,
    /// Actions take effect shortly after they are answered.
    acts_later: Gtk4,
    /// If only the bus is used, the app locks up at the next key after an action that shows a
    /// dialog from inside (`bus/orders.rs`).
    locks_up_in_dialogs: Gtk3,
    /// Actions of check boxes toggle them without emitting `clicked` or `triggered`; those of menu
    /// entries leave the menu open.
    turns_without_click: Qt,
    /// A press may show a button's menu only on one part of the button. No action presses the other
    /// part.
    menu_on_a_part: Qt,
    /// A check box may be a group box around other controls.
    boxes_hold_controls: Qt,
    /// Check boxes and radio buttons ignore presses beyond their text.
    takes_presses_on_text_only: Qt,
    /// A spin box has its buttons after the text.
    spins_behind_text: Gtk4,
    /// Setting the text of a field leaves the caret before the text.
    caret_stays_before_text: Gtk4 | Gtk3,
    /// The action of a field reports success, but does nothing.
    fields_activate_nothing: Gtk4,
    /// A file chooser has a button that shows whether it opens or saves, and its field accepts
    /// several paths.
    choosers_say_what_they_do: Qt,
}

/// How a window is recognized as a file chooser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chooser {
    /// By the role of the window or of a descendant.
    Role,
    /// By the class of a descendant.
    Class(&'static str),
    /// By two controls of a dialog: a combo box that shows the current folder, and a field.
    Folder,
}

/// Where an app lists its popups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Popups {
    /// At any depth.
    Anywhere,
    /// As windows of the app.
    AsWindows,
    /// Inside windows, never as separate windows. When queried for a point, the window answers as
    /// if there were no popups.
    InWindows,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toolkits_are_told_by_what_they_say_of_themselves() {
        assert_eq!(Toolkit::of("GTK", "4.8.3"), Toolkit::Gtk4);
        assert_eq!(Toolkit::of("gtk", "3.24.38"), Toolkit::Gtk3);
        assert_eq!(Toolkit::of("Qt", "5.15.8"), Toolkit::Qt);
        assert_eq!(Toolkit::of("VCL", ""), Toolkit::Office);
        assert_eq!(Toolkit::of("", ""), Toolkit::Other);
    }

    #[test]
    fn access_kit_is_told_by_where_it_has_its_objects() {
        assert_eq!(Toolkit::of_window("/org/a11y/atspi/accessible/0/1"), Toolkit::AccessKit);
        for path in ["/org/a11y/atspi/accessible/17", "/org/a11y/atspi/accessible/root", "/org/x/0/1", "/0/"]
        {
            assert_eq!(Toolkit::of_window(path), Toolkit::Other, "{path}");
        }
    }
}
