//! Capturing an app: [`read`] queries its objects in a few rounds, and [`tree`] builds the tree.

mod duplicates;
mod labels;
pub(crate) mod question;
pub(crate) mod read;
pub(crate) mod tables;
pub(crate) mod tree;

use crate::capture::tables::Cells;
use crate::toolkit::ShownObjects;

/// The data that one capture keeps for the next.
#[derive(Debug, Clone, Default)]
pub(crate) struct CaptureCache {
    /// The cells of tables.
    pub(crate) cells: Cells,
    /// The objects that have signaled that they are shown.
    pub(crate) appeared: ShownObjects,
}
