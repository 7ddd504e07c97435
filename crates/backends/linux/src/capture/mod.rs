//! Capturing an app: [`read`] asks for its objects in few rounds, and [`tree`] builds the tree.

pub(crate) mod ask;
pub(crate) mod gecko;
mod gtk3;
mod labels;
pub(crate) mod pages;
mod qt;
pub(crate) mod read;
pub(crate) mod tables;
pub(crate) mod tree;

use crate::capture::tables::Cells;

/// What a reading keeps for the next one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    /// The cells of tables.
    pub(crate) cells: Cells,
    /// The objects that have signalled that they are shown.
    pub(crate) appeared: qt::Appeared,
}
