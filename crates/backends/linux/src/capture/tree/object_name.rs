//! Accessible names: an object's own cleaned name, otherwise the name of its label, its content or
//! an adjacent label.

use super::TreeAssembly;
use super::kinds::{has_pieces, holds_page, is_line, takes_press};
use crate::model::{
    Facts, Object, ObjectTree, ParentContext, is_field, names, role as n, roles, states as s,
};

/// A name and its origin.
#[derive(Debug)]
pub(super) struct ObjectName {
    pub(super) name: String,
    /// Whether the name comes from the content.
    pub(super) from_content: bool,
    /// Whether the name comes from the description.
    pub(super) described: bool,
}

impl TreeAssembly<'_> {
    /// Returns the name of an object. `lent` is a name that a wrapper passes on to its only child,
    /// or that a cell passes on to its check box.
    pub(super) fn name(&self, object: &Object, lent: &str, above: ParentContext) -> ObjectName {
        let (toolkit, profile) = (self.picture.toolkit, self.picture.profile());
        // A selectable row is named after its content, like an option.
        let option = above.combo || above.role == n::LIST_BOX || object.is(s::SELECTABLE);
        let row = is_line(object, above) && option || takes_press(self.picture, object, above);
        let control = row || roles::is(object.role, Facts::CONTENT) || has_pieces(self.picture, object);
        let read = control && !holds_page(object, toolkit);
        let content = if read { text_below(self.picture, object, 0) } else { String::new() };
        let wrapper = roles::is_wrapper(object.role);
        // GTK 4 names every tab of a notebook `Tab`, and keeps mnemonics in the names of other
        // tabs.
        let tab = profile.tabs_have_one_name && object.role == n::PAGE_TAB && !content.is_empty();
        // The selected option of a combo box is not its name. Qt never gives a combo box another
        // name.
        let combo = object.role == n::COMBO_BOX;
        let chosen = profile.combo_boxes_are_called_after_their_choice
            && object.text.as_deref() == Some(object.name.trim());
        let chosen = combo && (profile.combo_boxes_have_no_other_name || chosen);
        let untitled = self.untitled.contains(object.path.as_str());
        let label = |path: &String| {
            let label = &self.picture[*self.by_path.get(path.as_str())?];
            Some(label.text.as_deref().unwrap_or(&label.name).trim()).filter(|text| !text.is_empty())
        };
        let labels: Vec<&str> = object.labelled_by.iter().filter(|_| !untitled).filter_map(label).collect();
        let labels = labels.join(" ");
        // A row is named after its content. Without content, its name may be its class.
        let unnamed = wrapper || row && !content.is_empty();
        let nameless = tab || chosen || untitled || combo && !labels.is_empty();
        let own = if nameless { "" } else { names::clean_name(&object.name, toolkit, unnamed, &content) };
        let by_content = tab || labels.is_empty();
        let page = self.page(object);
        let beside = self.beside.get(object.path.as_str()).copied();
        let placeholder = object.attribute("placeholder-text").map(str::trim);
        let names = [
            page.as_deref().unwrap_or_default(),
            own,
            if by_content { &content } else { "" },
            &labels,
            lent,
            beside.filter(|_| !wrapper).unwrap_or_default(),
            placeholder.filter(|_| !wrapper).unwrap_or_default(),
        ];
        let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
        // A tooltip is the name if there is no other name.
        let described = name.is_empty() && !wrapper && (is_field(object.role) || control);
        let from_content = !name.is_empty() && name == content && (by_content || !own.is_empty());
        let name = if described { names::clean_description(&object.description) } else { name.to_owned() };
        ObjectName { name, from_content, described }
    }

    /// Returns the label of a GTK 4 page's tab: the tab that labels the page, otherwise the only
    /// tab with the page's name.
    fn page(&self, object: &Object) -> Option<String> {
        let objects = &self.picture.objects;
        if !self.picture.profile().tabs_have_one_name || !object.has_no_appearance() {
            return None;
        }
        let labels = object.labelled_by.iter().filter_map(|path| self.by_path.get(path.as_str()));
        let mut tabs = labels.map(|&at| &objects[at]).filter(|tab| tab.role == n::PAGE_TAB);
        let mut alike = objects.iter().filter(|tab| tab.role == n::PAGE_TAB && tab.name == object.name);
        let tab = tabs.next().or_else(|| alike.next().filter(|_| alike.next().is_none()))?;
        Some(text_below(self.picture, tab, 0)).filter(|text| !text.is_empty())
    }
}

/// Returns the text inside an object: that of its labels, headings, paragraphs and inner cells,
/// joined by spaces.
pub(super) fn text_below(picture: &ObjectTree, object: &Object, depth: usize) -> String {
    let text = |child: &Object| match child.role {
        n::LABEL | n::STATIC | n::HEADING | n::PARAGRAPH => {
            child.text.as_ref().unwrap_or(&child.name).clone()
        }
        n::TABLE_CELL if picture.is_piece(child, object.role) => child.name.clone(),
        role if roles::is_wrapper(role) => text_below(picture, child, depth + 1),
        _ => String::new(),
    };
    let shown = picture.children(object).filter(|child| child.shown && depth <= 8);
    let texts = shown.map(text).filter(|text| !text.trim().is_empty());
    texts.map(|text| text.trim().to_owned()).collect::<Vec<_>>().join(" ")
}
