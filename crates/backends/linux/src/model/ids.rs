//! Numbers for object paths. A number belongs to one path forever. The app may reuse the path for
//! another object, which is why the identity grade is only `WhileAlive`.

use indexmap::IndexSet;
use parking_lot::Mutex;
use std::sync::Arc;
use stickpin_tree::Handle;

/// Numbers for one app's object paths. They are never removed.
#[derive(Debug, Default)]
pub(crate) struct PathNumbers(Mutex<IndexSet<Arc<str>>>);

impl PathNumbers {
    /// Returns the number of a path, counting from 1; 0 for an empty path.
    pub(crate) fn id(&self, path: &str) -> u64 {
        if path.is_empty() {
            return 0;
        }
        let mut known = self.0.lock();
        let index = known.get_index_of(path).unwrap_or_else(|| known.insert_full(path.into()).0);
        index as u64 + 1
    }

    /// Returns the handle of the object with this path.
    pub(crate) fn handle(&self, path: &str) -> Handle {
        Handle { scope: APP, id: self.id(path) }
    }

    /// Returns the path that has this number.
    pub(crate) fn path(&self, id: u64) -> Option<Arc<str>> {
        self.0.lock().get_index(usize::try_from(id).ok()?.checked_sub(1)?).cloned()
    }
}

/// The scope of everything outside web pages.
pub(crate) const APP: u64 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_keeps_its_number_and_a_number_its_path() {
        let ids = PathNumbers::default();
        assert_eq!((ids.id("/a"), ids.id("/b"), ids.id("/a"), ids.id("")), (1, 2, 1, 0));
        assert_eq!(ids.path(2).as_deref(), Some("/b"));
        assert_eq!((ids.path(0), ids.path(3)), (None, None));
    }
}
