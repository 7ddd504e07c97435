//! Titles around an element: a heading, or the name of a group or window.

use crate::Handle;
use crate::identity::fingerprint::Fingerprint;

/// The text of a title, with its node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Title {
    pub(crate) node: Option<Handle>,
    pub(crate) text: Fingerprint,
}

impl Title {
    /// Returns whether the current text `now` equals the title, or its node still has the title.
    pub(crate) fn holds(&self, now: Option<Fingerprint>, bears: &dyn Fn(&Self) -> bool) -> bool {
        now == Some(self.text) || bears(self)
    }

    /// Returns this title with the node that now has the title.
    pub(crate) fn with_node_of<'a>(self, now: impl IntoIterator<Item = &'a Self>) -> Self {
        now.into_iter().find(|now| now.text == self.text).copied().unwrap_or(self)
    }
}
