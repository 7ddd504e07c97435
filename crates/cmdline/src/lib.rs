//! The registry as command lines: converts `press @e3 --settle` to a command and back.
//!
//! The command line, scripts and the single tool of the slim MCP profile use this form
//! independently of one another. The crate is pure: it uses no files, no sockets and no environment
//! variables.
//!
//! ```
//! let words = stickpin_cmdline::split("press 'role=button \"Save\"' --settle")?;
//! let line = stickpin_cmdline::parse(&words)?;
//! assert_eq!(line.input["target"], r#"role=button "Save""#);
//!
//! // The written line parses as the same command.
//! let written = stickpin_cmdline::write(line.entry, &line.input);
//! assert_eq!(stickpin_cmdline::parse(&written)?.input, line.input);
//! # Ok::<(), stickpin_kernel::Error>(())
//! ```

mod errors;
mod grammar;
pub mod help;
pub mod hints;
pub mod options;
mod points;
mod read;
mod resolve;
mod split;
mod write;

pub use errors::invalid_args;
pub use grammar::{command_grammar, local_grammar};
pub use options::Options;
pub use read::{
    CommandLine, ParsedArguments, insert_stdin_steps, insert_stdin_text, parse, read, refuse_following,
    wants_stdin,
};
pub use resolve::{LocalCommand, ResolvedCommand, members, names, resolve_command};
pub use split::split;
pub use write::write;
