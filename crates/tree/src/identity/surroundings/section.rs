//! Sections between an element and its heading, and their text.

use std::sync::Arc;

use crate::identity::fingerprint::{Fingerprint, TextKind};
use crate::identity::rows::numbers::is_volatile;
use crate::identity::rows::text::{is_field, is_row_role, leaves_except, walk};
use crate::identity::surroundings::heading::{HeadingIndex, strip_unsaved_mark};
use crate::identity::surroundings::popup::is_popup;
use crate::{NodeRef, Role, States};

/// The text of a section, as sorted fingerprints.
#[derive(Debug, Clone)]
pub(crate) struct SectionText {
    pub(crate) all: Arc<[Fingerprint]>,
    /// The text without repetitions of the window's title.
    pub(crate) without_title: Arc<[Fingerprint]>,
    /// The number of texts in `without_title`. In a window, adjacent labels read as one text but
    /// are counted separately.
    pub(crate) labels: usize,
}

impl HeadingIndex {
    /// Returns the nearest section with text between an element and its heading, and this text.
    pub(crate) fn section_of<'t>(&self, element: NodeRef<'t>) -> Option<(NodeRef<'t>, SectionText)> {
        self.below_heading(element)
            .filter(|n| {
                use Role::{Article, Complementary, Form, Region, Window};
                // In a window without headings, only the labels indicate what the window shows.
                matches!(n.role(), Region | Article | Form | Complementary | Window) || n.tag() == "section"
            })
            .map(|n| (n, self.section_text(n)))
            .find(|(_, text)| !text.all.is_empty())
    }

    /// Returns the text of a section, without rows, controls, fields and their labels, popups, live
    /// regions and volatile text. For a window, lists, trees, tables, logs, regions and documents
    /// are also excluded, because their content changes while the window stays the same.
    pub(crate) fn section_text(&self, section: NodeRef<'_>) -> SectionText {
        self.sections.get(section.id(), || read_section(section))
    }
}

fn read_section(section: NodeRef<'_>) -> SectionText {
    let of_window = section.role() == Role::Window;
    let skip = |n: NodeRef<'_>| {
        use Role::{Document, Grid, List, ListBox, Log, Region, Table, Tree, TreeGrid};
        let content =
            matches!(n.role(), Document | Grid | List | ListBox | Log | Region | Table | Tree | TreeGrid);
        n.is(States::ACTIONABLE)
            || is_field(n)
            || n.is(States::LIVE)
            || n.is(States::TIME)
            || matches!(n.role(), Role::Label | Role::Legend)
            || is_row_role(n.role()) && n.role() != Role::Group
            || is_popup(n)
            || of_window && content
    };
    // Whether a label repeats the title or part of it.
    let is_of_title = |text: &str| {
        let bare = strip_unsaved_mark(text);
        of_window && !bare.is_empty() && section.name().contains(bare)
    };
    let read = |text: &str| {
        let of_title = is_of_title(text);
        (Fingerprint::of(TextKind::Text, if of_title { strip_unsaved_mark(text) } else { text }), of_title)
    };
    let texts = leaves_except(section, skip);
    let mut read: Vec<(Fingerprint, bool)> =
        texts.iter().filter(|(_, t)| !is_volatile(t)).map(|(_, t)| read(t)).collect();
    read.sort_unstable();
    let all: Arc<[Fingerprint]> = read.iter().map(|(fingerprint, _)| *fingerprint).collect();
    let (without_title, labels) = if of_window {
        let mut labels = 0;
        walk(section, |n| {
            let text = n.name();
            labels +=
                usize::from(n.is_text() && !text.is_empty() && !is_volatile(text) && !is_of_title(text));
            n.is_text() || !skip(n)
        });
        let without_title = read.iter().filter(|(_, of_title)| !of_title);
        (without_title.map(|(fingerprint, _)| *fingerprint).collect(), labels)
    } else {
        (all.clone(), all.len())
    };
    SectionText { all, without_title, labels }
}
