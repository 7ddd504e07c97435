//! AT-SPI roles: their ARIA counterparts and properties.

use crate::model::roles::number as n;
use crate::model::states;
use crate::toolkit::profile::Toolkit;
use std::sync::LazyLock;
use stickpin_tree::{Role, States};

/// The roles, one per line.
const TABLE: &str = include_str!("roles/table.txt");

/// A line of the table. Its index is the number of the role.
struct Row {
    tag: &'static str,
    role: Role,
    facts: Facts,
}

impl Row {
    fn of(line: &'static str) -> Self {
        let mut columns = line.split('|').map(str::trim);
        let mut next = || columns.next().unwrap_or_default();
        let (_number, tag, role, _source, facts) = (next(), next(), next(), next(), next());
        let facts = facts.split_whitespace().filter_map(Facts::from_name).collect();
        Self { tag, role: role.parse().unwrap_or(Role::Generic), facts }
    }
}

static ROWS: LazyLock<Vec<Row>> =
    LazyLock::new(|| TABLE.lines().filter(|line| !line.starts_with('#')).map(Row::of).collect());

bitflags::bitflags! {
    /// Properties of a role, independent of the object that has it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Facts: u16 {
        /// The content is the name of an object that has no other name (ARIA, "name from content").
        const CONTENT = 1;
        /// The role is a cell or a header of a table.
        const CELL = 1 << 1;
        /// The role is an item of a list, a tree or a table.
        const ITEM = 1 << 2;
        /// Content that is out of sight is folded away, not scrolled away.
        const FOLDS = 1 << 3;
        /// Another object may label an object of this role.
        const LABELLED = 1 << 4;
        /// The text is never read, because it equals the name or is secret.
        const TEXTLESS = 1 << 5;
        /// Objects of this role have a number that a person reads or sets.
        const NUMBER = 1 << 6;
        /// Page ids distinguish objects of this role from similar ones.
        const KEYED = 1 << 7;
        /// Objects of this role do not report whether they can be pressed.
        const MUTE = 1 << 8;
        /// The role is a page or another document in a window.
        const DOCUMENT = 1 << 9;
        /// The role's action has the effect of a press. A press on a row selects it, whereas its
        /// action opens it.
        const PRESSED = 1 << 10;
        /// Objects of this role can be checked or toggled.
        const CHECKED = 1 << 11;
        /// The wheel over an object of this role changes the object's number or choice.
        const TURNED = 1 << 12;
    }
}

/// Returns whether a role has a property.
pub(crate) fn is(role: u32, fact: Facts) -> bool {
    ROWS.get(role as usize).is_some_and(|row| row.facts.contains(fact))
}

/// Role numbers that are used by name.
pub(crate) mod number {
    macro_rules! numbers {
        ($($name:ident = $number:literal;)*) => { $(pub(crate) const $name: u32 = $number;)* };
    }
    numbers! {
        ALERT = 2; CHECK_BOX = 7; CHECK_MENU_ITEM = 8; COLOR_CHOOSER = 9; COLUMN_HEADER = 10; COMBO_BOX = 11; DIAL = 15; DIALOG = 16; FILE_CHOOSER = 19; FILLER = 20;
        FONT_CHOOSER = 22; FRAME = 23; ICON = 26; LABEL = 29; LAYERED_PANE = 30; LIST = 31; LIST_ITEM = 32; MENU = 33;
        MENU_BAR = 34; MENU_ITEM = 35; PAGE_TAB = 37; PAGE_TAB_LIST = 38; PANEL = 39; PASSWORD = 40; POPUP_MENU = 41;
        PROGRESS_BAR = 42; PUSH_BUTTON = 43; RADIO_BUTTON = 44; RADIO_MENU_ITEM = 45; ROW_HEADER = 47; SCROLL_BAR = 48; SCROLL_PANE = 49; SLIDER = 51;
        SPIN_BUTTON = 52; TABLE = 55; TABLE_CELL = 56; TABLE_COLUMN_HEADER = 57; TABLE_ROW_HEADER = 58; TERMINAL = 60; TEXT = 61; TOGGLE_BUTTON = 62; TOOL_TIP = 64; TREE = 65;
        TREE_TABLE = 66; WINDOW = 69; PARAGRAPH = 73; ENTRY = 79; DOCUMENT_FRAME = 82; HEADING = 83; SECTION = 85;
        LINK = 88; TABLE_ROW = 90; TREE_ITEM = 91; DOCUMENT_PRESENTATION = 93; DOCUMENT_TEXT = 94; DOCUMENT_WEB = 95; LIST_BOX = 98; GROUPING = 99; ARTICLE = 109;
        LANDMARK = 110; STATIC = 116; PUSH_BUTTON_MENU = 129;
    }
}

