//! Building a [`Tree`] from captured objects: roles in ARIA's terms, cleaned names, texts as
//! leaves. This module walks the objects and arranges them; [`kinds`], [`object_name`] and
//! [`values`] determine roles, names and values.

mod kinds;
mod object_name;
mod values;

use super::labels;
use crate::limits::DEPTH;
use crate::model::{
    APP, EMBEDDED, Object, ObjectTree, ParentContext, PathNumbers, is_field, is_menu, names, role as n,
    roles, states as s,
};
use crate::toolkit;
use hashbrown::{HashMap, HashSet};
use kinds::{effective_role, has_pieces, holds_page, is_part, is_popup, opens};
use object_name::text_below;
use stickpin_tree::{
    Attr, Document, Handle, IdentityGrade, NodeSpec, Role, States, SurfaceId, Tree, TreeBuilder, TreeError,
};
use values::{mark_clipped, value};

/// The text that replaces the content of a covered window.
pub(crate) const COVERED: &str = "shows nothing while other windows cover it completely: hover this window to bring it to the front, or move the other windows";

/// Builds the tree. Elements in `watch` that exist but are not visible are reported as hidden.
///
/// # Errors
/// Returns an error if the tree would be too large.
pub(crate) fn build(
    picture: &ObjectTree,
    ids: &PathNumbers,
    url: &str,
    watch: &[Handle],
) -> Result<Tree, TreeError> {
    let mut builder = TreeBuilder::new(IdentityGrade::WhileAlive);
    builder.set_surface(SurfaceId(1)).set_truncated(picture.truncated);
    let title = picture.title().to_owned();
    let document = Document { scope: APP, frame: String::new(), url: url.to_owned(), title };
    builder.document(0, document, ids.id(&picture.root().path))?;
    let by_path = picture.objects.iter().enumerate().map(|(at, object)| (object.path.as_str(), at)).collect();
    let beside = labels::of_fields(picture);
    // An open menu does not count as a window.
    let shown_windows = picture.children(picture.root()).filter(|w| w.shown && !is_menu(w.role));
    let mut building = TreeAssembly {
        picture,
        builder,
        ids,
        by_path,
        active: picture.active().filter(|_| shown_windows.count() > 1),
        frames: 0,
        row_headers: toolkit::row_headers(picture),
        unfocused: toolkit::unfocused(picture),
        untitled: labels::untitled(picture, &beside),
        beside,
    };
    let windows = &picture.root().children;
    for &window in windows {
        building.add(window, 1, ParentContext { role: 75, top: true, combo: false }, "")?;
        if toolkit::shows_nothing(picture, window) {
            let spec = NodeSpec { role: Some(Role::Status), name: COVERED, ..NodeSpec::default() };
            building.builder.node(2, spec)?;
        }
    }
    let TreeAssembly { mut builder, by_path, .. } = building;
    let covered = windows.iter().any(|&window| toolkit::shows_nothing(picture, window));
    let below: HashSet<usize> = if watch.is_empty() { HashSet::new() } else { picture.inside(0).collect() };
    // Objects without a window may still exist, but count as gone, unless a window is covered: it
    // may contain anything that is not known to have ended.
    let is_hidden = |handle: &Handle| {
        let Some(path) = ids.path(handle.id) else { return false };
        let unseen = |at: &usize| !picture[*at].shown && !picture[*at].is(s::DEFUNCT);
        by_path.get(&*path).map_or(covered, |at| unseen(at) && (covered || below.contains(at)))
    };
    builder.add_hidden(watch.iter().copied().filter(is_hidden));
    builder.finish()
}

struct TreeAssembly<'a> {
    picture: &'a ObjectTree,
    builder: TreeBuilder,
    ids: &'a PathNumbers,
    by_path: HashMap<&'a str, usize>,
    /// The active window, if there are several windows.
    active: Option<usize>,
    /// The number of web documents so far.
    frames: usize,
    /// Row headers that are reported as column headers.
    row_headers: HashSet<usize>,
    /// Objects that wrongly report the focus.
    unfocused: HashSet<usize>,
    /// Objects whose group title does not count as their name.
    untitled: HashSet<&'a str>,
    /// Labels that belong to fields only by position.
    beside: HashMap<&'a str, &'a str>,
}

