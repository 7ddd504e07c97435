//! From what was read of an app to a [`Tree`]: roles in ARIA's words, names as a person would give them, text as leaves.

use super::covered;
use super::pages;
use super::read::{is_field, lacks_name};
use super::{DEPTH, TEXT};
use super::{focus, headers};
use crate::bus::Toolkit;
use crate::ids::Ids;
use crate::model::{Interfaces, Object, Picture};
use crate::names;
use crate::roles::number as n;
use crate::roles::{self, Above};
use crate::states as s;
use crate::tables::{LEADS, is_box, is_piece};
use hashbrown::{HashMap, HashSet};
use std::sync::Arc;
use stickpin_tree::{
    Attr, Document, Handle, IdentityGrade, NodeSpec, Role, States, SurfaceId, Tree, TreeBuilder, TreeError,
};

/// The scope of everything that is not in a web page.
pub(crate) const APP: u64 = 1;

/// Stands in a text where another object is.
pub(super) const EMBEDDED: char = '\u{fffc}';

/// What an app is called and where.
#[derive(Debug, Clone, Default)]
pub(crate) struct Where {
    /// What was opened: `linux:gedit`.
    pub(crate) url: String,
}

/// Makes a tree. Handles that are watched and were read, but cannot be seen, are reported as hidden.
///
/// # Errors
/// If there is more than a tree can hold.
pub(crate) fn build(picture: &Picture, ids: &Ids, at: &Where, watch: &[Handle]) -> Result<Tree, TreeError> {
    let mut builder = TreeBuilder::new(IdentityGrade::WhileAlive);
    builder.surface(SurfaceId(1)).truncated(picture.truncated);
    let title = picture.title().to_owned();
    let document = Document { scope: APP, frame: String::new(), url: at.url.clone(), title };
    builder.document(0, document, ids.id(&picture.root().path))?;
    let by_path = picture.objects.iter().enumerate().map(|(at, object)| (object.path.as_str(), at)).collect();
    let mut building = Building {
        picture,
        builder,
        ids,
        by_path,
        active: picture.active(),
        frames: 0,
        row_headers: headers::of_rows(picture),
        unfocused: focus::elsewhere(picture),
        beside: beside(picture),
    };
    let windows = &picture.root().children;
    // An open menu that stands beside them is none of them.
    let is_window = |&&w: &&usize| picture.objects[w].shown && !is_menu(picture.objects[w].role);
    let several = windows.iter().filter(is_window).count() > 1;
    if !several {
        building.active = None;
    }
    for &window in windows {
        building.add(window, 1, Above { role: 75, top: true, combo: false }, "")?;
        if covered::shows_nothing(picture, window) {
            let name = covered::NOTHING;
            building.builder.node(2, NodeSpec { role: Some(Role::Status), name, ..NodeSpec::default() })?;
        }
    }
    let Building { mut builder, ids, .. } = building;
    let hidden = match windows.iter().any(|&window| covered::shows_nothing(picture, window)) {
        true => covered::behind(picture, ids, watch),
        false => hidden(picture, ids, watch),
    };
    builder.hidden(hidden);
    builder.finish()
}

/// The same as an `Arc`: the last one where it is the same tree.
///
/// # Errors
/// As [`build`].
pub(crate) fn kept(
    picture: &Picture,
    ids: &Ids,
    at: &Where,
    watch: &[Handle],
    last: Option<&Arc<Tree>>,
) -> Result<Arc<Tree>, TreeError> {
    let tree = build(picture, ids, at, watch)?;
    let same = last.filter(|last| ***last == tree && last.hidden() == tree.hidden());
    Ok(same.map_or_else(|| Arc::new(tree), Arc::clone))
}

