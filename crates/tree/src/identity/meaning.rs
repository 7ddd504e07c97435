//! What an element was when it was issued: a value that outlives the tree it was read from.

use std::fmt;
use std::sync::Arc;

use crate::identity::element_text::ElementText;
use crate::identity::evidence::Evidence;
use crate::identity::evidence::{Enclosing, EnclosingHeading};
use crate::identity::fingerprint::Fingerprint;
use crate::identity::opener::Opener;
use crate::identity::rows::numbers::without_counts;
use crate::identity::surroundings::group::{self, GroupTitle};
use crate::identity::surroundings::popup::PopupText;
use crate::{Handle, Role, quote};

/// What an element was when it was issued: role, name and record. Cheap to clone, holds nothing of the tree.
///
/// Made by [`Records::meaning`](crate::Records::meaning), compared by
/// [`Records::judge`](crate::Records::judge). States and values are never part of it. `Display` names the
/// element to people, quoted and bounded: `button "Delete" in row "Mail 1"`.
#[derive(Debug, Clone)]
pub struct Meaning(pub(crate) Arc<Inner>);

#[derive(Debug, Clone)]
pub(crate) struct Inner {
    pub(crate) role: Role,
    pub(crate) name: Box<str>,
    /// The name without counts.
    pub(crate) stable_name: Fingerprint,
    /// What it said, where it has no name.
    pub(crate) words: Option<ElementText>,
    /// Whether others said the same, counts aside.
    pub(crate) words_shared: bool,
    /// The address of its document.
    pub(crate) address: Fingerprint,
    pub(crate) record: Record,
    /// What it stands in, for people: `row "Mail 1"`.
    pub(crate) within: Option<(&'static str, Box<str>)>,
}

/// Which thing among its likes.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) evidence: Evidence,
    /// The node that was its row.
    pub(crate) row: Option<Handle>,
    /// What its row is a part of, where nothing in that is of a record.
    pub(crate) enclosing: Option<Enclosing>,
    /// The heading above a row that its words tell: what it became is told, and ends nothing.
    pub(crate) below: Option<EnclosingHeading>,
    pub(crate) section: Option<Section>,
    /// The titles between it and its heading, as far as they tell it.
    pub(crate) groups: Box<[GroupTitle]>,
    pub(crate) popup_text: Option<PopupText>,
    pub(crate) opener: Option<Opener>,
}

/// A section between the element and its heading.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    pub(crate) node: Option<Handle>,
    pub(crate) text: Arc<[Fingerprint]>,
}

impl Meaning {
    /// The role at issue.
    #[must_use]
    pub fn role(&self) -> Role {
        self.0.role
    }

    /// The accessible name at issue.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether it is what a text says that was printed from a meaning earlier, counts in parentheses aside.
    #[must_use]
    pub fn reads_as(&self, text: &str) -> bool {
        let steady = |text: &str| without_counts(text).replace(" \"", "\"");
        let reads = |now: &str| now == text || steady(now) == steady(text);
        // Texts of older versions name nothing that has no accessible name.
        reads(&self.to_string()) || self.0.words.is_some() && reads(&self.labelled(""))
    }

    /// Its role, a label, and what it stands in.
    fn labelled(&self, label: &str) -> String {
        let mut text = self.0.role.name().to_owned();
        if !label.is_empty() {
            text = format!("{text} {}", quote(label));
        }
        match &self.0.within {
            Some((what, name)) => format!("{text} in {what} {}", quote(name)),
            None => text,
        }
    }

    /// Whether the key of its row tells it from its likes: such an element is known again after any absence.
    #[must_use]
    pub fn has_record_key(&self) -> bool {
        matches!(self.0.record.evidence, Evidence::Key(_))
    }

    /// The node that was its row, if the row is what tells it from its likes.
    #[must_use]
    pub fn row(&self) -> Option<Handle> {
        self.0.record.row.filter(|_| self.0.record.evidence.is_row())
    }

    /// The same meaning, resting on the nodes that `now`, which it was found to be equal to, rests on: where a part
    /// was drawn anew, the nodes at issue are gone and will not come back.
    #[must_use]
    pub fn resting_on(&self, now: &Self) -> Self {
        let mut inner = (*self.0).clone();
        let (record, now) = (&mut inner.record, &now.0.record);
        match (&mut record.evidence, &now.evidence) {
            (Evidence::Heading { node, text }, Evidence::Heading { node: there, text: same })
            | (Evidence::Window { node, title: text }, Evidence::Window { node: there, title: same })
                if text == same =>
            {
                *node = *there
            }
            _ => {}
        }
        record.enclosing = record.enclosing.as_ref().map(|e| e.resting_on(now.enclosing.as_ref()));
        record.below = record.below.map(|title| title.resting_on(now.below));
        if let (Some(section), Some(there)) = (&mut record.section, &now.section) {
            section.node = there.node;
        }
        if now.evidence.is_row() {
            record.row = now.row;
        }
        record.groups = group::resting_on(&record.groups, &now.groups);
        Self(Arc::new(inner))
    }

    /// The nodes that the record hangs on, as far as it does: row, heading, section, groups, opener at issue. A device
    /// that locates the element should report these too.
    #[must_use]
    pub fn context_handles(&self) -> Vec<Handle> {
        let record = &self.0.record;
        let heading = match record.evidence {
            Evidence::Heading { node, .. } => node,
            _ => record
                .enclosing
                .as_ref()
                .map_or(record.below, |enclosing| enclosing.heading)
                .and_then(|title| title.node),
        };
        let section = record.section.as_ref().and_then(|s| s.node);
        let opener = record.opener.as_ref().and_then(|o| o.0.handle);
        let groups = record.groups.iter().map(|group| group.node);
        [record.row, heading, section, opener].into_iter().chain(groups).flatten().collect()
    }
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.0.words.as_ref().map_or("", |words| &words.label);
        f.write_str(&self.labelled(if self.0.name.is_empty() { words } else { &self.0.name }))
    }
}
