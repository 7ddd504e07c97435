//! Fingerprints of texts, so that a meaning is small however long the texts of its row are.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::identity::step_count;

/// A 64-bit fingerprint of a text in its part: the same text as a label of a control and as text of a row has two. Equal in every tree.
///
/// That two different texts of an app get the same one by chance is about 1e-19; an app that forges one
/// could as well show the same text twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Fingerprint(u64);

/// The part that a text plays.
#[derive(Debug, Clone, Copy, Hash)]
pub(crate) enum TextKind {
    /// A text leaf.
    Text,
    /// The target of a link.
    Link,
    /// The name of a control.
    Name,
    /// A number.
    Number,
    /// The value of a field.
    Value,
    /// The value of a key attribute.
    Key,
    /// A heading's text.
    Heading,
    /// A region's name.
    Region,
    /// An address.
    Address,
    /// A place among siblings.
    Place,
}

impl Fingerprint {
    pub(crate) fn of(part: TextKind, text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        (part, text).hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// How many of the fingerprints satisfy a condition.
pub(crate) fn count_kept(fingerprints: &[Fingerprint], still: impl Fn(Fingerprint) -> bool) -> usize {
    fingerprints
        .iter()
        .filter(|&&p| {
            step_count::step();
            still(p)
        })
        .count()
}
