//! The objects of an app as the app describes them, before they become a tree. Plain values, so
//! that recorded answers can replace an app.

pub(crate) mod extents;
pub(crate) mod ids;
pub(crate) mod names;
pub(crate) mod overlaps;
pub(crate) mod parents;
pub(crate) mod roles;
pub(crate) mod states;

pub(crate) use extents::{Point, rect};
pub(crate) use ids::{APP, PathNumbers};
pub(crate) use parents::{DEEP, ancestors, chain, holds_popup, popup_in};
pub(crate) use roles::{Facts, ParentContext, is_field, is_menu, is_menu_item, is_wrapper, number as role};

use crate::model::states as s;
use crate::toolkit::profile::{Profile, Toolkit};
use std::ops::{Index, IndexMut};

/// The suffix that turns the path of a first cell into the path of its row, for which the app has
/// no object.
pub(crate) const ROW: &str = "#row";

/// The attribute that marks the first visible cell of a row, whose first columns may be hidden, and
/// each icon in a grid.
pub(crate) const LEADS: &str = "leads";

/// Returns whether the app has an object with this path. Other paths were created by a capture.
pub(crate) fn is_real(path: &str) -> bool {
    !path.is_empty() && !path.ends_with(ROW)
}

macro_rules! interfaces {
    ($($name:ident = $bit:literal, $word:literal;)*) => {
        bitflags::bitflags! {
            /// The interfaces of an object.
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
            #[cfg_attr(test, derive(serde::Deserialize), serde(from = "u16"))]
            pub(crate) struct Interfaces: u16 { $(const $name = 1 << $bit;)* }
        }

        impl Interfaces {
            /// Returns the bit of `org.a11y.atspi.<word>`.
            fn named(word: &str) -> Self {
                match word { $($word => Self::$name,)* _ => Self::empty() }
            }
        }
    };
}

interfaces! {
    ACTION = 0, "Action"; COMPONENT = 1, "Component"; DOCUMENT = 2, "Document"; EDITABLE = 3, "EditableText";
    HYPERLINK = 4, "Hyperlink"; SELECTION = 5, "Selection"; TABLE = 6, "Table"; TABLE_CELL = 7, "TableCell";
    TEXT = 8, "Text"; VALUE = 9, "Value"; HYPERTEXT = 10, "Hypertext"; IMAGE = 11, "Image";
}

impl Interfaces {
    /// The interfaces that Gecko gives to all objects that contain text.
    pub(crate) const AROUND_TEXT: Self =
        Self::ACTION.union(Self::COMPONENT).union(Self::EDITABLE).union(Self::TEXT).union(Self::HYPERTEXT);

    /// Converts full interface names, such as `org.a11y.atspi.Action`, to flags.
    pub(crate) fn of(names: &[String]) -> Self {
        names.iter().map(|name| Self::named(name.rsplit('.').next().unwrap_or(name))).collect()
    }
}

/// An object of an app.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(test, derive(serde::Deserialize), serde(default))]
pub(crate) struct Object {
    /// The object path. For an object that a capture created, it is empty or ends in [`ROW`].
    pub(crate) path: String,
    pub(crate) role: u32,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) states: u64,
    pub(crate) interfaces: Interfaces,
    /// The reported number of children; negative if unknown.
    pub(crate) count: i32,
    /// The known children in order.
    pub(crate) children: Vec<usize>,
    /// Children that are shown below another parent (`capture/duplicates.rs`).
    pub(crate) duplicate_children: Vec<usize>,
    /// Whether `children` is complete and in the object's own order.
    pub(crate) complete: bool,
    /// Whether a person can see the object or scroll to it, disregarding its ancestors.
    pub(crate) shown: bool,
    /// Left, top, width and height in the toolkit's coordinates.
    pub(crate) extents: Option<[i32; 4]>,
    /// The number of characters in the object's whole text; `None` if unknown.
    pub(crate) length: Option<i32>,
    pub(crate) text: Option<String>,
    pub(crate) number: Option<f64>,
    pub(crate) attributes: Vec<(String, String)>,
    /// The paths of the object's labels.
    pub(crate) labelled_by: Vec<String>,
    /// The path of the parent item in a tree.
    pub(crate) child_of: String,
    pub(crate) actions: Vec<String>,
    /// The target of a link, or the address of a document.
    pub(crate) address: String,
}