/// Those of `watch` that are below a window and not in the tree. What was taken out of its window may live on, and is gone
/// all the same.
fn hidden(picture: &Picture, ids: &Ids, watch: &[Handle]) -> Vec<Handle> {
    if watch.is_empty() {
        return Vec::new();
    }
    let mut inside = vec![false; picture.objects.len()];
    let mut next = vec![0];
    while let Some(at) = next.pop() {
        if !std::mem::replace(&mut inside[at], true) {
            next.extend(&picture.objects[at].children);
        }
    }
    let objects =
        picture.objects.iter().zip(inside).filter(|(o, inside)| *inside && !o.shown && !o.is(s::DEFUNCT));
    let unseen: HashSet<&str> = objects.map(|(object, _)| object.path.as_str()).collect();
    let is_unseen = |handle: &Handle| ids.path(handle.id).is_some_and(|path| unseen.contains(&*path));
    watch.iter().copied().filter(is_unseen).collect()
}

struct Building<'a> {
    picture: &'a Picture,
    builder: TreeBuilder,
    ids: &'a Ids,
    by_path: HashMap<&'a str, usize>,
    /// The active window, where there are several.
    active: Option<usize>,
    /// Web documents so far.
    frames: usize,
    /// Headers of rows that are called those of columns.
    row_headers: HashSet<usize>,
    /// Those that say that they have the focus, and have it not.
    unfocused: HashSet<usize>,
    /// Labels of fields that nothing but their place ties to them.
    beside: HashMap<&'a str, &'a str>,
}

