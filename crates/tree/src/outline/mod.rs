//! The text of a snapshot: selects the nodes of a tree that get a line, and writes the lines.
//!
//! There are three steps. *Distilling passes* (`passes/`, one file each) mark nodes as shown,
//! folded (the children move up) or dropped (with all descendants). [`Outline::plan`] cuts runs,
//! distinguishes equal lines and applies the limits. The plan knows every line that will be
//! printed, so the session issues refs for exactly these lines. [`Plan::render`] inserts the refs.

mod disambiguate;
mod distil;
mod draft;
mod interactive;
mod line;
mod passes;
mod plan;
mod runs;
#[cfg(test)]
mod tests;
mod toolbars;
mod view;

pub(crate) use distil::{distilled_draft, markdown_draft};
pub(crate) use draft::{Draft, DraftLine};
pub use line::line;
pub(crate) use line::{Style, describe, label_or_first_text, state_words};
pub(crate) use plan::takes_ref;
pub use plan::{Outline, Plan};
pub(crate) use view::normalize_text;
pub use view::{DEFAULT_MAX_BYTES, OutlineQueries, View};
