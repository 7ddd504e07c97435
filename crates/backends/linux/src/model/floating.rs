//! Floating parts of windows.

use crate::model::Object;
use crate::model::roles::number as n;
use crate::model::states as s;

/// Whether a part of a Qt window has a window of its own.
pub(crate) fn floats(object: &Object) -> bool {
    object.role == n::FRAME && object.is(s::RESIZABLE)
}
