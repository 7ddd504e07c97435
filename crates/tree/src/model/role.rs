//! The role set: ARIA 1.2 roles under their ARIA names, and the few that a captured tree needs besides.

use std::fmt;
use std::str::FromStr;

macro_rules! roles {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What kind of thing a node is, in ARIA's words on every platform.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "the variants are ARIA's own terms")]
        pub enum Role { $($(#[$doc])* $variant,)* }

        impl Role {
            /// All roles, in the order of their declaration.
            pub const ALL: &'static [Role] = &[$(Role::$variant,)*];

            /// The name that snapshots, selectors and JSON use.
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

/// A word that is no role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a role")]
pub struct UnknownRole(pub String);

roles! {
    /// The root of a document or frame. Its address and title stand in [`Document`](crate::Document).
    Document = "document",
    /// A text leaf: its text is the node's name.
    Text = "text",
    /// A wrapper without meaning of its own.
    Generic = "generic",
    /// Can be clicked, has no role.
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

impl Role {
    /// Takes the fields that a person fills in or sets: their content never tells records apart.
    #[must_use]
    pub const fn is_input(self) -> bool {
        matches!(
            self,
            Self::TextBox
                | Self::SearchBox
                | Self::SpinButton
                | Self::Combobox
                | Self::ListBox
                | Self::Slider
                | Self::Checkbox
                | Self::Radio
                | Self::Switch
                | Self::Option
        )
    }

    /// Roles whose elements a person presses, sets or types into.
    #[must_use]
    pub const fn is_control(self) -> bool {
        self.is_input()
            || matches!(
                self,
                Self::Button
                    | Self::Link
                    | Self::MenuItem
                    | Self::MenuItemCheckbox
                    | Self::MenuItemRadio
                    | Self::Tab
                    | Self::TreeItem
                    | Self::Clickable
            )
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
