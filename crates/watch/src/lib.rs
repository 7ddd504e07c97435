//! A page on the loopback interface that shows a session to the person who works with the agent:
//! the screenshot of the app with refs, its outline, the log of calls, and the past steps. The
//! person can take the turn, and can then press and type with the same checks as an agent.
//!
//! The server runs in the process of `stickpin watch` and is a client of the daemon like any other.
//! `gate` controls access, `routes` answers requests, `board` contains what viewers see, and `feed`
//! keeps the board current.
//!
//! ```
//! let names: Vec<&str> =
//!     stickpin_watch::COMMANDS.iter().map(|command| command.definition().spec.name).collect();
//! assert_eq!(names, ["watch"]);
//! ```

mod acts;
mod board;
mod bundle;
mod command;
mod feed;
mod gate;
mod log_entry;
mod past;
mod remote;
mod routes;
mod server;
mod steps;
mod stream;

use stickpin_client::ClientCommand;

/// The client commands of this crate, in the order in which help lists them.
pub const COMMANDS: &[&dyn ClientCommand] = &[&command::Watch];
