//! Timeouts of calls, and the size of batches.

use std::time::Duration;

/// Timeout for an answer while nothing else arrives from the app.
pub(crate) const PATIENCE: Duration = Duration::from_millis(2_000);

/// Maximum number of pending calls: enough to keep an app busy, few enough that it can draw in
/// between.
pub(crate) const AT_ONCE: usize = 512;

/// Timeout for connecting to an app's own socket. The bus is the alternative.
pub(crate) const SOCKET: Duration = Duration::from_secs(3);

/// Timeout for answers of the bus itself, once it is running.
pub(crate) const BUS: Duration = Duration::from_secs(3);