impl Object {
    /// Describes the object for messages, by role and name.
    pub(crate) fn describe(&self) -> String {
        format!("{} {}", roles::tag(self.role), stickpin_tree::quote(&self.name))
    }

    /// Returns the size of all texts of the object, in bytes.
    pub(crate) fn text_size(&self) -> usize {
        let single = [&self.path, &self.name, &self.description, &self.child_of, &self.address];
        let pairs = self.attributes.iter().flat_map(|(key, value)| [key, value]);
        let lists = self.labelled_by.iter().chain(&self.actions);
        single.into_iter().chain(&self.text).chain(pairs).chain(lists).map(String::len).sum()
    }

    /// Returns whether any of these states is set.
    pub(crate) fn is(&self, state: u64) -> bool {
        self.states & state != 0
    }

    /// Returns whether the object has an interface.
    pub(crate) fn has(&self, interface: Interfaces) -> bool {
        self.interfaces.intersects(interface)
    }

    /// Returns whether the object itself has no appearance, like pages of stacks and notebooks.
    pub(crate) fn has_no_appearance(&self) -> bool {
        self.role == role::PANEL && self.interfaces == Interfaces::default() && !self.path.is_empty()
    }

    /// Returns whether the object's rectangle is known to be empty.
    pub(crate) fn is_flat(&self) -> bool {
        self.extents.is_some_and(|[_, _, width, height]| width <= 0 || height <= 0)
    }

    /// Returns whether the object is a part of a Qt window, such as a dock, that floats in its own
    /// window.
    pub(crate) fn floats(&self) -> bool {
        self.role == role::FRAME && self.is(s::RESIZABLE)
    }

    /// Returns whether the object is a cell with a check box. Its states report that it is checked,
    /// but not that it is checkable.
    pub(crate) fn is_box(&self) -> bool {
        self.role == role::TABLE_CELL
            && self.actions.iter().any(|action| action.eq_ignore_ascii_case("toggle"))
    }

    /// Returns an attribute.
    pub(crate) fn attribute(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }
}

/// Everything that was read from an app at one moment. The first object is the app, and its
/// children are the windows.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub(crate) struct ObjectTree {
    pub(crate) toolkit: Toolkit,
    pub(crate) objects: Vec<Object>,
    /// Whether a limit truncated the capture, or an error left it unknown what an object shows.
    pub(crate) truncated: bool,
}

impl ObjectTree {
    /// Returns the app itself.
    pub(crate) fn root(&self) -> &Object {
        &self.objects[0]
    }

    /// Returns the children of an object.
    pub(crate) fn children<'p>(&'p self, of: &'p Object) -> impl Iterator<Item = &'p Object> + Clone {
        of.children.iter().map(|&child| &self.objects[child])
    }

    /// Returns the active window: one that reports being active, otherwise one with the focus
    /// inside.
    pub(crate) fn active(&self) -> Option<usize> {
        let windows = self.root().children.iter().copied();
        let mut seen = windows.filter(|&window| s::is_visible(self[window].states, self.toolkit));
        let active = seen.clone().find(|&window| self[window].is(s::ACTIVE));
        active.or_else(|| seen.find(|&window| self.inside(window).any(|at| self[at].is(s::FOCUSED))))
    }

    /// Returns the title of the app: the title of its active window or of the first window with a
    /// title, or the app's own name. An open menu is a window without a title.
    pub(crate) fn title(&self) -> &str {
        let title = |window: usize| self[window].name.trim();
        let mut titles = self.active().into_iter().chain(self.root().children.iter().copied()).map(title);
        titles.find(|title| !title.is_empty()).unwrap_or_else(|| self.root().name.trim())
    }

    /// Returns an object and its descendants in order, each once. Objects that are not shown may
    /// have several parents, and even contain themselves.
    pub(crate) fn inside(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        self.walk(at, |_| true)
    }