impl<'a> TreeAssembly<'a> {
    /// Adds an object and its descendants. `lent` is the name that a wrapper passes on to its only
    /// child, or that a cell passes on to its check box.
    fn add(&mut self, at: usize, depth: usize, above: ParentContext, lent: &str) -> Result<(), TreeError> {
        let picture = self.picture;
        let object = &picture[at];
        if !object.shown {
            return Ok(());
        }
        if depth > DEPTH {
            self.builder.set_truncated(true);
            return Ok(());
        }
        let header = self.row_headers.contains(&at).then_some(n::ROW_HEADER);
        let own = header.unwrap_or_else(|| effective_role(picture, object, above));
        // Cells of a row belong to the row's container, and options of a group belong to the list.
        let in_list = above.role == n::LIST_BOX && matches!(own, n::PANEL | n::GROUPING);
        let container = if own == n::TABLE_ROW || in_list { above.role } else { own };
        let combo = above.combo || object.role == n::COMBO_BOX;
        let below = ParentContext { role: container, top: false, combo };
        if let Some((child, lent)) = self.only_wraps(object, lent) {
            // The name of a wrapper is passed on to its child.
            self.wrapper(object, depth)?;
            self.add(child, depth + 1, below, &lent)?;
            return self.popups(object, depth, below);
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
        let role = kinds::role(object, own, above, !named.name.is_empty(), picture.toolkit);
        if role == Role::Text {
            return self.label(object, depth, &named.name);
        }
        let mut states = kinds::states(picture, object, role, above);
        if self.unfocused.contains(&at) {
            states.remove(States::FOCUSED);
        }
        let value = value(picture, object, role, states);
        let reads =
            matches!(role, Role::Cell | Role::GridCell | Role::ListItem | Role::TreeItem | Role::Option);
        let bare = object.text.is_none() && !picture.children(object).any(|child| child.shown);
        let leaf = reads && bare && !is_field(object.role) && !named.name.is_empty();
        states.set(States::NAME_FROM_CONTENT, leaf || named.from_content);
        let attribute = |key| object.attribute(key).unwrap_or_default();
        let description = names::clean_description(&object.description);
        let attrs = [
            (Attr::Placeholder, attribute("placeholder-text")),
            (Attr::Description, if named.described { "" } else { &description }),
            // Whatever a part of a window shows, its title identifies that part.
            (Attr::Id, if is_part(object, above) { &named.name } else { attribute("id") }),
            (Attr::RowIndex, attribute("rowindex")),
            (Attr::Href, if object.role == n::LINK { &object.address } else { "" }),
            (Attr::Current, if self.active == Some(at) { "true" } else { "" }),
        ];
        let spec = NodeSpec {
            role: Some(role),
            // The name of a wrapper is not visible.
            name: if role == Role::Generic { "" } else { &named.name },
            value: &value,
            tag: roles::tag(object.role),
            states,
            level: attribute("level").parse().unwrap_or_default(),
            id: self.ids.id(&object.path),
            attrs: &attrs,
        };
        self.builder.node(depth, spec)?;
        if leaf {
            self.leaf(&named.name, depth + 1, States::BLOCK)?;
        } else if !holds_page(object, picture.toolkit) || above.role != n::PAGE_TAB_LIST {
            self.inside(object, depth, below)?;
        }
        if own == n::PAGE_TAB_LIST {
            self.pages(object, depth, below)?;
        }
        self.popups(object, depth, below)
    }

    /// Adds the pages of a notebook that some toolkits put into the tabs. As in ARIA (`tabpanel`),
    /// a page is a sibling of the list of tabs. The list is thus the same whatever the pages show.
    fn pages(&mut self, tabs: &'a Object, depth: usize, below: ParentContext) -> Result<(), TreeError> {
        let picture = self.picture;
        let holds = |tab: &&Object| {
            holds_page(tab, picture.toolkit) && picture.children(tab).any(|child| child.shown)
        };
        for tab in picture.children(tabs).filter(|tab| tab.shown).filter(holds) {
            let name = self.name(tab, "", below).name;
            let spec = NodeSpec { role: Some(Role::TabPanel), name: &name, ..NodeSpec::default() };
            self.builder.node(depth, spec)?;
            self.inside(tab, depth, ParentContext { role: n::PAGE_TAB, ..below })?;
        }
        Ok(())
    }

    /// Adds the content that a button has opened. It becomes the button's sibling, because both
    /// belong to the same container. GTK 3 puts the entries of a menu into the button, without the
    /// menu.
    fn popups(&mut self, object: &'a Object, depth: usize, below: ParentContext) -> Result<(), TreeError> {
        let picture = self.picture;
        let opened = object.children.iter().filter(|&&child| opens(object, &picture[child]));
        let bare = opened.clone().any(|&child| picture[child].shown && !is_popup(picture[child].role));
        if bare {
            self.builder.node(depth, NodeSpec { role: Some(Role::Menu), ..NodeSpec::default() })?;
        }
        for &child in opened {
            self.add(child, depth + usize::from(bare), below, "")?;
        }
        Ok(())
    }

    /// Adds the text and the children of an object in reading order.
    fn inside(&mut self, object: &'a Object, depth: usize, below: ParentContext) -> Result<(), TreeError> {
        let picture = self.picture;
        let mut children = object.children.iter().filter(|&&child| !opens(object, &picture[child]));
        if let Some(text) = &object.text
            && !is_field(object.role)
            && object.role != n::COMBO_BOX
        {
            let mut pieces = text.split(EMBEDDED);
            let first = pieces.next().unwrap_or("");
            self.leaf(&mark_clipped(first, object.length), depth + 1, States::empty())?;
            for piece in pieces {
                if let Some(&child) = children.next() {
                    self.add(child, depth + 1, below, "")?;
                }
                self.leaf(piece, depth + 1, States::empty())?;
            }
        }
        // A check box in a cell is named after the text next to it.
        let lent = if has_pieces(picture, object) { text_below(picture, object, 0) } else { String::new() };
        for &child in children {
            self.add(child, depth + 1, below, &lent)?;
        }
        Ok(())
    }

    fn leaf(&mut self, text: &str, depth: usize, states: States) -> Result<(), TreeError> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let spec = NodeSpec { role: Some(Role::Text), name: text, states, ..NodeSpec::default() };
        self.builder.node(depth, spec).map(drop)
    }

