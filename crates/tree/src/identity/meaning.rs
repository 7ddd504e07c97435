//! The meaning of an element when its ref was issued, as a value that outlives the tree.

use std::fmt;
use std::sync::Arc;

use crate::identity::element_text::NamelessText;
use crate::identity::evidence::Evidence;
use crate::identity::fingerprint::Fingerprint;
use crate::identity::record::Record;
use crate::identity::rows::numbers::without_counts;
use crate::{Handle, Role, quote};

/// The meaning of an element when its ref was issued: role, name and record. Cheap to clone; does
/// not refer to the tree.
///
/// Created by [`Records::meaning`](crate::Records::meaning), compared by
/// [`Records::judge`](crate::Records::judge). A changed state or value does not change the meaning.
/// `Display` names the element for people, quoted and bounded: `button "Delete" in row "Mail 1"`.
#[derive(Debug, Clone)]
pub struct Meaning(pub(crate) Arc<MeaningData>);

#[derive(Debug, Clone)]
pub(crate) struct MeaningData {
    pub(crate) role: Role,
    pub(crate) name: Box<str>,
    /// A fingerprint of the name without counts.
    pub(crate) stable_name: Fingerprint,
    /// The words of an element without a name.
    pub(crate) text: Option<NamelessText>,
    /// Whether other elements had the same words apart from counts.
    pub(crate) text_is_shared: bool,
    /// A fingerprint of the URL of the document.
    pub(crate) address: Fingerprint,
    pub(crate) record: Record,
    /// The container of the element, for messages: `row "Mail 1"`.
    pub(crate) container: Option<(&'static str, Box<str>)>,
}

impl Meaning {
    /// Returns the role at the time of issue.
    #[must_use]
    pub fn role(&self) -> Role {
        self.0.role
    }

    /// Returns the accessible name at the time of issue.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the label of the element's row, if messages name the row as the container of the
    /// element.
    #[must_use]
    pub fn row_label(&self) -> Option<&str> {
        self.0.container.as_ref().filter(|(what, _)| *what == "row").map(|(_, label)| &**label)
    }

    /// Returns whether a text printed from an earlier meaning matches this meaning, ignoring counts
    /// in parentheses.
    #[must_use]
    pub fn reads_as(&self, text: &str) -> bool {
        let steady = |text: &str| without_counts(text).replace(" \"", "\"");
        let reads = |now: &str| now == text || steady(now) == steady(text);
        // Texts of older versions do not name elements without an accessible name.
        reads(&self.to_string()) || self.0.text.is_some() && reads(&self.labelled(""))
    }

    /// Returns the role, the label unless it is empty, and the container of the element, as text.
    fn labelled(&self, label: &str) -> String {
        let mut text = self.0.role.name().to_owned();
        if !label.is_empty() {
            text = format!("{text} {}", quote(label));
        }
        match &self.0.container {
            Some((what, name)) => format!("{text} in {what} {}", quote(name)),
            None => text,
        }
    }

    /// Returns whether the key of the row identifies the element. Such an element is recognized
    /// after any absence.
    #[must_use]
    pub fn has_record_key(&self) -> bool {
        matches!(self.0.record.evidence, Evidence::Key(_))
    }

    /// Returns the node that was the element's row, if the row identifies the element.
    #[must_use]
    pub fn row(&self) -> Option<Handle> {
        self.0.record.row.filter(|_| self.0.record.evidence.is_row())
    }

    /// Returns this meaning with the nodes of `now`, an equal meaning. After a part of the page has
    /// re-rendered, the nodes from the time of issue are gone for good.
    #[must_use]
    pub fn with_nodes_of(&self, now: &Self) -> Self {
        let mut inner = (*self.0).clone();
        inner.record.take_nodes_of(&now.0.record);
        Self(Arc::new(inner))
    }

    /// Returns the nodes that the record refers to, if they exist: the row, heading, section,
    /// opener and groups from the time of issue. A device that locates the element should report
    /// these nodes, too.
    #[must_use]
    pub fn context_handles(&self) -> Vec<Handle> {
        self.0.record.nodes().collect()
    }
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.0.text.as_ref().map_or("", |words| &words.label);
        f.write_str(&self.labelled(if self.0.name.is_empty() { words } else { &self.0.name }))
    }
}
