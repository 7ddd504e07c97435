//! What stands around an element: what evidence is compared with.

use std::ops::Range;
use std::sync::Arc;

use crate::identity::fingerprint::Fingerprint;
use crate::identity::rows::content::Row;
use crate::identity::rows::keys::Key;
use crate::identity::rows::shift::{FieldValues, Shift, Values};
use crate::{Handle, NodeId};

/// What stands around an element, read from a tree once and kept without it: its row, which all elements in it share, and what
/// it stands below.
#[derive(Debug)]
pub(crate) struct ElementContext {
    pub(crate) row: Option<RowContext>,
    pub(crate) heading: Option<Fingerprint>,
    pub(crate) region: Option<Fingerprint>,
    /// The window around it, where that is the nearest named region.
    pub(crate) window: Option<Handle>,
    pub(crate) address: Fingerprint,
}

/// The row around an element.
#[derive(Debug)]
pub(crate) struct RowContext {
    pub(crate) row: Arc<Row>,
    /// The nodes of the element, which say nothing about its row.
    pub(crate) element: Range<NodeId>,
    pub(crate) index: usize,
    /// How many rows there are.
    pub(crate) count: usize,
    /// The values of all rows. `None` once the tree is left: they change as a person types.
    pub(crate) values: Option<Arc<Values>>,
}

impl ElementContext {
    /// Without what a person changes by typing, for when the tree is gone.
    pub(crate) fn kept(mut self) -> Self {
        if let Some(row) = &mut self.row {
            row.values = None;
        }
        self
    }

    pub(crate) fn key(&self) -> Option<Key> {
        self.row.as_ref()?.row.key
    }

    /// Whether its row reads nothing and has this index-like key.
    pub(crate) fn is_blank_with(&self, raw_key: Fingerprint) -> bool {
        self.row.as_ref().is_some_and(|at| {
            at.values.is_some()
                && at.row.raw_key == Some(raw_key)
                && at.row.text.outside(&at.element).next().is_none()
        })
    }

    pub(crate) fn has_text(&self, fingerprint: Fingerprint) -> bool {
        self.row.as_ref().is_some_and(|at| {
            let Row { text, names, headers, .. } = &*at.row;
            [text, names, headers].iter().any(|traces| traces.has(fingerprint, &at.element))
        })
    }

    pub(crate) fn has_number(&self, fingerprint: Fingerprint) -> bool {
        self.row.as_ref().is_some_and(|at| at.row.numbers.has(fingerprint, &at.element))
    }

    /// The place of its row, and how many rows there are.
    pub(crate) fn place(&self) -> Option<(usize, usize)> {
        self.row.as_ref().map(|at| (at.index, at.count))
    }

    pub(crate) fn shift(&self, issued: &FieldValues) -> Shift {
        let Some((at, values)) = self.row.as_ref().and_then(|at| Some((at, at.values.as_ref()?))) else {
            return Shift::Unknown;
        };
        values.shift(at.index, at.row.values.telling.iter().map(|&(_, p)| p), issued)
    }
}