impl<'a> Building<'a> {
    /// Adds an object and what is below it. `lent` is a name that a wrapper has for the only thing in it.
    fn add(&mut self, at: usize, depth: usize, above: Above, lent: &str) -> Result<(), TreeError> {
        let picture = self.picture;
        let object = &picture.objects[at];
        if !object.shown {
            return Ok(());
        }
        if depth > DEPTH {
            self.builder.truncated(true);
            return Ok(());
        }
        let own = if self.row_headers.contains(&at) { n::ROW_HEADER } else { meant(picture, object, above) };
        let combo = above.combo || object.role == n::COMBO_BOX;
        let below = Above { role: own, top: false, combo };
        // The cells of a row belong to what the row stands in.
        let below = if own == n::TABLE_ROW { Above { role: above.role, ..below } } else { below };
        if let Some((child, lent)) = self.only_wraps(object, lent) {
            // What it is called is said of what it holds.
            self.wrapper(object, depth)?;
            self.add(child, depth + 1, below, &lent)?;
            return self.opened(object, depth, below);
        }
        if object.role == n::DOCUMENT_WEB && !object.address.is_empty() {
            self.frames += 1;
            let id = self.ids.id(&object.path);
            let frame = format!("web{}", self.frames);
            let (url, title) = (object.address.clone(), object.name.trim().to_owned());
            self.builder.document(depth, Document { scope: APP + id, frame, url, title }, id)?;
            return self.inside(object, depth, below);
        }
        let named = self.name(object, lent, above);
        // Of its dialogs GTK 4 says only that they are windows of the app.
        let dialog = above.top && object.role == n::FILLER && picture.toolkit == Toolkit::Gtk4;
        let number = if dialog { n::DIALOG } else { own };
        let mut role = roles::mapped(number, above, object.states, !named.name.is_empty(), picture.toolkit);
        if object.role == n::LANDMARK {
            role = object.attribute("xml-roles").and_then(roles::landmark).unwrap_or(role);
        }
        if role == Role::Generic && clickable(object) {
            role = Role::Clickable;
        }
        if role == Role::Text {
            return self.label(object, depth, &named.name);
        }
        let mut states = s::mapped(object.states, role, picture.toolkit)
            | roles::inherent(object.role, role, object.states);
        if self.unfocused.contains(&at) {
            states.remove(States::FOCUSED);
        }
        if object.role == n::TERMINAL {
            states.remove(States::READONLY);
        }
        if is_written_into(object, role) {
            states |= States::EDITABLE | States::ACTIONABLE;
            if role != Role::Combobox {
                states |= States::EDIT_HOST | States::MULTILINE;
            }
        }
        if !s::is_item(role) && takes_several(picture, object) {
            states |= States::MULTISELECTABLE;
        }
        // A press on the header of a column sorts by it, or selects it.
        if object.role == n::TABLE_COLUMN_HEADER && object.attribute("colindex").is_some() {
            states |= States::ACTIONABLE;
        }
        // A press on the first cell of a row chooses the row; where there is one column the cell is the row.
        let only = object.attribute("colindex").is_none()
            && object.role == n::TABLE_CELL
            && matches!(above.role, n::TABLE | n::TREE_TABLE);
        if is_grid_item(object, above, picture.toolkit)
            || object.is(s::SELECTABLE) && (only || object.attribute(LEADS).is_some())
        {
            states |= States::ACTIONABLE;
        }
        // What an app draws itself, and tells only in its name, takes presses where it takes the focus.
        if is_part(object, above) && object.is(s::FOCUSABLE) && object.count <= 0 {
            states |= States::ACTIONABLE;
        }
        if is_box(object) {
            states |= States::CHECKABLE | States::ACTIONABLE;
        }
        // Chosen and focused is the cell that it stands in.
        if is_piece(picture, object, above.role) {
            states.remove(States::SELECTABLE | States::SELECTED | States::FOCUSABLE | States::FOCUSED);
        }
        // Qt says of all cells of a row that it opens.
        if role == Role::GridCell && object.attribute("colindex").is_some_and(|column| column != "1") {
            states.remove(States::EXPANDABLE | States::EXPANDED);
        }
        let mut value = value(object, role, states);
        if role == Role::Combobox && picture.toolkit == Toolkit::Gtk4 {
            // Its name is only a name there; what is chosen stands on the button that opens it.
            let buttons = object.children.iter().map(|&child| &picture.objects[child]);
            let button =
                buttons.into_iter().find(|o| o.shown && matches!(o.role, n::PUSH_BUTTON | n::TOGGLE_BUTTON));
            value = button.map(|button| self.text_below(button, 0)).unwrap_or_default();
        } else if let Some(field) = own_field(picture, object) {
            // What is chosen in its list may not be what stands in it.
            value = field.text.clone().unwrap_or_default();
        } else if object.role == n::COMBO_BOX && picture.toolkit == Toolkit::Qt && value.is_empty() {
            object.name.trim().clone_into(&mut value);
        } else if role == Role::Combobox && value.is_empty() {
            value = self.selected_below(object, 0);
        }
        let text_below = is_field(object.role)
            || matches!(role, Role::Cell | Role::GridCell | Role::ListItem | Role::TreeItem | Role::Option);
        let bare = !object.children.iter().any(|&child| picture.objects[child].shown);
        let leaf =
            (!is_field(object.role) && text_below && bare && object.text.is_none() && !named.name.is_empty())
                .then(|| named.name.clone());
        if leaf.is_some() || named.from_content {
            states |= States::NAME_FROM_CONTENT;
        }
        let long = is_field(object.role) && object.length.is_some_and(|length| length > TEXT);
        if long && !states.contains(States::PROTECTED) {
            states |= States::CLIPPED;
        }
        let level = object.attribute("level").and_then(|level| level.parse().ok()).unwrap_or(0);
        let mut attrs: Vec<(Attr, &str)> =
            vec![(Attr::Placeholder, object.attribute("placeholder-text").unwrap_or(""))];
        let description = names::described(&object.description);
        if !named.described {
            attrs.push((Attr::Description, &description));
        }
        if let Some(id) = object.attribute("id") {
            attrs.push((Attr::Id, id));
        }
        // Whatever a part of a window shows, it is the one with its title.
        if is_part(object, above) {
            attrs.push((Attr::Id, &named.name));
        }
        if let Some(row) = object.attribute("rowindex") {
            attrs.push((Attr::RowIndex, row));
        }
        if object.role == n::LINK {
            attrs.push((Attr::Href, &object.address));
        }
        if self.active == Some(at) {
            attrs.push((Attr::Current, "true"));
        }
        // What a wrapper is called, nobody sees.
        let name = if role == Role::Generic { "" } else { &named.name };
        let spec = NodeSpec {
            role: Some(role),
            name,
            value: &value,
            tag: roles::tag(object.role),
            states,
            level,
            id: self.ids.id(&object.path),
            attrs: &attrs,
        };
        self.builder.node(depth, spec)?;
        match leaf {
            Some(leaf) => self.leaf(&leaf, depth + 1, States::BLOCK, 0),
            None if holds_page(object, picture.toolkit) && above.role == n::PAGE_TAB_LIST => Ok(()),
            None => self.inside(object, depth, below),
        }?;
        if own == n::PAGE_TAB_LIST {
            self.pages(object, depth, below)?;
        }
        self.opened(object, depth, below)
    }

