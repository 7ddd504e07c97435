//! The words that view lines begin with: which role each is, its tag, and what it is by nature.

use stickpin_tree::{Role, States};

/// How the text of a view line names the element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// It is content, and the name comes from it: a text leaf stands below.
    FromContent,
    /// It is content; the element has no name.
    Content,
    /// It is a label; no text leaf.
    Label,
}

/// How boxes are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Flow {
    /// On lines of its own.
    #[default]
    Block,
    /// Beside its neighbours.
    Inline,
}

/// An element by nature.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The word of a view line.
    pub(crate) word: &'static str,
    pub(crate) role: Role,
    pub(crate) tag: &'static str,
    pub(crate) level: u8,
    pub(crate) states: States,
    pub(crate) naming: Naming,
    pub(crate) flow: Flow,
}

const CONTROL: States = States::ACTIONABLE.union(States::FOCUSABLE);
const FIELD: States = CONTROL.union(States::EDITABLE);
const LINE: States = States::BLOCK;

macro_rules! kinds {
    ($($word:literal $role:ident $tag:literal $naming:ident $flow:ident $states:expr;)*) => {
        const KINDS: &[Kind] = &[$(Kind {
            word: $word,
            role: Role::$role,
            tag: $tag,
            level: heading_level($word),
            states: $states,
            naming: Naming::$naming,
            flow: Flow::$flow,
        },)*];
    };
}

const fn heading_level(word: &str) -> u8 {
    let w = word.as_bytes();
    if w.len() == 2 && w[0] == b'h' && w[1].is_ascii_digit() { w[1] - b'0' } else { 0 }
}

const NONE: States = States::empty();

kinds! {
    "alert" Alert "div" Content Block States::LIVE;
    "alertdialog" AlertDialog "div" Label Block NONE;
    "article" Article "article" Label Block NONE;
    "banner" Banner "header" Label Block NONE;
    "button" Button "button" FromContent Inline CONTROL;
    "cell" Cell "td" Content Inline NONE;
    "checkbox" Checkbox "input" Label Inline CONTROL.union(States::CHECKABLE);
    "clickable" Clickable "div" FromContent Inline States::ACTIONABLE;
    "columnheader" ColumnHeader "th" FromContent Inline NONE;
    "combobox" Combobox "select" Label Inline CONTROL.union(States::EXPANDABLE);
    "complementary" Complementary "aside" Label Block NONE;
    "contentinfo" ContentInfo "footer" Label Block NONE;
    "dialog" Dialog "div" Label Block NONE;
    "div" Generic "div" Content Block NONE;
    "feed" Feed "div" Label Block NONE;
    "form" Form "form" Label Block NONE;
    "frame" Iframe "iframe" Label Block NONE;
    "group" Group "fieldset" Label Block NONE;
    "h1" Heading "h1" FromContent Block LINE;
    "h2" Heading "h2" FromContent Block LINE;
    "h3" Heading "h3" FromContent Block LINE;
    "h4" Heading "h4" FromContent Block LINE;
    "img" Image "img" Label Inline NONE;
    "label" Label "label" Content Inline NONE;
    "li" ListItem "li" Content Block NONE;
    "link" Link "a" FromContent Inline CONTROL;
    "list" List "ul" Label Block NONE;
    "listbox" ListBox "ul" Label Block CONTROL;
    "log" Log "div" Label Block States::LIVE;
    "main" Main "main" Label Block NONE;
    "menu" Menu "ul" Label Block NONE;
    "menubar" MenuBar "ul" Label Block NONE;
    "menuitem" MenuItem "li" FromContent Block CONTROL;
    "menuitemcheckbox" MenuItemCheckbox "li" FromContent Block CONTROL.union(States::CHECKABLE);
    "navigation" Navigation "nav" Label Block NONE;
    "option" Option "li" FromContent Block States::ACTIONABLE.union(States::SELECTABLE);
    "p" Paragraph "p" Content Block LINE;
    "password" TextBox "input" Label Inline FIELD.union(States::PROTECTED);
    "progressbar" ProgressBar "progress" Label Inline NONE;
    "radio" Radio "input" Label Inline CONTROL.union(States::CHECKABLE);
    "radiogroup" RadioGroup "div" Label Block NONE;
    "region" Region "section" Label Block NONE;
    "row" Row "tr" Content Block NONE;
    "rowgroup" RowGroup "tbody" Label Block NONE;
    "search" Search "search" Label Block NONE;
    "searchbox" SearchBox "input" Label Inline FIELD;
    "separator" Separator "hr" Label Block NONE;
    "slider" Slider "input" Label Inline CONTROL;
    "span" Generic "span" Content Inline NONE;
    "spinbutton" SpinButton "input" Label Inline FIELD;
    "status" Status "div" Content Block States::LIVE;
    "switch" Switch "button" Label Inline CONTROL.union(States::CHECKABLE);
    "tab" Tab "button" FromContent Inline CONTROL.union(States::SELECTABLE);
    "table" Table "table" Label Block NONE;
    "tablist" TabList "div" Label Block NONE;
    "tabpanel" TabPanel "div" Label Block NONE;
    "text" Text "" Content Inline NONE;
    "textarea" TextBox "textarea" Label Inline FIELD.union(States::MULTILINE).union(States::EDIT_HOST);
    "textbox" TextBox "input" Label Inline FIELD;
    "time" Time "time" Content Inline States::TIME;
    "timer" Timer "div" Content Inline States::LIVE;
    "toolbar" Toolbar "div" Label Block NONE;
    "tooltip" Tooltip "div" Content Inline NONE;
    "tree" Tree "ul" Label Block NONE;
    "treeitem" TreeItem "li" FromContent Block CONTROL;
}

/// The kind that a word names.
pub(crate) fn kind(word: &str) -> Option<&'static Kind> {
    KINDS.binary_search_by_key(&word, |k| k.word).ok().map(|i| &KINDS[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_so_that_every_word_is_found() {
        for k in KINDS {
            assert_eq!(kind(k.word).map(|found| found.word), Some(k.word));
        }
        assert!(kind("marquee").is_none());
    }
}
