//! The registry as command lines: converts `press @e3 --settle` to a command and back.
//!
//! The command line, scripts and the single tool of the slim MCP profile use this form without
//! knowing each other. The crate is pure: no file, no socket, no environment.

mod errors;
mod grammar;
pub mod help;
pub mod options;
mod points;
mod read;
mod split;
mod words;
mod write;

pub use errors::invalid_args;
pub use grammar::{leaf, own};
pub use options::Options;
pub use read::{Line, Reading, parse, put_stdin, read, wants_stdin};
pub use split::split;
pub use words::{Own, Picked, members, names, pick};
pub use write::write;
