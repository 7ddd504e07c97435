//! Rows that are parts of one thing: button bars, rows of labelled fields, lines without words.
//!
//! Such rows differ in control names, field labels, numbers and positions, which are the same for
//! every record that an app shows in them. An example is `Edit, Delete` and `Print, Mail` below
//! `Invoice 1041`, and then below `Invoice 1042`. Only a row's own text, links and keys identify a
//! record. Without them, the element is judged like one outside rows: by the heading above, the
//! section, the titles around it and the text of its dialog.
//!
//! Rows that identify themselves stay valid whatever the heading above is; an action in such a list
//! reports a changed heading. Controls before a `main` that does not contain them are tools of the
//! whole app, and are not below the heading inside that `main`.

use crate::identity::element_reader::ElementReader;
use crate::identity::evidence::Evidence;
use crate::identity::rows::content::Row;
use crate::identity::rows::detect::RowAt;
use crate::identity::rows::keys;
use crate::identity::surroundings::heading::belongs_to_following_region;
use crate::identity::surroundings::popup::{enclosing_message, popup_of};
use crate::{NodeRef, Role, States};

impl<'t> ElementReader<'_, 't> {
    /// Returns the heading above all sibling rows. Excludes headings of other rows and of text that
    /// a person writes. In a dialog, also excludes headings behind the dialog or on one of its tab
    /// pages.
    pub(crate) fn heading_above(&self) -> Option<NodeRef<'t>> {
        let at = self.row?;
        let (structure, surroundings) = (&self.records.cache.structure, &self.records.cache.headings);
        // A menu has no heading itself: use the heading around it.
        let dialog = popup_of(self.element).and_then(|_| enclosing_message(self.element));
        let is_inside = |n: NodeRef<'_>, heading: NodeRef<'_>| {
            n.is(States::EDIT_HOST)
                || n.role() == Role::TabPanel && popup_of(n).is_some()
                || structure.is_title_of_row(n, heading)
        };
        let is_above = |h: NodeRef<'_>| {
            dialog.is_none_or(|dialog| dialog.contains(h.id()))
                && !h.ancestors().any(|n| n.is(States::EDIT_HOST))
                && self.is_below(h, at)
        };
        surroundings.titles_around(self.element, is_inside).find(|h| is_above(*h))
    }

    /// Returns whether the element is in a row of which nothing identifies a record.
    pub(crate) fn is_row_part(&self, evidence: &Evidence) -> bool {
        let Some((at, row)) = self.row.zip(self.row_content()) else { return false };
        match evidence {
            Evidence::Key((attr, _)) => {
                let node = self.records.tree.node(at.id);
                !self.has_own_text(row) && keys::may_name_a_part(*attr, node.attr(*attr).unwrap_or(""))
            }
            Evidence::Text { .. } => !self.has_own_text(row),
            Evidence::OwnName | Evidence::Numbers { .. } | Evidence::Position { .. } => true,
            Evidence::Heading { .. }
            | Evidence::Region(_)
            | Evidence::Window { .. }
            | Evidence::Address(_)
            | Evidence::Always => false,
        }
    }

    /// Returns whether a row has its own words. The label of a field belongs to the form instead.
    fn has_own_text(&self, row: &Row) -> bool {
        !row.is_of_form && row.text.distinguishing_outside(self.element).next().is_some()
    }

    /// Returns whether the element is below a heading, not merely before a part of the page that
    /// has one. A bar may precede the title of the part that it serves, but not the title of a
    /// later named region. If the element is the only control of its row, the row belongs to a
    /// list, and a heading after the element is part of the list's content.
    fn is_below(&self, heading: NodeRef<'_>, at: RowAt<'_>) -> bool {
        let is_outside = |n: &NodeRef<'_>| !n.contains(self.element.id());
        heading.id() < self.element.id()
            || !self.is_alone_in(at)
                && !belongs_to_following_region(heading, self.element)
                && !heading.ancestors().take_while(is_outside).any(|n| n.role() == Role::Main)
    }

    fn is_alone_in(&self, at: RowAt<'_>) -> bool {
        let row = self.records.tree.node(at.id);
        let controls = self.records.cache.structure.controls_in(row).len();
        controls - usize::from(row.is(States::ACTIONABLE)) <= 1
    }

    /// Returns whether no other row has an element with the same role and name.
    pub(crate) fn has_own_name(&self) -> bool {
        let own = |at: RowAt<'_>| at.container.is_own_name(at.index, self.element);
        !self.element.name().is_empty() && self.row.is_some_and(own)
    }
}
