//! Limits of captures, timeouts, and the capabilities of the device.

use std::time::Duration;
use stickpin_device::Capability::{
    self, Attrs, Capture, Clipboard, Drag, Fill, Hover, Key, Locate, LongPress, Press, Screenshot, Scroll,
    Select, Settle, Type, Upload,
};

/// The maximum number of objects that are read from one app, not counting table cells; beyond that,
/// the capture is truncated.
pub(crate) const OBJECTS: usize = 20_000;

/// The maximum depth that is read.
pub(crate) const DEPTH: usize = 120;

/// The maximum number of children that are read from one object, not counting those in the app's
/// cache.
pub(crate) const CHILDREN: usize = 2_000;

/// The maximum number of characters of a text in a capture; `get text` reads the whole text.
pub(crate) const TEXT: i32 = 8_192;

/// The maximum size of all texts of a capture, in bytes; beyond that, the capture is truncated.
pub(crate) const TEXTS: usize = 16 << 20;

/// The polling interval for changes that are not signaled.
pub(crate) const FRAME: Duration = Duration::from_millis(16);

/// Timeout for the answer to an action. Apps that show a dialog from inside the action answer only
/// when the dialog is closed, so the action counts as done after this time.
pub(crate) const DONE: Duration = Duration::from_millis(400);

/// How long GTK 4 shows a button as pressed before the button acts (`gtkbutton.c`,
/// `ACTIVATE_TIMEOUT`), with a margin.
pub(crate) const ACTIVATION: Duration = Duration::from_millis(280);

/// Timeout for a window of another process to open after a press.
pub(crate) const STRANGER: Duration = Duration::from_secs(3);

/// Timeout for each answer from an app, counted from its previous answer.
pub(crate) const PATIENCE: Duration = Duration::from_millis(2_000);

/// The maximum number of calls that are sent together: enough to keep an app busy, few enough that
/// the app can draw in between.
pub(crate) const AT_ONCE: usize = 512;

/// Timeout for connecting to an app's own socket. After this time, the app is queried over the bus.
pub(crate) const SOCKET: Duration = Duration::from_secs(3);

/// Timeout for answers from the bus itself, after it has started.
pub(crate) const BUS: Duration = Duration::from_secs(3);

/// The capabilities of the device.
pub(crate) const CAPABILITIES: &[Capability] = &[
    Capture, Locate, Press, LongPress, Hover, Drag, Fill, Type, Key, Select, Scroll, Upload, Clipboard,
    Screenshot, Attrs, Settle,
];
