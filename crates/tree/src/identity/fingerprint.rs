//! Fingerprints of texts, which keep a meaning small however long the texts of its row are.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::identity::step_count;

/// A 64-bit fingerprint of a text and its kind, equal in every tree. The same text has different
/// fingerprints as the name of a control and as the text of a row.
///
/// Two texts in an app collide with a probability of about 5e-20. An app that forges a collision
/// could just as well show the same text twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Fingerprint(u64);

/// The kind of a text.
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
    /// The text of a heading.
    Heading,
    /// The name of a region.
    Region,
    /// A URL.
    Address,
    /// A position among siblings.
    Position,
}

impl Fingerprint {
    pub(crate) fn of(part: TextKind, text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        (part, text).hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// Returns the number of fingerprints that satisfy a condition.
pub(crate) fn count_kept(fingerprints: &[Fingerprint], is_kept: impl Fn(Fingerprint) -> bool) -> usize {
    fingerprints
        .iter()
        .filter(|&&p| {
            step_count::count_step();
            is_kept(p)
        })
        .count()
}
