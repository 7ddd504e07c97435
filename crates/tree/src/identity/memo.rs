//! Values that are computed once per key.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use hashbrown::HashMap;

/// A cache of one value per key.
#[derive(Debug)]
pub(crate) struct Memo<K, V>(RefCell<HashMap<K, V>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Memo<K, V> {
    /// Returns the value for a key, computing it on first use.
    pub(crate) fn get(&self, key: K, work: impl FnOnce() -> V) -> V {
        if let Some(known) = self.0.borrow().get(&key) {
            return known.clone();
        }
        let found = work();
        self.0.borrow_mut().insert(key, found.clone());
        found
    }
}

/// Identifies the records of one tree in the comparison caches of another. Equal only to its
/// clones.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordsId(Rc<()>);

impl PartialEq for RecordsId {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for RecordsId {}

impl Hash for RecordsId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Rc::as_ptr(&self.0).hash(state);
    }
}
