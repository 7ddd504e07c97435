//! Identifies an element among similar ones, and checks whether it is still the element that was
//! issued.
//!
//! The "Delete" buttons of mail 1 and mail 11 have the same node, role and name in a list that
//! recycles its rows. The *record* distinguishes them: the key, text, numbers or position of the
//! row, the heading above, or the opener of the menu. [`Records`] reads the record from a tree,
//! [`Meaning`] keeps it, and [`Records::judge`] decides whether a node of a later tree is still the
//! issued element. [`content_match`] finds the node that replaced a node that is gone.
//!
//! Two values are compared. A `Record` is the evidence from the time of issue, kept without the
//! tree. An `ElementSurroundings` contains those surroundings of an element of a later tree that
//! the record compares. `Record::differences` is the one function that compares them, for elements
//! and for openers of popups alike. Both values are built from `rows`, `surroundings` and
//! `evidence`, which selects the strongest evidence available. [`context`] answers another
//! question: whether the surroundings that the client has seen have changed.
//!
//! `docs/records.md` explains the rule, the value of each clause, and the limits.

mod cache;
mod candidates;
mod content_match;
pub(crate) mod context;
mod element_name;
mod element_reader;
mod element_text;
mod evidence;
mod fingerprint;
mod meaning;
mod memo;
mod opener;
mod record;
mod records;
mod row_part;
mod row_search;
mod rows;
mod step_count;
mod surroundings;
mod text_similarity;
mod verdict;

#[cfg(test)]
mod tests;

pub use cache::CachedTree;
pub use content_match::{content_match, reappeared_with_list};
pub use element_text::words;
pub use meaning::Meaning;
pub use opener::{Opener, Openers};
pub use records::Records;
pub(crate) use row_search::row_contains;
pub(crate) use rows::detect::Structure;
pub(crate) use rows::keys::is_machine_made;
#[doc(hidden)]
pub use rows::numbers::is_volatile;
pub(crate) use rows::numbers::without_counts;
pub use verdict::{Clause, NoMatch, Verdict};
