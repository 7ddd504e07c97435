//! Detects from field values that rows moved, if nothing else distinguishes the rows.

use std::sync::Arc;

use crate::identity::fingerprint::Fingerprint;

/// Field values of rows that nothing else distinguishes. A changed value does not change a meaning,
/// so typing has no effect. Values reveal only that rows moved: the values then appear in another
/// row.
#[derive(Debug, Clone)]
pub(crate) struct FieldValues {
    /// The values that only this row had.
    pub(crate) own_values: Box<[Fingerprint]>,
    /// All values that exactly one row of the container had, sorted.
    pub(crate) all_values: Arc<[Fingerprint]>,
}

/// The conclusion about a row from its current values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shift {
    /// Most of the row's values are still in it.
    Stayed,
    /// Values moved between rows.
    Moved,
    /// The values prove nothing.
    Unknown,
}

/// Field values that only one row of a container has, sorted, with the index of that row.
#[derive(Debug)]
pub(crate) struct Values {
    pub(crate) fingerprints: Arc<[Fingerprint]>,
    rows: Vec<usize>,
}

impl Values {
    /// Creates the list from pairs of a value and a row index.
    pub(crate) fn new(mut values: Vec<(Fingerprint, usize)>) -> Self {
        values.sort_unstable();
        values.dedup();
        Self {
            fingerprints: values.iter().map(|t| t.0).collect(),
            rows: values.iter().map(|t| t.1).collect(),
        }
    }

    /// Returns the index of the row that has a value.
    fn row_with(&self, fingerprint: Fingerprint) -> Option<usize> {
        self.fingerprints.binary_search(&fingerprint).ok().map(|at| self.rows[at])
    }

    /// Judges whether the row at an index, with the current values `now`, is the row that had the
    /// values `issued`.
    pub(crate) fn shift(
        &self,
        index: usize,
        mut now: impl Iterator<Item = Fingerprint>,
        issued: &FieldValues,
    ) -> Shift {
        let is_in_row = |p: &&Fingerprint| self.row_with(**p) == Some(index);
        if issued.own_values.iter().filter(is_in_row).count() * 2 > issued.own_values.len() {
            return Shift::Stayed;
        }
        let left = issued.own_values.iter().any(|p| self.row_with(*p).is_some_and(|row| row != index));
        let arrived =
            now.any(|p| issued.all_values.binary_search(&p).is_ok() && !issued.own_values.contains(&p));
        if left || arrived { Shift::Moved } else { Shift::Unknown }
    }
}
