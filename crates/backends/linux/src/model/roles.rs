//! Roles of AT-SPI and what each is in ARIA's words.
//!
//! The numbers and words are those of `AtspiRole` in `atspi-constants.h`, in its order. Where the Core Accessibility API
//! Mappings (Core-AAM 1.2, table of role mappings, column "ATK/AT-SPI") name the ARIA role that a toolkit shows under this
//! role, the row says so; the others are what the header's own description of the role comes to.

use crate::model::roles::number as role;
use crate::model::states;
use crate::toolkit::Toolkit;
use stickpin_tree::{Role, States};

/// Where a row of the table comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(test),
    allow(dead_code, reason = "it is the table's own documentation, and the tests read it")
)]
enum Source {
    /// Core-AAM maps this ARIA role to it.
    CoreAam,
    /// What the description in `atspi-constants.h` says.
    Header,
}

struct Row {
    tag: &'static str,
    role: Role,
    #[cfg_attr(
        not(test),
        allow(dead_code, reason = "it is the table's own documentation, and the tests read it")
    )]
    source: Source,
}

macro_rules! roles {
    ($($number:literal, $tag:literal, $role:ident, $source:ident;)*) => {
        const ROWS: &[Row] = &[$(Row { tag: $tag, role: Role::$role, source: Source::$source },)*];
        #[cfg(test)]
        const NUMBERS: &[u32] = &[$($number,)*];
    };
}

