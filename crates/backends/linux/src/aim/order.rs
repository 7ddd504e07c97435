//! Which toolkits draw in the order of their children.

use crate::toolkit::Toolkit;

/// Whether an input goes to the last of the children that have the point.
pub(crate) fn by_order(toolkit: Toolkit) -> bool {
    matches!(toolkit, Toolkit::Qt | Toolkit::Gtk3)
}
