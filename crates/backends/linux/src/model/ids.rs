//! Numbers for object paths. A number is given to one path for ever; the same path may come back
//! for another object, which is why the device promises `WhileAlive` only.

use hashbrown::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stickpin_tree::Handle;

/// The numbers of one app: they only ever become more.
#[derive(Debug, Default)]
pub(crate) struct Ids(Mutex<Numbers>);

#[derive(Debug, Default)]
struct Numbers {
    numbers: HashMap<Arc<str>, u64>,
    paths: Vec<Arc<str>>,
}

impl Ids {
    /// The number of a path, counting from 1; 0 for an object that we made up.
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

    /// The handle of the object with a path.
    pub(crate) fn handle(&self, path: &str) -> Handle {
        Handle { scope: APP, id: self.id(path) }
    }

    /// The path of a number.
    pub(crate) fn path(&self, id: u64) -> Option<Arc<str>> {
        self.known().paths.get(usize::try_from(id).ok()?.checked_sub(1)?).cloned()
    }

    /// Nothing is left half done where it is held.
    fn known(&self) -> MutexGuard<'_, Numbers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The scope of everything that is not in a web page.
pub(crate) const APP: u64 = 1;

/// What an app is called and where.
#[derive(Debug, Clone, Default)]
pub(crate) struct Where {
    /// What was opened: `linux:gedit`.
    pub(crate) url: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_keeps_its_number_and_a_number_its_path() {
        let ids = Ids::default();
        assert_eq!((ids.id("/a"), ids.id("/b"), ids.id("/a"), ids.id("")), (1, 2, 1, 0));
        assert_eq!(ids.path(2).as_deref(), Some("/b"));
        assert_eq!((ids.path(0), ids.path(3)), (None, None));
    }
}
