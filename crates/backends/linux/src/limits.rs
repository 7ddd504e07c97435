//! How much is read of an app, and how long it may take for what it does.

use std::time::Duration;
use stickpin_device::Capability;

/// Objects that are read of one app; what is beyond is cut, and the capture says so.
pub(crate) const OBJECTS: usize = 20_000;

/// Levels that are read.
pub(crate) const DEPTH: usize = 120;

/// Children that are read of one object.
pub(crate) const CHILDREN: usize = 2_000;

/// Characters of a text that a capture holds; `get text` reads the rest.
pub(crate) const TEXT: i32 = 8_192;

/// Bytes of all texts of a capture together; what is beyond is cut, and the capture says so.
pub(crate) const TEXTS: usize = 16 << 20;

/// How often it is asked whether an app has come to something that it does not signal.
pub(crate) const FRAME: Duration = Duration::from_millis(16);

/// How long an app may take to say that it did something. Those that show a dialog from inside the
/// action answer when that is closed: it was done all the same.
pub(crate) const DONE: Duration = Duration::from_millis(400);

/// How long GTK 4 shows a button pressed before it does what the press is for (`gtkbutton.c`,
/// `ACTIVATE_TIMEOUT`), and a little more.
pub(crate) const ACTIVATION: Duration = Duration::from_millis(280);

/// How long the window of another process may take to come that a press was to open.
pub(crate) const STRANGER: Duration = Duration::from_secs(3);

/// What the device can do.
pub(crate) const CAPABILITIES: &[Capability] = &[
    Capability::Capture,
    Capability::Locate,
    Capability::Press,
    Capability::LongPress,
    Capability::Hover,
    Capability::Drag,
    Capability::Fill,
    Capability::Type,
    Capability::Key,
    Capability::Select,
    Capability::Scroll,
    Capability::Upload,
    Capability::Clipboard,
    Capability::Screenshot,
    Capability::Attrs,
    Capability::Settle,
];