/// Returns AT-SPI's own name for a role.
pub(crate) fn tag(role: u32) -> &'static str {
    ROWS.get(role as usize).map_or("unknown", |row| row.tag)
}

/// Returns whether a role without a name is a mere wrapper.
pub(crate) fn is_wrapper(role: u32) -> bool {
    role == n::PANEL || ROWS.get(role as usize).is_none_or(|row| row.role == Role::Generic)
}

/// The properties of an object's ancestors on which the object's role depends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ParentContext {
    /// The role number of the parent; for the cells of a row, that of the row's container.
    pub(crate) role: u32,
    /// Whether the object is a window of the app.
    pub(crate) top: bool,
    /// Whether the object has a combo box as an ancestor.
    pub(crate) combo: bool,
}

/// Returns the ARIA role of an object.
pub(crate) fn aria_role(role: u32, above: ParentContext, states: u64, named: bool, toolkit: Toolkit) -> Role {
    let is = |bit: u64| states & bit != 0;
    // Qt reports that a menu entry is checked, but not that it is checkable. The role must not
    // depend on whether the entry is checked.
    let says_only_checked = toolkit.profile().entries_say_only_checked;
    let checkable = is(states::CHECKABLE) || is(states::CHECKED) && !says_only_checked;
    match role {
        // Window roles denote something smaller inside another window.
        n::FRAME | n::DIALOG if !above.top && !named => Role::Generic,
        n::FRAME if !above.top => Role::Group,
        n::ALERT if !above.top => Role::Alert,
        n::FILE_CHOOSER | n::COLOR_CHOOSER | n::FONT_CHOOSER if above.top => Role::Dialog,
        n::WINDOW if above.top && named => Role::Window,
        n::PANEL if !named => Role::Generic,
        // The list of a combo box, which GTK 3 and Firefox report as a menu, and others as a list.
        n::MENU | n::LIST if above.combo => Role::ListBox,
        n::MENU_ITEM if above.combo => Role::Option,
        n::MENU if matches!(above.role, n::MENU_BAR | n::MENU | n::POPUP_MENU) => Role::MenuItem,
        n::MENU_ITEM if checkable => Role::MenuItemCheckbox,
        n::LIST_ITEM if above.combo || above.role == n::LIST_BOX => Role::Option,
        n::ICON if is(states::SELECTABLE) => Role::Option,
        n::TABLE_CELL if above.role == n::TREE_TABLE => Role::GridCell,
        // A text that is neither editable nor focusable is plain.
        n::TEXT if !is(states::EDITABLE) && !is(states::FOCUSABLE) => Role::Generic,
        _ => ROWS.get(role as usize).map_or(Role::Generic, |row| row.role),
    }
}

/// Returns the role that the first word of `xml-roles` names; `None` if that role is no landmark.
pub(crate) fn landmark(xml_roles: &str) -> Option<Role> {
    let role: Role = xml_roles.split_whitespace().next()?.parse().ok()?;
    const LANDMARKS: &str = "banner complementary contentinfo form main navigation region search";
    LANDMARKS.split(' ').any(|landmark| landmark == role.name()).then_some(role)
}

