//! The registry as command lines: `press @e3 --settle` and the command that it stands for, both ways.
//!
//! The command line, scripts and the one tool of a slim tool list all speak this form; none of them knows the others.
//! Pure: no file, no socket, no environment.

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
