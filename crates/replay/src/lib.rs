//! Scripts: recordings of an agent's commands that run without an agent.
//!
//! ```
//! use stickpin_replay::{Plan, Vars};
//!
//! let script = "open sim:shop\npress 'role=link text=Cart'\n";
//! let plan = Plan::read("cart.ad".as_ref(), &Vars::default(), &|_| Ok(script.to_owned()))?;
//! assert_eq!(plan.first_step().map(|step| step.line.entry.spec.name), Some("open"));
//! # Ok::<(), stickpin_kernel::Error>(())
//! ```

mod commands;
mod divergence;
pub mod formats;
#[cfg(test)]
#[path = "../../testkit/src/golden.rs"]
mod golden;
mod plan;
mod position;
pub mod report;
mod run;
pub mod script;
mod script_writer;
mod suite;
mod vars;

pub use commands::COMMANDS;
pub use divergence::{Divergence, Resume, Suggestion};
pub use plan::{Item, Plan, ReadFile, SourceLocation, Step, read_script};
pub use position::Position;
pub use run::{DEFAULT_WAIT, RepairedScript, RunEnd, RunOptions, RunResult, is_broken, run};
pub use script_writer::AdScriptWriter;
pub use vars::Vars;
