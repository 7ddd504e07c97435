//! How long an app may take, and how much it is asked at once.

use std::time::Duration;

/// How long an app may take for one answer when nothing else comes from it either.
pub(crate) const PATIENCE: Duration = Duration::from_millis(2_000);

/// Calls that are under way at once: enough to keep an app busy, few enough that it goes on drawing
/// in between.
pub(crate) const AT_ONCE: usize = 512;

/// How long an app may take to let us in by its own socket. There is another way.
pub(crate) const SOCKET: Duration = Duration::from_secs(3);

/// How long the bus itself may take for an answer once everything runs.
pub(crate) const BUS: Duration = Duration::from_secs(3);
