//! Values of fields that show that rows were shifted, where nothing else tells them apart.

use std::sync::Arc;

use crate::identity::fingerprint::Fingerprint;

/// Values in the fields of rows that nothing else tells apart. They are never part of what an element means:
/// typing changes nothing. They only show that rows were shifted, because then they turn up in another row.
#[derive(Debug, Clone)]
pub(crate) struct FieldValues {
    /// Those that only this row had.
    pub(crate) own: Box<[Fingerprint]>,
    /// Those that only one row had, of all rows. Sorted.
    pub(crate) all: Arc<[Fingerprint]>,
}

/// What the values in the rows say now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shift {
    /// Most of the row's values are still in it.
    Stayed,
    /// Values moved between rows.
    Moved,
    /// Nothing either way.
    Unknown,
}

/// Values of fields that only one row of a container has, sorted, with the place of that row.
#[derive(Debug)]
pub(crate) struct Values {
    pub(crate) fingerprints: Arc<[Fingerprint]>,
    rows: Vec<usize>,
}

impl Values {
    /// From values that only one row has, each with the place of that row.
    pub(crate) fn new(mut told: Vec<(Fingerprint, usize)>) -> Self {
        told.sort_unstable();
        told.dedup();
        Self { fingerprints: told.iter().map(|t| t.0).collect(), rows: told.iter().map(|t| t.1).collect() }
    }

    /// The place of the row that has a value.
    fn row_with(&self, fingerprint: Fingerprint) -> Option<usize> {
        self.fingerprints.binary_search(&fingerprint).ok().map(|at| self.rows[at])
    }

    /// Whether the row at a place, which has these values for itself now, is the one that had `issued`.
    pub(crate) fn shift(
        &self,
        index: usize,
        mut now: impl Iterator<Item = Fingerprint>,
        issued: &FieldValues,
    ) -> Shift {
        let here = |p: &&Fingerprint| self.row_with(**p) == Some(index);
        if issued.own.iter().filter(here).count() * 2 > issued.own.len() {
            return Shift::Stayed;
        }
        let left = issued.own.iter().any(|p| self.row_with(*p).is_some_and(|row| row != index));
        let came = now.any(|p| issued.all.binary_search(&p).is_ok() && !issued.own.contains(&p));
        if left || came { Shift::Moved } else { Shift::Unknown }
    }
}