    /// The pages that toolkits have in the tabs of a notebook: a page stands beside the list of tabs, as it does in ARIA
    /// (`tabpanel`), and is none of it. What stands in the list is the same whatever the pages show.
    fn pages(&mut self, tabs: &'a Object, depth: usize, below: Above) -> Result<(), TreeError> {
        let picture = self.picture;
        let shown = |&&at: &&usize| picture.objects[at].shown;
        for tab in tabs.children.iter().filter(shown).map(|&tab| &picture.objects[tab]) {
            if !holds_page(tab, picture.toolkit) || !tab.children.iter().any(|at| shown(&at)) {
                continue;
            }
            let name = self.name(tab, "", below).name;
            let spec = NodeSpec { role: Some(Role::TabPanel), name: &name, ..NodeSpec::default() };
            self.builder.node(depth, spec)?;
            self.inside(tab, depth, Above { role: n::PAGE_TAB, ..below })?;
        }
        Ok(())
    }

    /// What a button opened stands beside it, not inside: it belongs to what the button belongs to. GTK 3 puts the items
    /// of a menu there without the menu.
    fn opened(&mut self, object: &'a Object, depth: usize, below: Above) -> Result<(), TreeError> {
        let picture = self.picture;
        let opened = object.children.iter().filter(|&&child| opens(object, &picture.objects[child]));
        let is_bare = |object: &Object| object.shown && !is_popup(object.role);
        let bare = opened.clone().any(|&child| is_bare(&picture.objects[child]));
        if bare {
            self.builder.node(depth, NodeSpec { role: Some(Role::Menu), ..NodeSpec::default() })?;
        }
        for &child in opened {
            self.add(child, depth + usize::from(bare), below, "")?;
        }
        Ok(())
    }

    /// The text and the children of an object, in the order in which they are read.
    fn inside(&mut self, object: &'a Object, depth: usize, below: Above) -> Result<(), TreeError> {
        let picture = self.picture;
        let mut children = object.children.iter().filter(|&&child| !opens(object, &picture.objects[child]));
        if let Some(text) = &object.text
            && !is_field(object.role)
            && object.role != n::COMBO_BOX
        {
            let mut pieces = text.split(EMBEDDED);
            let first = pieces.next().unwrap_or("");
            self.leaf(&clipped(first, object.length), depth + 1, States::empty(), 0)?;
            for piece in pieces {
                if let Some(&child) = children.next() {
                    self.add(child, depth + 1, below, "")?;
                }
                self.leaf(piece, depth + 1, States::empty(), 0)?;
            }
        }
        // A box to tick in a cell is called what stands beside it.
        let lent = if has_pieces(picture, object) { self.text_below(object, 0) } else { String::new() };
        for &child in children {
            self.add(child, depth + 1, below, &lent)?;
        }
        Ok(())
    }

