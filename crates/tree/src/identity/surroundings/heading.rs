//! The location of an element outside rows: its heading, section, region, or a part of the page
//! that is the same for all records.

use std::cell::OnceCell;

use crate::identity::fingerprint::{Fingerprint, TextKind};
use crate::identity::memo::Memo;
use crate::identity::rows::numbers::{is_count, is_number, is_plural, without_counts};
use crate::identity::rows::text::leaves;
use crate::identity::surroundings::section::SectionText;
use crate::{NodeId, NodeRef, Role, Tree};

/// The headings and sections of one tree; their texts are read once. The tree itself is not stored:
/// each method gets it, or nodes that refer to it.
#[derive(Debug, Default)]
pub(crate) struct HeadingIndex {
    first_heading: OnceCell<FirstHeadings>,
    first_title: OnceCell<FirstHeadings>,
    headings: Memo<NodeId, Fingerprint>,
    pub(super) sections: Memo<NodeId, SectionText>,
}

/// The first heading in each subtree.
type FirstHeadings = Box<[Option<NodeId>]>;

impl HeadingIndex {
    /// Returns the first heading in a subtree, excluding frames.
    fn heading_in<'t>(&self, node: NodeRef<'t>) -> Option<NodeRef<'t>> {
        let first = self.first_heading.get_or_init(|| first_headings(node.tree(), |_, _| false));
        first[node.id().index()].map(|id| node.tree().node(id))
    }

    /// Returns the heading above an element: the nearest of [`Self::headings_around`].
    pub(crate) fn heading_of<'t>(&self, element: NodeRef<'t>) -> Option<NodeRef<'t>> {
        self.headings_around(element).next()
    }

    /// Returns the first heading of each ancestor that has one, nearest first. Skips a heading that
    /// is the element itself or belongs to a region after the element.
    pub(crate) fn headings_around<'t>(&self, element: NodeRef<'t>) -> impl Iterator<Item = NodeRef<'t>> {
        ancestors_to_document(element).filter_map(move |n| self.heading_for(n, element))
    }

    /// Returns the first heading in a part around an element, unless the heading is the element
    /// itself or belongs to a region after the element.
    fn heading_for<'t>(&self, part: NodeRef<'t>, element: NodeRef<'t>) -> Option<NodeRef<'t>> {
        self.heading_in(part).filter(|h| *h != element && !belongs_to_following_region(*h, element))
    }

    /// Returns the first heading of each ancestor that has one, nearest first. Skips the element
    /// itself, and headings that, according to `is_inside`, concern only the content of a node.
    /// `is_inside` is evaluated once per capture and must return the same result for all elements.
    pub(crate) fn titles_around<'t>(
        &self,
        element: NodeRef<'t>,
        is_inside: impl Fn(NodeRef<'t>, NodeRef<'t>) -> bool,
    ) -> impl Iterator<Item = NodeRef<'t>> {
        let first = self.first_title.get_or_init(|| first_headings(element.tree(), is_inside));
        let title_in = move |n: NodeRef<'t>| first[n.id().index()].map(|id| n.tree().node(id));
        ancestors_to_document(element).filter_map(move |n| title_in(n).filter(|h| *h != element))
    }

    /// Returns the text of a heading for comparison. A heading of level 1 names the record, as in
    /// `Order 17`, so its numbers count, except for a number of things, as in `Orders (12)`. At
    /// other levels, counts are ignored. The unsaved mark never counts.
    pub(crate) fn heading_text(&self, heading: NodeRef<'_>) -> Fingerprint {
        self.headings.get(heading.id(), || {
            Fingerprint::of(TextKind::Heading, strip_unsaved_mark(&read_heading(heading)))
        })
    }

    /// Returns the ancestors between an element and its heading, nearest first. Without a heading,
    /// returns all ancestors up to the document.
    pub(crate) fn below_heading<'t>(&self, element: NodeRef<'t>) -> impl Iterator<Item = NodeRef<'t>> {
        ancestors_to_document(element).take_while(move |n| self.heading_for(*n, element).is_none())
    }

    /// Returns whether an element is in a part of the page that is the same for all records. A
    /// banner whose first heading has level 1 is not such a part.
    pub(crate) fn is_in_page_frame(&self, element: NodeRef<'_>) -> bool {
        ancestors_to_document(element).any(|n| match n.role() {
            Role::Navigation | Role::ContentInfo | Role::MenuBar | Role::TabList => true,
            Role::Banner => self.heading_in(n).is_none_or(|h| h.level() != 1),
            _ => false,
        })
    }
}

