//! The identification of the agent behind a request.
//!
//! Front ends send [`Evidence`], such as environment variables and MCP metadata. The daemon adds
//! the ancestry of the calling process and queries the [`Directory`], so that a shell command and
//! an MCP server of one agent resolve to the same id although they see different environments. The
//! [`Anchor`](crate::turn::Anchor), the root process of the harness, joins the two.

mod ancestry;
mod bindings;
mod directory;
mod evidence;
mod harnesses;
mod link;
mod stored;
#[cfg(test)]
mod tests;

pub use ancestry::{HarnessRoot, Process, harness_root};
pub use directory::Directory;
pub use evidence::{AgentKind, AgentRecord, Attempt, EnvAge, Evidence, IdentityError, Place, Resolution};
pub use harnesses::{HARNESSES, Harness, Multiplicity, TERMINAL_VARIABLES};
pub use link::LinkCodes;
