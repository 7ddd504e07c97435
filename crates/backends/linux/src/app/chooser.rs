//! File choosers that are open.

use crate::app::LinuxDevice;
use stickpin_tree::Handle;
use stickpin_x11desk::Window;

/// A file chooser that is open.
#[derive(Debug, Clone)]
pub(crate) struct Chooser {
    /// The path of its window on the bus.
    pub(crate) top: String,
    /// The same on the display.
    pub(crate) window: Window,
}

/// A chooser of another process that is open.
#[derive(Debug)]
pub(crate) struct Foreign {
    pub(crate) handle: Handle,
    pub(crate) chooser: Chooser,
    /// Its process.
    pub(crate) device: Box<LinuxDevice>,
}

/// Whether a handle stands for such a chooser, and for no element.
pub(crate) fn is_foreign(handle: Handle) -> bool {
    handle.scope == SCOPE
}

/// The scope of the handle of such a chooser, which no element has.
pub(crate) const SCOPE: u64 = u32::MAX as u64;
