//! Roles: the ARIA 1.2 roles under their ARIA names, and a few others that a captured tree needs.

use std::fmt;
use std::str::FromStr;

macro_rules! roles {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// The kind of a node, in ARIA's terms on every platform.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "the variants are ARIA's own terms")]
        pub enum Role { $($(#[$doc])* $variant,)* }

        impl Role {
            /// All roles in order of declaration.
            pub const ALL: &'static [Role] = &[$(Role::$variant,)*];

            /// Returns the name used in snapshots, selectors and JSON.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Role::$variant => $name,)* }
            }
        }

        impl FromStr for Role {
            type Err = UnknownRole;
            fn from_str(s: &str) -> Result<Self, UnknownRole> {
                match s { $($name => Ok(Role::$variant),)* _ => Err(UnknownRole(s.to_owned())) }
            }
        }
    };
}

/// A word that is not a role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a role")]
pub struct UnknownRole(pub String);

roles! {
    /// The root of a document or frame. [`Document`](crate::Document) holds its URL and title.
    Document = "document",
    /// A text leaf, whose name is its text.
    Text = "text",
    /// A wrapper without semantics.
    Generic = "generic",
    /// A clickable element without a role.
    Clickable = "clickable",
    /// The element that shows a frame.
    Iframe = "iframe",
    Alert = "alert", AlertDialog = "alertdialog", Application = "application", Article = "article",
    Banner = "banner", Blockquote = "blockquote", Button = "button", Caption = "caption", Cell = "cell",
    Checkbox = "checkbox", Code = "code", ColumnHeader = "columnheader", Combobox = "combobox",
    Complementary = "complementary", ContentInfo = "contentinfo", Definition = "definition",
    Deletion = "deletion", Dialog = "dialog", Directory = "directory", Emphasis = "emphasis", Feed = "feed",
    Figure = "figure", Form = "form", Grid = "grid", GridCell = "gridcell", Group = "group",
    Heading = "heading", Image = "img", Insertion = "insertion", Link = "link", List = "list",
    ListBox = "listbox", ListItem = "listitem", Log = "log", Main = "main", Mark = "mark",
    Marquee = "marquee", Math = "math", Menu = "menu", MenuBar = "menubar", MenuItem = "menuitem",
    MenuItemCheckbox = "menuitemcheckbox", MenuItemRadio = "menuitemradio", Meter = "meter",
    Navigation = "navigation", Note = "note", Option = "option", Paragraph = "paragraph",
    ProgressBar = "progressbar", Radio = "radio", RadioGroup = "radiogroup", Region = "region", Row = "row",
    RowGroup = "rowgroup", RowHeader = "rowheader", ScrollBar = "scrollbar", Search = "search",
    SearchBox = "searchbox", Separator = "separator", Slider = "slider", SpinButton = "spinbutton",
    Status = "status", Strong = "strong", Subscript = "subscript", Suggestion = "suggestion",
    Superscript = "superscript", Switch = "switch", Tab = "tab", Table = "table", TabList = "tablist",
    TabPanel = "tabpanel", Term = "term", TextBox = "textbox", Time = "time", Timer = "timer",
    Toolbar = "toolbar", Tooltip = "tooltip", Tree = "tree", TreeGrid = "treegrid", TreeItem = "treeitem",
    /// A window of a desktop application.
    Window = "window",
    /// Playable media.
    Video = "video", Audio = "audio",
    /// A drawing surface whose content is not in the tree.
    Canvas = "canvas",
    /// A label element that names a control.
    Label = "label",
    /// The legend of a group.
    Legend = "legend",
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $vis:vis $name:ident { $($role:ident)* })*) => {
        impl Role {
            $($(#[$doc])* #[must_use] $vis const fn $name(self) -> bool { matches!(self, $(Self::$role)|*) })*
        }
    };
}

kinds! {
    /// Returns whether a person fills in or sets elements with this role. Their content never
    /// distinguishes records.
    pub is_input { TextBox SearchBox SpinButton Combobox ListBox Slider Checkbox Radio Switch Option }

    /// Returns whether a person presses, sets or types into elements with this role.
    pub is_control {
        TextBox SearchBox SpinButton Combobox ListBox Slider Checkbox Radio Switch Option
        Button Link MenuItem MenuItemCheckbox MenuItemRadio Tab TreeItem Clickable
    }

    /// Returns whether elements with this role hold what a person writes, chooses from many, or
    /// moves. Excludes checkboxes, because the text beside a checkbox may name a record instead of
    /// the checkbox.
    pub(crate) holds_a_value { TextBox SearchBox SpinButton Combobox ListBox Slider }

    /// Returns whether an element with this role is a row, that is, one of several repeated
    /// elements.
    pub(crate) is_row { Row ListItem Article Option TreeItem }

    /// Returns whether elements with this role are table cells.
    pub(crate) is_cell { Cell GridCell ColumnHeader RowHeader }

    /// Returns whether elements with this role are markup within a sentence.
    pub(crate) is_markup { Strong Emphasis Mark Subscript Superscript Time Insertion Deletion Suggestion }

    /// Returns whether the name of an element with this role conveys all of its content: links, and
    /// most roles whose children are presentational (ARIA 1.2, 5.2.8).
    pub(crate) is_told_by_name {
        Button Link Checkbox Image MenuItemCheckbox MenuItemRadio Meter ProgressBar Radio Slider Switch Tab
    }

    /// Returns whether elements with this role are containers whose names indicate where something
    /// is.
    pub(crate) is_area {
        Region Form Group RadioGroup Dialog AlertDialog Navigation Article Complementary TabPanel Table Grid List Toolbar
        Menu Search Figure
    }

    /// Returns whether a nameless element with this role gets no line of its own around a single
    /// child.
    pub(crate) is_wrapper {
        ListItem Cell GridCell Group Region Figure Article Definition Term Blockquote Caption Note
    }

    /// Returns whether elements with this role mean nothing when they have neither a name nor
    /// content.
    pub(crate) is_hollow { Paragraph Group Region ListItem Figure Generic Note }

    /// Returns whether the name of an element with this role becomes a title above its content,
    /// unless the content repeats it.
    pub(crate) is_titled { Group RadioGroup Dialog AlertDialog Figure Table Grid TreeGrid }

    /// Returns whether an element with this role in a cell shows that a table is for layout.
    pub(crate) is_structure { Table Heading List Form Navigation Main Article Blockquote }

    /// Returns whether elements with this role flow with the surrounding text. Excludes markup.
    pub(crate) is_inline {
        Text Label Link Image ScrollBar Tooltip Math ProgressBar Meter Timer Video Audio Canvas
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_parse_back() {
        for &role in Role::ALL {
            assert_eq!(role.name().parse(), Ok(role));
        }
    }
}
