//! What an element was when it was issued: a value that outlives the tree it was read from.

use std::fmt;
use std::sync::Arc;

use super::basis::Basis;
use super::groups::{self, Titled};
use super::openers::Opener;
use super::parts::{Title, Whole};
use super::popups::Speech;
use super::print::Print;
use super::volatile::without_counts;
use super::words::Words;
use crate::{Handle, Role, quote};

/// What an element was when it was issued: role, name and record. Cheap to clone, holds nothing of the tree.
///
/// Made by [`Records::meaning`](super::Records::meaning), compared by
/// [`Records::judge`](super::Records::judge). States and values are never part of it. `Display` names the
/// element to people, quoted and bounded: `button "Delete" in row "Mail 1"`.
#[derive(Debug, Clone)]
pub struct Meaning(pub(super) Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) role: Role,
    pub(super) name: Box<str>,
    /// The name without counts.
    pub(super) stable_name: Print,
    /// What it said, where it has no name.
    pub(super) words: Option<Words>,
    /// Whether others said the same, counts aside.
    pub(super) words_shared: bool,
    /// The address of its document.
    pub(super) address: Print,
    pub(super) record: Record,
    /// What it stands in, for people: `row "Mail 1"`.
    pub(super) within: Option<(&'static str, Box<str>)>,
}

/// Which thing among its likes.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) basis: Basis,
    /// The node that was its row.
    pub(super) row: Option<Handle>,
    /// What its row is a part of, where nothing in that is of a record.
    pub(super) whole: Option<Whole>,
    /// The heading above a row that its words tell: what it became is told, and ends nothing.
    pub(super) below: Option<Title>,
    pub(super) section: Option<Section>,
    /// The titles between it and its heading, as far as they tell it.
    pub(super) groups: Box<[Titled]>,
    pub(super) speech: Option<Speech>,
    pub(super) opener: Option<Opener>,
}

/// A section between the element and its heading.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) node: Option<Handle>,
    pub(super) text: Arc<[Print]>,
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
        matches!(self.0.record.basis, Basis::Key(_))
    }

    /// The node that was its row, if the row is what tells it from its likes.
    #[must_use]
    pub fn row(&self) -> Option<Handle> {
        self.0.record.row.filter(|_| self.0.record.basis.is_row())
    }

    /// The same meaning, resting on the nodes that `now`, which it was found to be equal to, rests on: where a part
    /// was drawn anew, the nodes at issue are gone and will not come back.
    #[must_use]
    pub fn resting_on(&self, now: &Self) -> Self {
        let (then, now) = (&*self.0, &*now.0);
        let basis = match (&then.record.basis, &now.record.basis) {
            (Basis::Heading { text, .. }, Basis::Heading { node, text: same }) if text == same => {
                Basis::Heading { node: *node, text: *text }
            }
            (Basis::Window { title, .. }, Basis::Window { node, title: same }) if title == same => {
                Basis::Window { node: *node, title: *title }
            }
            (basis, _) => basis.clone(),
        };
        let whole = then.record.whole.as_ref().map(|whole| whole.resting_on(now.record.whole.as_ref()));
        let below = then.record.below.map(|title| title.resting_on(now.record.below));
        let section = then.record.section.as_ref().map(|section| Section {
            node: now.record.section.as_ref().map_or(section.node, |s| s.node),
            text: section.text.clone(),
        });
        let row = if now.record.basis.is_row() { now.record.row } else { then.record.row };
        let record = Record {
            basis,
            row,
            whole,
            below,
            section,
            groups: groups::resting_on(&then.record.groups, &now.record.groups),
            speech: then.record.speech.clone(),
            opener: then.record.opener.clone(),
        };
        Self(Arc::new(Inner {
            role: then.role,
            name: then.name.clone(),
            stable_name: then.stable_name,
            words: then.words.clone(),
            words_shared: then.words_shared,
            address: then.address,
            within: then.within.clone(),
            record,
        }))
    }

    /// The nodes that the record hangs on, as far as it does: row, heading, section, groups, opener at issue. A device
    /// that locates the element should report these too.
    #[must_use]
    pub fn context_handles(&self) -> Vec<Handle> {
        let record = &self.0.record;
        let heading = match record.basis {
            Basis::Heading { node, .. } => node,
            _ => {
                record.whole.as_ref().map_or(record.below, |whole| whole.heading).and_then(|title| title.node)
            }
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
