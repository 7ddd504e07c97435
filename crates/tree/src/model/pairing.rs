//! Pairs the items of two lists.

use hashbrown::{HashMap, HashSet};
use std::collections::VecDeque;
use std::hash::Hash;

/// Pairs items with equal keys in order, passes each pair to `paired`, and removes its items from
/// the lists. Items without a key or a partner stay.
pub(crate) fn pair_equal<T: Copy, K: Hash + Eq>(
    left: &mut Vec<T>,
    right: &mut Vec<T>,
    keys: (impl Fn(T) -> Option<K>, impl Fn(T) -> Option<K>),
    mut paired: impl FnMut(T, T),
) {
    if left.is_empty() || right.is_empty() {
        return;
    }
    let mut unpaired: HashMap<K, VecDeque<usize>> = HashMap::new();
    for (at, &one) in left.iter().enumerate() {
        if let Some(key) = keys.0(one) {
            unpaired.entry(key).or_default().push_back(at);
        }
    }
    let mut matched: HashSet<usize> = HashSet::new();
    right.retain(|&other| {
        let partner = keys.1(other).and_then(|key| unpaired.get_mut(&key)?.pop_front());
        if let Some(at) = partner {
            paired(left[at], other);
            matched.insert(at);
        }
        partner.is_none()
    });
    let mut at = 0..;
    left.retain(|_| !at.next().is_some_and(|at| matched.contains(&at)));
}