roles! {
    0, "invalid", Generic, Header; // not legal
    1, "accelerator label", Generic, Header;
    2, "alert", AlertDialog, CoreAam; // alertdialog: a GTK message dialog; inside a window an alert
    3, "animation", Image, Header;
    4, "arrow", Image, Header;
    5, "calendar", Group, Header;
    6, "canvas", Canvas, Header;
    7, "check box", Checkbox, CoreAam; // checkbox
    8, "check menu item", MenuItemCheckbox, CoreAam; // menuitemcheckbox
    9, "color chooser", Group, Header; // a dialog when it is a window
    10, "column header", ColumnHeader, CoreAam; // columnheader
    11, "combo box", Combobox, CoreAam; // combobox
    12, "date editor", Group, Header;
    13, "desktop icon", Image, Header;
    14, "desktop frame", Generic, Header;
    15, "dial", Slider, Header;
    16, "dialog", Dialog, CoreAam; // dialog
    17, "directory pane", Group, Header;
    18, "drawing area", Canvas, Header;
    19, "file chooser", Group, Header; // a dialog when it is a window
    20, "filler", Generic, Header;
    21, "focus traversable", Generic, Header;
    22, "font chooser", Group, Header; // a dialog when it is a window
    23, "frame", Window, Header; // inside a window a wrapper (a QFrame of Qt), with a title a group (a dock)
    24, "glass pane", Generic, Header;
    25, "html container", Generic, Header;
    26, "icon", Image, Header; // an option where it can be selected
    27, "image", Image, CoreAam; // img
    28, "internal frame", Generic, Header;
    29, "label", Text, CoreAam; // label: a text leaf
    30, "layered pane", Generic, Header;
    31, "list", List, CoreAam; // list
    32, "list item", ListItem, CoreAam; // listitem; option in a list box or combo box
    33, "menu", Menu, CoreAam; // menu; a menuitem with a popup where it stands in a menu
    34, "menu bar", MenuBar, CoreAam; // menubar
    35, "menu item", MenuItem, CoreAam; // menuitem
    36, "option pane", Group, Header;
    37, "page tab", Tab, CoreAam; // tab
    38, "page tab list", TabList, CoreAam; // tablist
    39, "panel", Group, CoreAam; // group; a wrapper without a name
    40, "password text", TextBox, Header; // protected
    41, "popup menu", Menu, Header;
    42, "progress bar", ProgressBar, CoreAam; // progressbar
    43, "push button", Button, CoreAam; // button
    44, "radio button", Radio, CoreAam; // radio
    45, "radio menu item", MenuItemRadio, CoreAam; // menuitemradio
    46, "root pane", Generic, Header;
    47, "row header", RowHeader, CoreAam; // rowheader
    48, "scroll bar", ScrollBar, CoreAam; // scrollbar
    49, "scroll pane", Generic, Header;
    50, "separator", Separator, CoreAam; // separator
    51, "slider", Slider, CoreAam; // slider
    52, "spin button", SpinButton, CoreAam; // spinbutton
    53, "split pane", Generic, Header;
    54, "status bar", Status, CoreAam; // status
    55, "table", Table, CoreAam; // table, grid
    56, "table cell", Cell, CoreAam; // cell, gridcell
    57, "table column header", ColumnHeader, CoreAam; // columnheader
    58, "table row header", RowHeader, CoreAam; // rowheader
    59, "tear off menu item", MenuItem, Header;
    60, "terminal", TextBox, Header;
    61, "text", TextBox, Header;
    62, "toggle button", Button, CoreAam; // button with aria-pressed
    63, "tool bar", Toolbar, CoreAam; // toolbar
    64, "tool tip", Tooltip, CoreAam; // tooltip
    65, "tree", Tree, CoreAam; // tree
    66, "tree table", TreeGrid, CoreAam; // treegrid
    67, "unknown", Generic, Header;
    68, "viewport", Generic, Header;
    69, "window", Generic, Header; // a popup window: what is in it counts
    70, "extended", Generic, Header;
    71, "header", Group, Header;
    72, "footer", Group, Header;
    73, "paragraph", Paragraph, CoreAam; // paragraph
    74, "ruler", Separator, Header;
    75, "application", Application, Header;
    76, "autocomplete", Combobox, Header;
    77, "edit bar", TextBox, Header;
    78, "embedded", Group, CoreAam; // application
    79, "entry", TextBox, CoreAam; // textbox
    80, "chart", Figure, Header;
    81, "caption", Caption, CoreAam; // caption
    82, "document frame", Region, Header;
    83, "heading", Heading, CoreAam; // heading
    84, "page", Region, Header;
    85, "section", Generic, CoreAam; // generic
    86, "redundant object", Generic, Header;
    87, "form", Form, CoreAam; // form
    88, "link", Link, CoreAam; // link
    89, "input method window", Generic, Header;
    90, "table row", Row, CoreAam; // row
    91, "tree item", TreeItem, CoreAam; // treeitem
    92, "document spreadsheet", Region, Header;
    93, "document presentation", Region, Header;
    94, "document text", Region, Header;
    95, "document web", Region, CoreAam; // document
    96, "document email", Region, Header;
    97, "comment", Note, CoreAam; // comment
    98, "list box", ListBox, CoreAam; // listbox
    99, "grouping", Group, CoreAam; // group
    100, "image map", Image, Header;
    101, "notification", Alert, CoreAam; // alert
    102, "info bar", Status, Header;
    103, "level bar", Meter, CoreAam; // meter
    104, "title bar", Generic, Header;
    105, "block quote", Blockquote, CoreAam; // blockquote
    106, "audio", Audio, Header;
    107, "video", Video, Header;
    108, "definition", Definition, CoreAam; // definition
    109, "article", Article, CoreAam; // article
    110, "landmark", Region, CoreAam; // region and the other landmarks
    111, "log", Log, CoreAam; // log
    112, "marquee", Marquee, CoreAam; // marquee
    113, "math", Math, CoreAam; // math
    114, "rating", Slider, Header;
    115, "timer", Timer, CoreAam; // timer
    116, "static", Text, Header; // a text leaf
    117, "math fraction", Math, Header;
    118, "math root", Math, Header;
    119, "subscript", Subscript, CoreAam; // subscript
    120, "superscript", Superscript, CoreAam; // superscript
    121, "description list", List, Header;
    122, "description term", Term, CoreAam; // term
    123, "description value", Definition, CoreAam; // definition
    124, "footnote", Note, CoreAam; // doc-footnote
    125, "content deletion", Deletion, CoreAam; // deletion
    126, "content insertion", Insertion, CoreAam; // insertion
    127, "mark", Mark, CoreAam; // mark
    128, "suggestion", Suggestion, CoreAam; // suggestion
    129, "push button menu", Button, Header; // with a popup
    130, "switch", Switch, CoreAam; // switch
}

