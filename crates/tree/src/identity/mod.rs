//! Which thing among its likes is this element, and does what was issued still hold?
//!
//! "Delete" of mail 1 and "Delete" of mail 11 are the same node, role and name in a list that recycles its rows.
//! What tells them apart is the *record*: the key, the text, the numbers or the place of the row, or the heading
//! above, or what opened the menu. [`Records`] reads it from a tree, [`Meaning`] keeps it, and
//! [`Records::judge`] says of a node in a later tree whether it still is what was issued. [`content_match`]
//! finds the node that took the place of one that is gone.
//!
//! What is asked then and now is one value each: a `Record` is what was evident at issue and is kept without the tree, an
//! `ElementContext` what stands around an element of a later tree, as far as the record asks. `Record::differences` is the
//! one function that compares them, for elements and for what opened a popup alike. Below it stand what the two are made
//! of: `rows`, `surroundings`, and `evidence`, the strongest that a row or a place has. [`context`] is another question:
//! not which element it is, but whether what the client has seen around it has changed.
//!
//! `docs/records.md` explains the rule, what each clause is worth, and what it cannot know.

mod cache;
mod candidates;
mod compare;
pub(crate) mod context;
mod element_name;
mod element_reader;
mod element_text;
mod evidence;
mod fingerprint;
mod meaning;
mod memo;
mod opener;
mod parts;
mod record;
mod rematch;
mod resemblance;
mod row_label;
mod rows;
mod step_count;
mod surroundings;
mod verdict;

#[cfg(test)]
mod tests;

pub use cache::RecordBook;
pub use compare::Records;
pub use element_text::words;
pub use meaning::Meaning;
pub use opener::{Opener, Openers};
pub use rematch::{came_back_with_its_list, content_match};
pub(crate) use row_label::row_shows;
pub(crate) use rows::detect::Structure;
pub(crate) use rows::keys::is_machine_made;
#[doc(hidden)]
pub use rows::numbers::is_volatile;
pub(crate) use rows::numbers::without_counts;
pub use verdict::{Clause, Refused, Verdict};
