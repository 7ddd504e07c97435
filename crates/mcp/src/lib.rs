//! The MCP server: the registry as tools for models, over stdio and streamable HTTP, through
//! `rmcp`.
//!
//! The server is a client of the daemon, like the command line, and adds [`pins`]. The server sees
//! every response before its client does, so it can pin refs at no cost to the client, which reads
//! and types plain refs. **Invariant:** the crate knows no device. It names a command only where
//! this front end differs from others on purpose (`profile`), or to end a lifetime.
//!
//! ```
//! use std::path::Path;
//!
//! // The entry for the configuration of a client.
//! let entry = stickpin_mcp::config("claude-code", Path::new("/usr/bin/stickpin"), &[], &[])?;
//! assert!(entry.contains("/usr/bin/stickpin"));
//! # Ok::<(), stickpin_kernel::Error>(())
//! ```

mod active_sessions;
mod arguments;
mod call;
mod config;
mod connection;
mod files;
mod hints;
mod http;
pub mod pins;
mod policy;
mod profile;
mod server;
mod setup;
mod stdio;
#[cfg(test)]
mod tests;
mod tool_result;
mod tools;

pub use config::config;
pub use http::{CLIENT_TIMEOUT, HttpOptions, serve_http};
pub use profile::Profile;
pub use setup::{MAX_CHARS, Setup};
pub use stdio::serve_stdio;

use stickpin_kernel::{Error, Result};
use tokio::signal::unix::{SignalKind, signal};

/// Listens for the signals that end this process. The future completes at the first signal.
fn end_signal() -> Result<impl Future<Output = ()>> {
    let failed = |e| Error::io(format!("cannot wait for signals: {e}"));
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
