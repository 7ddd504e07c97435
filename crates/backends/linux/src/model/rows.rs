//! Markers of rows and cells.

use crate::model::roles::number as role;
use crate::model::{Object, ObjectTree};

/// The suffix that makes the path of a row, which the app has no object for, from that of its first
/// cell.
pub(crate) const ROW: &str = "#row";

/// The attribute of the first visible cell of a row; columns may be hidden.
pub(crate) const LEADS: &str = "leads";

/// Whether a cell has a check box. Its states report that it is checked, but not that it is
/// checkable.
pub(crate) fn is_box(object: &Object) -> bool {
    object.role == role::TABLE_CELL
        && object.actions.iter().any(|action| action.eq_ignore_ascii_case("toggle"))
}

/// Whether a cell is inside another cell.
pub(crate) fn is_piece(picture: &ObjectTree, object: &Object, above: u32) -> bool {
    let in_cell = matches!(above, role::TABLE_CELL | role::TREE_ITEM);
    picture.profile().cells_hold_cells && object.role == role::TABLE_CELL && in_cell
}
