//! Numbers for object paths. A number belongs to one path for ever. The app may reuse the path for
//! another object, which is why the identity grade is only `WhileAlive`.

use hashbrown::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stickpin_tree::Handle;

/// The numbers of one app, which are never removed.
#[derive(Debug, Default)]
pub(crate) struct PathNumbers(Mutex<Numbers>);

#[derive(Debug, Default)]
struct Numbers {
    numbers: HashMap<Arc<str>, u64>,
    paths: Vec<Arc<str>>,
}

impl PathNumbers {
    /// Returns the number of a path, counting from 1; 0 for an object that a reading made up.
    pub(crate) fn id(&self, path: &str) -> u64 {
        if path.is_empty() {
            return 0;
        }
        let mut known = self.known();
        if let Some(&number) = known.numbers.get(path) {
            return number;
        }
        let path: Arc<str> = path.into();
        known.paths.push(Arc::clone(&path));
        let number = known.paths.len() as u64;
        known.numbers.insert(path, number);
        number
    }

    /// Returns the handle of the object with a path.
    pub(crate) fn handle(&self, path: &str) -> Handle {
        Handle { scope: APP, id: self.id(path) }
    }

    /// Returns the path of a number.
    pub(crate) fn path(&self, id: u64) -> Option<Arc<str>> {
        self.known().paths.get(usize::try_from(id).ok()?.checked_sub(1)?).cloned()
    }

    /// No update is left incomplete while the lock is held.
    fn known(&self) -> MutexGuard<'_, Numbers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The scope of everything outside web pages.
pub(crate) const APP: u64 = 1;

/// The address of an app.
#[derive(Debug, Clone, Default)]
pub(crate) struct AppAddress {
    /// The address that was opened, such as `linux:gedit`.
    pub(crate) url: String,
}

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
