//! What an element was when it was issued: a value that outlives the tree it was read from.

use std::fmt;
use std::sync::Arc;

use crate::identity::element_text::ElementText;
use crate::identity::evidence::Evidence;
use crate::identity::fingerprint::Fingerprint;
use crate::identity::record::Record;
use crate::identity::rows::numbers::without_counts;
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
        inner.record.rest_on(&now.0.record);
        Self(Arc::new(inner))
    }

    /// The nodes that the record hangs on, as far as it does: row, heading, section, groups, opener at issue. A device
    /// that locates the element should report these too.
    #[must_use]
    pub fn context_handles(&self) -> Vec<Handle> {
        self.0.record.nodes().collect()
    }
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.0.words.as_ref().map_or("", |words| &words.label);
        f.write_str(&self.labelled(if self.0.name.is_empty() { words } else { &self.0.name }))
    }
}
