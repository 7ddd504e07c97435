//! One buffer for all strings of a tree; equal strings are stored once.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// The id of a string in one tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StrId(pub(crate) u32);

impl StrId {
    /// The empty string, present in every table.
    pub const EMPTY: Self = Self(0);
}

/// The finished string table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Strings {
    text: String,
    /// The end of each string in `text`.
    ends: Vec<u32>,
}

impl Strings {
    pub(crate) fn heap_bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * size_of::<u32>()
    }

    pub(crate) fn get(&self, id: StrId) -> &str {
        let i = id.0 as usize;
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        &self.text[start..self.ends[i] as usize]
    }
}

/// A string table under construction.
#[derive(Debug)]
pub(crate) struct Interner {
    strings: Strings,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Interner {
    pub(crate) fn new() -> Self {
        let mut interner = Self {
            strings: Strings::default(),
            index: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        };
        interner.intern("");
        interner
    }

    /// Returns the id of `s`, adding `s` if it is new. `None` when the table is full (4 GiB of
    /// text, or 2³² strings).
    pub(crate) fn intern(&mut self, s: &str) -> Option<StrId> {
        let hash = self.hasher.hash_one(s);
        let strings = &self.strings;
        if let Some(&id) = self.index.find(hash, |&id| strings.get(StrId(id)) == s) {
            return Some(StrId(id));
        }
        let end = u32::try_from(self.strings.text.len() + s.len()).ok()?;
        let id = u32::try_from(self.strings.ends.len()).ok()?;
        self.strings.text.push_str(s);
        self.strings.ends.push(end);
        let (strings, hasher) = (&self.strings, &self.hasher);
        self.index.insert_unique(hash, id, |&id| hasher.hash_one(strings.get(StrId(id))));
        Some(StrId(id))
    }

    pub(crate) fn finish(mut self) -> Strings {
        self.strings.text.shrink_to_fit();
        self.strings.ends.shrink_to_fit();
        self.strings
    }
}