fn read_heading(heading: NodeRef<'_>) -> String {
    let leaves = leaves(heading);
    if heading.level() == 1 {
        let all: Vec<&str> = leaves.iter().map(|(_, t)| t.as_ref()).collect();
        let read = if all.is_empty() { heading.name().to_owned() } else { all.join(" ") };
        return strip_item_count(&read).to_owned();
    }
    if leaves.is_empty() {
        return without_counts(heading.name());
    }
    let is_badge = |leaf: NodeRef<'_>, text: &str| leaf.parent() != Some(heading) && is_number(text);
    let kept: Vec<&str> =
        leaves.iter().filter(|(leaf, text)| !is_badge(*leaf, text)).map(|(_, t)| t.as_ref()).collect();
    without_counts(&kept.join(" "))
}

/// Returns whether a heading belongs to a named region that follows an element and does not contain
/// it. For example, an editor's bar with a `Publish` button precedes the document and the settings,
/// and is not below their headings. A region with the name of the heading is not a frame of the
/// app, but content of the page.
pub(crate) fn belongs_to_following_region(heading: NodeRef<'_>, element: NodeRef<'_>) -> bool {
    use Role::{Complementary, Form, Region};
    let is_frame = |n: NodeRef<'_>| {
        matches!(n.role(), Complementary | Form | Region)
            && !n.name().is_empty()
            && n.name() != heading.name()
    };
    heading.id() > element.id()
        && ancestors_to_document(heading).take_while(|n| !n.contains(element.id())).any(is_frame)
}

fn first_headings<'t>(tree: &'t Tree, is_inside: impl Fn(NodeRef<'t>, NodeRef<'t>) -> bool) -> FirstHeadings {
    let mut first = vec![None; tree.len()].into_boxed_slice();
    for n in tree.nodes().rev() {
        if n.role() == Role::Heading {
            first[n.id().index()] = Some(n.id());
        }
        if let Some(found) = first[n.id().index()]
            && let Some(parent) = n.parent().filter(|_| n.role() != Role::Document)
            && !is_inside(n, tree.node(found))
        {
            first[parent.id().index()] = Some(found);
        }
    }
    first
}

/// Returns the nearest window or named region around an element.
pub(crate) fn region_of(element: NodeRef<'_>) -> Option<NodeRef<'_>> {
    ancestors_to_document(element).find(|n| {
        use Role::{Dialog, Form, Main, Region, Window};
        n.role() == Window || matches!(n.role(), Dialog | Form | Region | Main) && !n.name().is_empty()
    })
}

/// Returns the name of a region without counts and, for a window, without the unsaved mark.
pub(crate) fn region_name(region: NodeRef<'_>) -> String {
    match region.role() {
        Role::Window => stable_title(region.name()),
        _ => without_counts(region.name()),
    }
}

/// Returns the title of a window or page without counts and unsaved marks.
pub(crate) fn stable_title(title: &str) -> String {
    strip_unsaved_marks(&without_counts(title))
}

/// Returns a title without unsaved marks and white space at either end.
pub(crate) fn strip_unsaved_mark(title: &str) -> &str {
    title.trim_matches(|c: char| UNSAVED_MARKS.contains(&c) || c.is_whitespace())
}

/// Returns a title without unsaved marks at the ends of its words: `notes.txt* - Editor`,
/// `(notes.txt)`.
fn strip_unsaved_marks(title: &str) -> String {
    let is_mark = |c: char| UNSAVED_MARKS.contains(&c) || ENCLOSING_MARKS.contains(&c);
    let words =
        title.split_whitespace().map(|word| word.trim_matches(is_mark)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// The marks by which editors show unsaved changes.
const UNSAVED_MARKS: [char; 3] = ['*', '•', '●'];

/// Returns a title without the number of things it names: `Orders (12)` becomes `Orders`. `Order
/// (12)` may name a single order, so it is not changed.
fn strip_item_count(title: &str) -> &str {
    let bare = title.strip_suffix(')').and_then(|title| title.rsplit_once('('));
    let item_count = bare.filter(|(things, count)| {
        let last = things.trim_end().rsplit(' ').next().unwrap_or_default();
        is_count(count) && is_plural(last)
    });
    item_count.map_or(title, |(things, _)| things.trim_end())
}

/// Marks that editors put around the name of an unsaved file.
const ENCLOSING_MARKS: [char; 4] = ['(', ')', '[', ']'];

/// Returns the ancestors of an element up to and including its document.
pub(crate) fn ancestors_to_document(element: NodeRef<'_>) -> impl Iterator<Item = NodeRef<'_>> {
    let mut left = false;
    element.ancestors().take_while(move |n| !std::mem::replace(&mut left, n.role() == Role::Document))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_count_in_title_is_ignored() {
        for (title, bare) in [
            ("Orders (12)", "Orders"),
            ("My orders (3)", "My orders"),
            ("Order (12)", "Order (12)"),
            ("Orders 12", "Orders 12"),
            ("Address (2)", "Address (2)"),
            ("Orders (new)", "Orders (new)"),
            ("(12)", "(12)"),
        ] {
            assert_eq!(strip_item_count(title), bare, "{title}");
        }
    }
}