    fn leaf(&mut self, text: &str, depth: usize, states: States, id: u64) -> Result<(), TreeError> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let spec = NodeSpec { role: Some(Role::Text), name: text, states, id, ..NodeSpec::default() };
        self.builder.node(depth, spec).map(drop)
    }

    /// A label: its text as a leaf of its own, however near it stands to another, and what stands in it (links).
    fn label(&mut self, object: &'a Object, depth: usize, name: &str) -> Result<(), TreeError> {
        let text = object.text.as_deref().filter(|text| !text.trim().is_empty()).unwrap_or(name);
        let below = Above { role: object.role, top: false, combo: false };
        self.wrapper(object, depth)?;
        self.leaf(&text.replace(EMBEDDED, ""), depth + 1, States::BLOCK, 0)?;
        for &child in &object.children {
            self.add(child, depth + 1, below, "")?;
        }
        Ok(())
    }

    fn wrapper(&mut self, object: &Object, depth: usize) -> Result<(), TreeError> {
        let (tag, id) = (roles::tag(object.role), self.ids.id(&object.path));
        self.builder
            .node(depth, NodeSpec { role: Some(Role::Generic), tag, id, ..NodeSpec::default() })
            .map(drop)
    }

    /// The only child of an object that says twice what is there once: the button in a `GtkMenuButton`, the text in a
    /// `GtkEntry`. And what it lends to the child.
    fn only_wraps(&self, object: &Object, lent: &str) -> Option<(usize, String)> {
        if self.picture.toolkit != Toolkit::Gtk4 || object.is(s::FOCUSABLE) {
            return None;
        }
        let objects = &self.picture.objects;
        let mut shown =
            object.children.iter().filter(|&&child| objects[child].shown && !opens(object, &objects[child]));
        let (Some(&child), None) = (shown.next(), shown.next()) else { return None };
        let inner = &self.picture.objects[child];
        let control =
            matches!(object.role, n::PUSH_BUTTON | n::TOGGLE_BUTTON | n::COMBO_BOX) || is_field(object.role);
        let same = inner.role == object.role
            || (matches!(inner.role, n::PUSH_BUTTON | n::TOGGLE_BUTTON)
                && matches!(object.role, n::PUSH_BUTTON | n::TOGGLE_BUTTON))
            || (is_field(inner.role) && is_field(object.role));
        if !control || !same {
            return None;
        }
        let own = names::cleaned(&object.name, Toolkit::Gtk4, true, "");
        let own = if own.is_empty() { object.description.trim() } else { own };
        let beside = self.beside.get(object.path.as_str()).copied().filter(|_| is_field(object.role));
        let name = [own, lent, beside.unwrap_or_default()].into_iter().find(|name| !name.is_empty());
        Some((child, name.unwrap_or_default().to_owned()))
    }

    fn name(&self, object: &Object, lent: &str, above: Above) -> Named {
        let toolkit = self.picture.toolkit;
        // A row that can be chosen is called what it reads, as an option is.
        let option = above.combo || above.role == n::LIST_BOX || object.is(s::SELECTABLE);
        let row = (object.role == n::LIST_ITEM || is_line(object, above)) && option;
        let row = row || is_grid_item(object, above, toolkit);
        let control = row || roles::is_named_by_content(object.role) || has_pieces(self.picture, object);
        let read = control && !holds_page(object, toolkit);
        let content = if read { self.text_below(object, 0) } else { String::new() };
        let wrapper = roles::is_wrapper(object.role);
        // GTK 4 calls every tab of a notebook `Tab`, and keeps the mark of its key in the name of another one.
        if toolkit == Toolkit::Gtk4 && object.role == n::PAGE_TAB && !content.is_empty() {
            return Named { name: content, from_content: true, described: false };
        }
        if let Some(name) = self.page(object) {
            return Named { name, ..Named::default() };
        }
        // What is chosen in a combo box is no name of it. Qt calls none of them anything else.
        let chosen = object.role == n::COMBO_BOX
            && (toolkit == Toolkit::Qt
                || toolkit == Toolkit::Gtk3 && object.text.as_deref() == Some(object.name.trim()));
        // What a row reads is what it is called; else it may be called after its class.
        let unnamed = wrapper || row && !content.is_empty();
        let own = if chosen { "" } else { names::cleaned(&object.name, toolkit, unnamed, &content) };
        let labels = || -> Vec<&str> {
            let label = |path: &String| {
                let label = &self.picture.objects[*self.by_path.get(path.as_str())?];
                Some(label.text.as_deref().unwrap_or(&label.name).trim()).filter(|text| !text.is_empty())
            };
            object.labelled_by.iter().filter_map(label).collect()
        };
        let of = |name: &str| Named { name: name.to_owned(), ..Named::default() };
        if object.role == n::COMBO_BOX && !labels().is_empty() {
            return of(&labels().join(" "));
        }
        if !own.is_empty() {
            return Named { from_content: !content.is_empty() && own == content, ..of(own) };
        }
        let labels = labels();
        if !labels.is_empty() {
            return of(&labels.join(" "));
        }
        if !content.is_empty() {
            return Named { from_content: true, ..of(&content) };
        }
        if !lent.is_empty() {
            return of(lent);
        }
        if wrapper {
            return Named::default();
        }
        if let Some(label) = self.beside.get(object.path.as_str()) {
            return of(label);
        }
        let placeholder = object.attribute("placeholder-text").unwrap_or("").trim();
        if !placeholder.is_empty() {
            return of(placeholder);
        }
        if is_field(object.role) || control {
            // A tooltip says what it is where nothing else does.
            return Named { described: true, ..of(&names::described(&object.description)) };
        }
        Named::default()
    }

    /// What the tab of a page of GTK 4 reads: the one that labels it, else the only one with its name.
    fn page(&self, object: &Object) -> Option<String> {
        let objects = &self.picture.objects;
        if self.picture.toolkit != Toolkit::Gtk4 || !pages::is_nothing_itself(object) {
            return None;
        }
        let labels = object.labelled_by.iter().filter_map(|path| self.by_path.get(path.as_str()));
        let mut tabs = labels.map(|&at| &objects[at]).filter(|tab| tab.role == n::PAGE_TAB);
        let mut alike = objects.iter().filter(|tab| tab.role == n::PAGE_TAB && tab.name == object.name);
        let tab = tabs.next().or_else(|| alike.next().filter(|_| alike.next().is_none()))?;
        Some(self.text_below(tab, 0)).filter(|text| !text.is_empty())
    }

    /// What is selected in a combo box that is not labelled by it.
    fn selected_below(&self, object: &Object, depth: usize) -> String {
        if depth > 4 {
            return String::new();
        }
        let mut children = object.children.iter().map(|&child| &self.picture.objects[child]);
        children
            .find_map(|child| {
                let selected = child.is(s::SELECTED) && !child.name.trim().is_empty();
                let name = if selected {
                    child.name.trim().to_owned()
                } else {
                    self.selected_below(child, depth + 1)
                };
                (!name.is_empty()).then_some(name)
            })
            .unwrap_or_default()
    }

    /// What the labels inside an object read.
    fn text_below(&self, object: &Object, depth: usize) -> String {
        let mut out = String::new();
        for &child in &object.children {
            let child = &self.picture.objects[child];
            if !child.shown || depth > 8 {
                continue;
            }
            let text = match child.role {
                n::LABEL | n::STATIC => child.text.clone().unwrap_or_else(|| child.name.clone()),
                n::TABLE_CELL if is_piece(self.picture, child, object.role) => child.name.clone(),
                role if roles::is_wrapper(role) => self.text_below(child, depth + 1),
                _ => String::new(),
            };
            let text = text.trim();
            if !text.is_empty() {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(text);
            }
        }
        out
    }
}

