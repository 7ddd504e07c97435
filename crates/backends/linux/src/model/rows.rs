//! Marks of rows that are made of cells.

use crate::model::roles::number as role;
use crate::model::{Object, Picture};

/// What is added to the path of a row's first cell to name the row, which the app has no object
/// for.
pub(crate) const ROW: &str = "#row";

/// The attribute of a cell that is the first of its row that can be seen; columns may be hidden.
pub(crate) const LEADS: &str = "leads";

/// Whether a cell is a box to tick. Whether one is ticked its states say, but not that one can be.
pub(crate) fn is_box(object: &Object) -> bool {
    object.role == role::TABLE_CELL
        && object.actions.iter().any(|action| action.eq_ignore_ascii_case("toggle"))
}

/// Whether a cell is one of those that stand in another.
pub(crate) fn is_piece(picture: &Picture, object: &Object, above: u32) -> bool {
    let in_cell = matches!(above, role::TABLE_CELL | role::TREE_ITEM);
    picture.toolkit.profile().cells_hold_cells && object.role == role::TABLE_CELL && in_cell
}