/// Numbers that are asked about by name.
pub(crate) mod number {
    macro_rules! numbers {
        ($($name:ident = $number:literal;)*) => { $(pub(crate) const $name: u32 = $number;)* };
    }
    numbers! {
        ALERT = 2; CHECK_BOX = 7; CHECK_MENU_ITEM = 8; COLOR_CHOOSER = 9; COLUMN_HEADER = 10; COMBO_BOX = 11; DIAL = 15; DIALOG = 16; FILE_CHOOSER = 19; FILLER = 20;
        FONT_CHOOSER = 22; FRAME = 23; ICON = 26; IMAGE = 27; LABEL = 29; LAYERED_PANE = 30; LIST = 31; LIST_ITEM = 32; MENU = 33;
        MENU_BAR = 34; MENU_ITEM = 35; PAGE_TAB = 37; PAGE_TAB_LIST = 38; PANEL = 39; PASSWORD = 40; POPUP_MENU = 41;
        PROGRESS_BAR = 42; PUSH_BUTTON = 43; RADIO_BUTTON = 44; RADIO_MENU_ITEM = 45; ROW_HEADER = 47; SCROLL_BAR = 48; SCROLL_PANE = 49; SLIDER = 51;
        SPIN_BUTTON = 52; TABLE = 55; TABLE_CELL = 56; TABLE_COLUMN_HEADER = 57; TABLE_ROW_HEADER = 58; TERMINAL = 60; TEXT = 61; TOGGLE_BUTTON = 62; TOOL_TIP = 64; TREE = 65;
        TREE_TABLE = 66; UNKNOWN = 67; WINDOW = 69; PARAGRAPH = 73; ENTRY = 79; DOCUMENT_FRAME = 82; HEADING = 83; SECTION = 85;
        LINK = 88; TABLE_ROW = 90; TREE_ITEM = 91; DOCUMENT_PRESENTATION = 93; DOCUMENT_TEXT = 94; DOCUMENT_WEB = 95; LIST_BOX = 98; GROUPING = 99; LEVEL_BAR = 103; ARTICLE = 109;
        LANDMARK = 110; RATING = 114; STATIC = 116; PUSH_BUTTON_MENU = 129; SWITCH = 130;
    }
}

/// AT-SPI's own word for a role.
pub(crate) fn tag(role: u32) -> &'static str {
    ROWS.get(role as usize).map_or("unknown", |row| row.tag)
}

/// Whether a role is a mere wrapper wherever it stands without a name.
pub(crate) fn is_wrapper(role: u32) -> bool {
    role == number::PANEL || ROWS.get(role as usize).is_none_or(|row| row.role == Role::Generic)
}

/// Whether what is written inside an object is its name where it has no other (ARIA, "name from content").
pub(crate) fn is_named_by_content(role: u32) -> bool {
    ROWS.get(role as usize).is_some_and(|row| {
        matches!(
            row.role,
            Role::Button
                | Role::Checkbox
                | Role::Link
                | Role::MenuItem
                | Role::MenuItemCheckbox
                | Role::MenuItemRadio
                | Role::Radio
                | Role::Switch
                | Role::Tab
                | Role::Tooltip
                | Role::TreeItem
        )
    })
}

/// What stands above an object, as far as its role depends on that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Above {
    /// The role number of the parent; of what a row stands in for the cells of the row.
    pub(crate) role: u32,
    /// It is a window of the app.
    pub(crate) top: bool,
    /// A combo box is somewhere above it.
    pub(crate) combo: bool,
}

/// The ARIA role of an object.
pub(crate) fn mapped(role: u32, above: Above, states: u64, named: bool, toolkit: Toolkit) -> Role {
    use number as n;
    let plain = ROWS.get(role as usize).map_or(Role::Generic, |row| row.role);
    let is = |bit: u64| states & bit != 0;
    match role {
        // Role numbers of windows: what they are inside another one is something smaller.
        n::FRAME if !above.top && !named => Role::Generic,
        n::FRAME if !above.top => Role::Group,
        n::DIALOG if !above.top && !named => Role::Generic,
        n::ALERT if !above.top => Role::Alert,
        n::FILE_CHOOSER | n::COLOR_CHOOSER | n::FONT_CHOOSER if above.top => Role::Dialog,
        n::WINDOW if above.top && named => Role::Window,
        n::PANEL if !named => Role::Generic,
        // The list of a combo box is a menu to GTK 3 and Firefox.
        n::MENU if above.combo => Role::ListBox,
        n::MENU_ITEM if above.combo => Role::Option,
        n::MENU if matches!(above.role, n::MENU_BAR | n::MENU | n::POPUP_MENU) => Role::MenuItem,
        // Qt says of an entry only that it is checked: its role is not to depend on that.
        n::MENU_ITEM
            if is(states::CHECKABLE)
                || is(states::CHECKED) && !toolkit.profile().entries_say_only_checked =>
        {
            Role::MenuItemCheckbox
        }
        n::LIST if above.combo => Role::ListBox,
        n::LIST_ITEM if above.combo || above.role == n::LIST_BOX => Role::Option,
        n::ICON if is(states::SELECTABLE) => Role::Option,
        n::TABLE_CELL if above.role == n::TREE_TABLE => Role::GridCell,
        // A text that nobody can edit or put the caret into is only shown.
        n::TEXT if !is(states::EDITABLE) && !is(states::FOCUSABLE) => Role::Generic,
        _ => plain,
    }
}