/// Whether an object is a part of a window with a title of its own: a dock, a window inside the window, or something that the
/// app draws itself. The frames of Qt that only draw a line around something have none.
fn is_part(object: &Object, above: Above) -> bool {
    object.role == n::FRAME && !above.top && !object.name.trim().is_empty()
}

/// The field that a combo box has, where anything may be typed into it.
fn own_field<'p>(picture: &'p Picture, object: &Object) -> Option<&'p Object> {
    let mut children = object.children.iter().map(|&child| &picture.objects[child]);
    let field = children.find(|child| child.shown && is_field(child.role));
    field.filter(|_| object.role == n::COMBO_BOX && matches!(picture.toolkit, Toolkit::Gtk3 | Toolkit::Qt))
}

/// Whether what can be read in a cell stands in cells inside it.
fn has_pieces(picture: &Picture, object: &Object) -> bool {
    object.children.iter().any(|&child| is_piece(picture, &picture.objects[child], object.role))
}

/// Whether what stands in a tab is the page that it chooses, not what the tab is made of.
fn holds_page(object: &Object, toolkit: Toolkit) -> bool {
    object.role == n::PAGE_TAB && matches!(toolkit, Toolkit::Gtk3 | Toolkit::Office)
}

/// Whether a child is what a button opened.
fn opens(object: &Object, child: &Object) -> bool {
    let button = matches!(object.role, n::PUSH_BUTTON | n::TOGGLE_BUTTON | n::PUSH_BUTTON_MENU);
    button
        && (is_popup(child.role)
            || matches!(child.role, n::MENU_ITEM | n::CHECK_MENU_ITEM | n::RADIO_MENU_ITEM))
}

