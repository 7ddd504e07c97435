//! Scripts: what an agent did once, written down so that it runs without one.

mod divergence;
mod plan;
mod record;
mod run;
pub mod script;
mod vars;

pub use divergence::{Divergence, Resume, Suggestion};
pub use plan::{Item, Place, Plan, ReadFile, Step};
pub use record::AdScribe;
pub use run::{End, Ran, RunOptions, StepReport, WAIT, is_broken, run};
pub use vars::Vars;