    /// Returns objects like [`ObjectTree::inside`], but without the content of objects that do not
    /// satisfy a condition.
    pub(crate) fn walk<'p>(
        &'p self,
        at: usize,
        enters: impl Fn(&Object) -> bool + 'p,
    ) -> impl Iterator<Item = usize> + 'p {
        let (mut seen, mut next) = (vec![false; self.objects.len()], vec![at]);
        std::iter::from_fn(move || {
            let at = std::iter::from_fn(|| next.pop()).find(|&at| !std::mem::replace(&mut seen[at], true))?;
            next.extend(self[at].children.iter().rev().filter(|_| enters(&self[at])));
            Some(at)
        })
    }

    /// Returns whether an object is a cell inside another cell. `above` is the role of its parent.
    pub(crate) fn is_piece(&self, object: &Object, above: u32) -> bool {
        let in_cell = matches!(above, role::TABLE_CELL | role::TREE_ITEM);
        self.profile().cells_hold_cells && object.role == role::TABLE_CELL && in_cell
    }

    /// Returns whether an object is the content of a popup, by its class.
    pub(crate) fn is_popover(&self, object: &Object) -> bool {
        self.profile().popover == Some(object.name.as_str())
    }

    /// Returns the facts about the app's toolkit.
    pub(crate) fn profile(&self) -> Profile {
        self.toolkit.profile()
    }
}

impl Index<usize> for ObjectTree {
    type Output = Object;

    fn index(&self, at: usize) -> &Object {
        &self.objects[at]
    }
}

impl IndexMut<usize> for ObjectTree {
    fn index_mut(&mut self, at: usize) -> &mut Object {
        &mut self.objects[at]
    }
}

/// The placeholder for an object inside a text.
pub(crate) const EMBEDDED: char = '\u{fffc}';

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::states;

    /// Recorded pictures contain the bits.
    impl From<u16> for Interfaces {
        fn from(bits: u16) -> Self {
            Self::from_bits_retain(bits)
        }
    }

    #[test]
    fn the_title_is_that_of_the_active_window_and_of_no_menu() {
        let window = |name: &str, states| Object { name: name.to_owned(), states, ..Object::default() };
        let seen = states::SHOWING | states::VISIBLE;
        let app = Object { name: "gedit".into(), children: vec![1, 2, 3], ..Object::default() };
        let menu = window("", seen | states::FOCUSED);
        let objects = vec![app, menu, window("Draft", seen), window("Print", seen)];
        let mut picture = ObjectTree { toolkit: Toolkit::Gtk3, objects, truncated: false };
        assert_eq!(picture.title(), "Draft");
        picture.objects[3].states |= states::ACTIVE;
        assert_eq!(picture.title(), "Print");
        picture.objects[0].children.clear();
        assert_eq!(picture.title(), "gedit");
    }

    /// An app may list a hidden object in any number of places: here, both objects of a level are
    /// in both objects of the level above, for sixty levels.
    #[test]
    fn what_has_the_focus_is_looked_for_once_in_each() {
        let seen = states::SHOWING | states::VISIBLE;
        let object = |at: usize| {
            let level = at.div_ceil(2);
            let children = if level < 60 { vec![2 * level + 1, 2 * level + 2] } else { vec![1] };
            Object { children, states: seen, ..Object::default() }
        };
        let objects = (0..=120).map(object).collect();
        let mut picture = ObjectTree { toolkit: Toolkit::Gtk3, objects, truncated: false };
        assert_eq!(picture.active(), None);
        picture.objects[120].states |= states::FOCUSED;
        assert_eq!(picture.active(), Some(1));
    }

    #[test]
    fn all_that_stands_in_an_object_comes_in_its_order_and_once() {
        let object = |children: &[usize]| Object { children: children.to_vec(), ..Object::default() };
        let objects = vec![object(&[1, 3]), object(&[2, 1]), object(&[3, 0]), object(&[]), object(&[0])];
        let picture = ObjectTree { toolkit: Toolkit::Gtk3, objects, truncated: false };
        let inside = |at| picture.inside(at).collect::<Vec<_>>();
        assert_eq!(inside(0), [0, 1, 2, 3]);
        assert_eq!(inside(1), [1, 2, 3, 0]);
        assert_eq!((inside(3), inside(4)), (vec![3], vec![4, 0, 1, 2, 3]));
    }
}