/// The number of the role that an object has by what stands in it and above it. Qt and GTK 4 call a list box a list; Qt
/// calls a tree with columns a tree, GTK 3 one without them a table, and both call what stands in it a cell.
fn meant(picture: &Picture, object: &Object, above: Above) -> u32 {
    let holds = |role| object.children.iter().any(|&child| picture.objects[child].role == role);
    let (in_rows, cells) = (|| holds(n::TABLE_ROW), || holds(n::TABLE_CELL));
    match object.role {
        n::LIST if takes_choices(picture, object) => n::LIST_BOX,
        n::TABLE_ROW if is_line(object, above) => n::LIST_ITEM,
        n::TREE if in_rows() => n::TREE_TABLE,
        n::TREE_TABLE if cells() && !in_rows() => n::TREE,
        n::TABLE_CELL if above.role == n::TREE => n::TREE_ITEM,
        n::TABLE_CELL if is_piece(picture, object, above.role) && is_box(object) => n::CHECK_BOX,
        n::TABLE_CELL if is_piece(picture, object, above.role) => n::LABEL,
        role => role,
    }
}

/// Whether an object is a line of a list that calls itself a row, as those of some apps of GTK 4 do.
fn is_line(object: &Object, above: Above) -> bool {
    object.role == n::TABLE_ROW && matches!(above.role, n::LIST | n::LIST_BOX)
}

/// Whether an object is an item of a grid of GTK 4, which calls its items cells of a table, and does not say that they can
/// be selected.
fn is_grid_item(object: &Object, above: Above, toolkit: Toolkit) -> bool {
    let cell = object.role == n::TABLE_CELL && above.role == n::TABLE;
    toolkit == Toolkit::Gtk4 && cell && object.is(s::FOCUSABLE)
}

/// Whether a list is one to choose from: the lines of others cannot be selected.
fn takes_choices(picture: &Picture, object: &Object) -> bool {
    let item = |&child: &usize| {
        let child = &picture.objects[child];
        matches!(child.role, n::LIST_ITEM | n::TABLE_ROW) && child.is(s::SELECTABLE)
    };
    object.role == n::LIST && object.children.iter().any(item)
}

/// Whether several of what stands in something may be chosen: Qt says so of each of them instead.
fn takes_several(picture: &Picture, object: &Object) -> bool {
    let says = |&child: &usize| picture.objects[child].is(s::MULTISELECTABLE);
    let row = |&child: &usize| {
        let child = &picture.objects[child];
        child.role == n::TABLE_ROW && child.children.iter().any(says)
    };
    picture.toolkit == Toolkit::Qt && object.children.iter().any(|child| says(child) || row(child))
}

fn is_menu(number: u32) -> bool {
    matches!(number, n::MENU | n::POPUP_MENU)
}

/// Roles of what opens over a window and belongs to something in it.
fn is_popup(number: u32) -> bool {
    is_menu(number) || matches!(number, n::WINDOW | n::DIALOG)
}

/// A name, and where it comes from.
#[derive(Debug, Default)]
struct Named {
    name: String,
    /// From what is written inside.
    from_content: bool,
    /// From the description.
    described: bool,
}

