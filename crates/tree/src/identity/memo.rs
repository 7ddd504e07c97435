//! Answers that are worked out once.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use hashbrown::HashMap;

/// What was worked out for each key.
#[derive(Debug)]
pub(crate) struct Memo<K, V>(RefCell<HashMap<K, V>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Memo<K, V> {
    /// The answer for a key, worked out if it is asked for the first time.
    pub(crate) fn get(&self, key: K, work: impl FnOnce() -> V) -> V {
        if let Some(known) = self.0.borrow().get(&key) {
            return known.clone();
        }
        let found = work();
        self.0.borrow_mut().insert(key, found.clone());
        found
    }
}

/// Stands for the records of one tree where those of another remember a comparison with them. Equal to its clones only.
#[derive(Debug, Clone, Default)]
pub(crate) struct Token(Rc<()>);

impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Token {}

impl Hash for Token {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Rc::as_ptr(&self.0).hash(state);
    }
}
