//! Runs commands for a front end, in this process or on a daemon.
//!
//! A front end uses a [`Client`]: an in-process host, or a [`SocketClient`], which finds the daemon
//! of a state directory or starts one. A command line that makes one call uses the blocking
//! [`Connection`] instead and needs no async runtime. Commands that run in the front end itself
//! implement [`ClientCommand`].
//!
//! ```
//! use stickpin_client::Connection;
//! use stickpin_wire::StateDir;
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let state_dir = folder.path();
//! let place = StateDir::open(state_dir)?;
//! assert!(Connection::find(&place)?.is_none(), "no daemon is running yet");
//! # Ok::<(), stickpin_kernel::Error>(())
//! ```

mod command;
mod connection;
mod reconnect;
mod socket;
mod start;

pub use command::{
    AllowAll, Call, ClientCommand, ClientCommands, Installation, Policy, Progress, ProgressPart,
};
pub use connection::{Connection, failed_response, runtime};
pub use socket::{Client, SocketClient};
pub use start::Start;