/// How far above a field its label may end, in pixels.
const ABOVE: i32 = 24;

/// The labels of fields without a name: the nearest one to the left in the same line, else the one right above, among
/// those in the same box.
fn beside(picture: &Picture) -> HashMap<&str, &str> {
    let mut out = HashMap::new();
    for parent in picture.objects.iter().filter(|parent| parent.shown) {
        let shown = || parent.children.iter().map(|&at| &picture.objects[at]).filter(|object| object.shown);
        let labels: Vec<(&Object, [i32; 4])> =
            shown().filter(|o| o.role == n::LABEL).filter_map(|o| Some((o, o.extents?))).collect();
        // GTK 4 calls a field without a name after its class.
        let classed =
            |o: &Object| is_field(o.role) && names::cleaned(&o.name, picture.toolkit, false, "").is_empty();
        let nameless = |o: &&Object| lacks_name(o) || classed(o);
        let fields: Vec<[i32; 4]> = shown().filter(nameless).filter_map(|o| o.extents).collect();
        for field in shown().filter(|o| nameless(o) && o.labelled_by.is_empty()) {
            let Some([left, top, width, height]) = field.extents else { continue };
            let before = |[x, y, w, h]: [i32; 4]| {
                let middle = y.saturating_add(h / 2);
                let in_line = middle >= top && middle <= top.saturating_add(height);
                let gap = left.saturating_sub(x.saturating_add(w));
                // It is the label of the first field behind it alone.
                let between = |&[fx, fy, _, fh]: &[i32; 4]| {
                    fx >= x.saturating_add(w) && fx < left && middle >= fy && middle <= fy.saturating_add(fh)
                };
                (in_line && gap >= 0 && !fields.iter().any(between)).then_some(gap)
            };
            let over = |[x, y, w, h]: [i32; 4]| {
                let gap = top.saturating_sub(y.saturating_add(h));
                let across = x < left.saturating_add(width) && left < x.saturating_add(w);
                ((0..=ABOVE).contains(&gap) && across).then_some(gap)
            };
            let nearest = |way: &dyn Fn([i32; 4]) -> Option<i32>| {
                labels.iter().filter_map(|(label, at)| Some((way(*at)?, *label))).min_by_key(|(gap, _)| *gap)
            };
            if let Some((_, label)) = nearest(&before).or_else(|| nearest(&over)) {
                let text =
                    label.text.as_deref().filter(|text| !text.trim().is_empty()).unwrap_or(&label.name);
                out.insert(field.path.as_str(), text.trim());
            }
        }
    }
    out.retain(|_, label| !label.is_empty());
    out
}

/// Whether a press on it does something although its role does not say so.
fn clickable(object: &Object) -> bool {
    let does = |action: &String| matches!(action.as_str(), "click" | "press" | "activate" | "jump");
    object.actions.iter().any(does)
}

/// Whether text is written into something that is no mere field: the address bar of a browser, a paragraph of a document.
fn is_written_into(object: &Object, role: Role) -> bool {
    let takes_text = object.is(s::EDITABLE) && object.is(s::FOCUSABLE) && object.has(Interfaces::EDITABLE);
    takes_text && matches!(role, Role::Combobox | Role::Paragraph | Role::Heading)
}

/// The value that a person sees in a control.
fn value(object: &Object, role: Role, states: States) -> String {
    if states.contains(States::PROTECTED) {
        return String::new();
    }
    if is_field(object.role)
        && let Some(text) = &object.text
    {
        return clipped(text, object.length);
    }
    match (object.number, role) {
        (Some(number), _) => names::number(number),
        (None, Role::Combobox) => match &object.text {
            Some(text) if !text.trim().is_empty() => clipped(text, object.length),
            _ if !object.labelled_by.is_empty() => object.name.trim().to_owned(),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

/// A text with a mark where it goes on.
fn clipped(text: &str, length: Option<i32>) -> String {
    if length.is_some_and(|length| length > TEXT) { format!("{text}…") } else { text.to_owned() }
}