/// The landmark that `xml-roles` names.
pub(crate) fn landmark(xml_roles: &str) -> Option<Role> {
    let role: Role = xml_roles.split_whitespace().next()?.parse().ok()?;
    matches!(
        role,
        Role::Banner
            | Role::Complementary
            | Role::ContentInfo
            | Role::Form
            | Role::Main
            | Role::Navigation
            | Role::Region
            | Role::Search
    )
    .then_some(role)
}

/// States that the role itself brings.
pub(crate) fn inherent(role: u32, mapped: Role, states: u64) -> States {
    use number as n;
    let mut out = States::empty();
    if role == n::PASSWORD {
        out |= States::PROTECTED;
    }
    // A terminal says of nobody that they may write into it: it takes keys all the same.
    if role == n::TERMINAL {
        out |= States::MULTILINE | States::EDIT_HOST | States::EDITABLE;
    }
    if role == n::TOGGLE_BUTTON {
        out |= States::PRESSABLE;
        if states & (states::CHECKED | states::PRESSED) != 0 {
            out |= States::PRESSED;
        }
    }
    // GTK 4 knows no toggle buttons: one that is pressed says so.
    if role == n::PUSH_BUTTON && states & states::PRESSED != 0 {
        out |= States::PRESSABLE | States::PRESSED;
    }
    if role == n::PUSH_BUTTON_MENU || (role == n::MENU && mapped == Role::MenuItem) {
        out |= States::HAS_POPUP;
    }
    if role == n::SCROLL_PANE {
        out |= States::SCROLLABLE;
    }
    if matches!(mapped, Role::Status | Role::Alert | Role::Log | Role::Timer) {
        out |= States::LIVE;
    }
    if matches!(mapped, Role::Option | Role::Tab | Role::TreeItem | Role::ListItem)
        && states & states::SELECTABLE != 0
    {
        out |= States::ACTIONABLE;
    }
    out
}

/// Roles that text is typed into.
pub(crate) fn is_field(number: u32) -> bool {
    matches!(number, role::TEXT | role::ENTRY | role::PASSWORD | role::SPIN_BUTTON | role::TERMINAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSIDE: Above = Above { role: number::PANEL, top: false, combo: false };
    const TOP: Above = Above { role: 75, top: true, combo: false };

    #[test]
    fn the_table_has_every_number_of_the_header_in_order() {
        for (at, &number) in NUMBERS.iter().enumerate() {
            assert_eq!(at, number as usize);
        }
        assert_eq!(ROWS.len(), 131);
        assert_eq!(tag(43), "push button");
        assert_eq!(tag(130), "switch");
        assert_eq!(tag(9999), "unknown");
        assert!(
            ROWS.iter().filter(|row| row.source == Source::CoreAam).all(|row| row.role != Role::Application)
        );
    }

    #[test]
    fn the_same_number_is_another_role_elsewhere() {
        let role = |number, above, states, named| mapped(number, above, states, named, Toolkit::Gtk3);
        assert_eq!(role(number::FRAME, TOP, 0, true), Role::Window);
        assert_eq!(role(number::FRAME, INSIDE, 0, false), Role::Generic);
        assert_eq!(role(number::FRAME, INSIDE, 0, true), Role::Group);
        assert_eq!(role(number::ALERT, TOP, 0, true), Role::AlertDialog);
        assert_eq!(role(number::FILE_CHOOSER, TOP, 0, true), Role::Dialog);
        let bar = Above { role: number::MENU_BAR, top: false, combo: false };
        assert_eq!(role(number::MENU, bar, 0, true), Role::MenuItem);
        assert_eq!(role(number::MENU, INSIDE, 0, false), Role::Menu);
        assert_eq!(role(number::MENU_ITEM, bar, states::CHECKED, true), Role::MenuItemCheckbox);
        let of_qt = |states| mapped(number::MENU_ITEM, bar, states, true, Toolkit::Qt);
        assert_eq!(of_qt(states::CHECKED), of_qt(0), "it says of none that it can be checked");
        assert_eq!(role(number::PANEL, INSIDE, 0, false), Role::Generic);
        assert_eq!(role(number::PANEL, INSIDE, 0, true), Role::Group);
        assert_eq!(role(5000, INSIDE, 0, true), Role::Generic);
    }

    #[test]
    fn a_landmark_is_what_the_page_says_it_is() {
        assert_eq!(landmark("navigation"), Some(Role::Navigation));
        assert_eq!(landmark("button"), None);
        assert_eq!(landmark(""), None);
    }
}