/// Returns the states that a role implies, by itself or together with a reported state.
pub(crate) fn inherent_states(role: u32, mapped: Role, states: u64) -> States {
    let mut out = States::empty();
    out.set(States::PROTECTED, role == n::PASSWORD);
    out.set(States::SCROLLABLE, role == n::SCROLL_PANE);
    out.set(States::HAS_POPUP, role == n::PUSH_BUTTON_MENU || role == n::MENU && mapped == Role::MenuItem);
    out.set(States::LIVE, matches!(mapped, Role::Status | Role::Alert | Role::Log | Role::Timer));
    let item = matches!(mapped, Role::Option | Role::Tab | Role::TreeItem | Role::ListItem);
    out.set(States::ACTIONABLE, item && states & states::SELECTABLE != 0);
    // A terminal does not report EDITABLE, but accepts keys.
    out.set(States::MULTILINE | States::EDIT_HOST | States::EDITABLE, role == n::TERMINAL);
    // GTK 4 has no role for toggle buttons; a pressed one reports PRESSED.
    let toggle = role == n::TOGGLE_BUTTON;
    let signs = if toggle { states::CHECKED | states::PRESSED } else { states::PRESSED };
    let pressed = (toggle || role == n::PUSH_BUTTON) && states & signs != 0;
    out.set(States::PRESSABLE, toggle || pressed);
    out.set(States::PRESSED, pressed);
    out
}

/// Returns whether a role is an entry of a menu.
pub(crate) fn is_menu_item(number: u32) -> bool {
    matches!(number, n::MENU_ITEM | n::CHECK_MENU_ITEM | n::RADIO_MENU_ITEM)
}

/// Returns whether a role is a menu, in a menu bar or as a popup.
pub(crate) fn is_menu(number: u32) -> bool {
    matches!(number, n::MENU | n::POPUP_MENU)
}

/// Returns whether a role is a field that text is typed into.
pub(crate) fn is_field(number: u32) -> bool {
    matches!(number, n::TEXT | n::ENTRY | n::PASSWORD | n::SPIN_BUTTON | n::TERMINAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSIDE: ParentContext = ParentContext { role: number::PANEL, top: false, combo: false };
    const TOP: ParentContext = ParentContext { role: 75, top: true, combo: false };

    #[test]
    fn the_table_has_every_number_of_the_header_in_order() {
        for (at, line) in TABLE.lines().filter(|line| !line.starts_with('#')).enumerate() {
            let columns: Vec<&str> = line.split('|').map(str::trim).collect();
            assert_eq!(columns[0].parse(), Ok(at));
            assert!(
                columns[2].parse::<Role>().is_ok() && ["core-aam", "header"].contains(&columns[3]),
                "{line}"
            );
            let facts = columns.get(4).copied().unwrap_or_default();
            assert!(facts.split_whitespace().all(|fact| Facts::from_name(fact).is_some()), "{line}");
        }
        assert_eq!(ROWS.len(), 131);
        assert_eq!(tag(43), "push button");
        assert_eq!(tag(130), "switch");
        assert_eq!(tag(9999), "unknown");
        let numeric: Vec<u32> = (0..131).filter(|&role| is(role, Facts::NUMBER)).collect();
        assert_eq!(numeric, [15, 42, 51, 52, 103, 114]);
    }

    #[test]
    fn the_same_number_is_another_role_elsewhere() {
        let role = |number, above, states, named| aria_role(number, above, states, named, Toolkit::Gtk3);
        assert_eq!(role(number::FRAME, TOP, 0, true), Role::Window);
        assert_eq!(role(number::FRAME, INSIDE, 0, false), Role::Generic);
        assert_eq!(role(number::FRAME, INSIDE, 0, true), Role::Group);
        assert_eq!(role(number::ALERT, TOP, 0, true), Role::AlertDialog);
        assert_eq!(role(number::FILE_CHOOSER, TOP, 0, true), Role::Dialog);
        let bar = ParentContext { role: number::MENU_BAR, top: false, combo: false };
        assert_eq!(role(number::MENU, bar, 0, true), Role::MenuItem);
        assert_eq!(role(number::MENU, INSIDE, 0, false), Role::Menu);
        assert_eq!(role(number::MENU_ITEM, bar, states::CHECKED, true), Role::MenuItemCheckbox);
        let of_qt = |states| aria_role(number::MENU_ITEM, bar, states, true, Toolkit::Qt);
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