    /// Adds a label: its text as a separate leaf, and its children, such as links.
    fn label(&mut self, object: &'a Object, depth: usize, name: &str) -> Result<(), TreeError> {
        let text = object.text.as_deref().filter(|text| !text.trim().is_empty()).unwrap_or(name);
        let below = ParentContext { role: object.role, top: false, combo: false };
        self.wrapper(object, depth)?;
        self.leaf(&text.replace(EMBEDDED, ""), depth + 1, States::BLOCK)?;
        for &child in &object.children {
            self.add(child, depth + 1, below, "")?;
        }
        Ok(())
    }

    fn wrapper(&mut self, object: &Object, depth: usize) -> Result<(), TreeError> {
        let (tag, id) = (roles::tag(object.role), self.ids.id(&object.path));
        let spec = NodeSpec { role: Some(Role::Generic), tag, id, ..NodeSpec::default() };
        self.builder.node(depth, spec).map(drop)
    }

    /// Returns the only child of an object, if the child duplicates the object, and the name that
    /// the object passes on. Examples are the button in a `GtkMenuButton` and the text in a
    /// `GtkEntry`.
    fn only_wraps(&self, object: &Object, lent: &str) -> Option<(usize, String)> {
        if !self.picture.profile().wraps_controls || object.is(s::FOCUSABLE) {
            return None;
        }
        let objects = &self.picture.objects;
        let mut shown =
            object.children.iter().filter(|&&child| objects[child].shown && !opens(object, &objects[child]));
        let (Some(&child), None) = (shown.next(), shown.next()) else { return None };
        let both = |is: fn(u32) -> bool| is(object.role) && is(objects[child].role);
        let buttons = both(|role| matches!(role, n::PUSH_BUTTON | n::TOGGLE_BUTTON));
        if !buttons && !both(is_field) && !both(|role| role == n::COMBO_BOX) {
            return None;
        }
        let own = names::clean_name(&object.name, self.picture.toolkit, true, "");
        let beside = self.beside.get(object.path.as_str()).copied().filter(|_| is_field(object.role));
        let names = [own, object.description.trim(), lent, beside.unwrap_or_default()];
        let name = names.into_iter().find(|name| !name.is_empty());
        Some((child, name.unwrap_or_default().to_owned()))
    }
}
