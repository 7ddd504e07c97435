//! The commands that a host knows, by name.

use crate::api::schema;
use crate::command::entry::Entry;
use std::sync::Arc;
use stickpin_device::{Error, Result};

/// The commands of the registry and those that were added to a host. Cheap to clone.
#[derive(Debug, Clone)]
pub struct CommandTable(Arc<[&'static Entry]>);

impl CommandTable {
    pub(crate) fn new(entries: impl IntoIterator<Item = &'static Entry>) -> Self {
        Self(entries.into_iter().collect())
    }

    /// Returns the command with this name or alias.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&'static Entry> {
        self.0.iter().copied().find(|e| e.spec.name == name || e.spec.aliases.contains(&name))
    }

    /// Returns the command with this name or alias.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` for an unknown name, with the most similar name in the hint if there
    /// is one.
    pub fn lookup(&self, name: &str) -> Result<&'static Entry> {
        self.find(name).ok_or_else(|| {
            let names = self.0.iter().flat_map(|e| std::iter::once(&e.spec.name).chain(e.spec.aliases));
            let hint = match schema::nearest(name, names.copied()) {
                Some(near) => format!("did you mean `{near}`? run `stickpin help` to list the commands"),
                None => "run `stickpin help` to list the commands".to_owned(),
            };
            Error::invalid_args(format!("there is no command {}", stickpin_tree::quote(name))).hint(hint)
        })
    }
}
