//! What an element stands in: everything around it that says which record it belongs to.
//!
//! The record rule ([`Records`]) lists the ways in which an app may bind a record to a control. Apps have others
//! without end, so an act also compares the *context* of its target: what the client was shown around it, against what
//! stands there now. Context needs no list of ways. It consists of [facts](FactKind) (texts, names, values, pictures,
//! descriptions, selections, addresses), grouped in *segments*: a document, a row of a list, a popup, a complementary
//! section or a live region, each without the segments inside it. The context of an element is the chain of segments
//! around it. Rows that it is not in, advertisements beside it and messages that come and go are therefore no part of
//! it.
//!
//! [`ContextReader`] reads facts from a tree, [`Context::changes_to`] compares them, and [`ContextMap`] keeps the facts
//! of a whole tree in about a tenth of its size.

mod clockwork;
mod compare;
mod fact;
mod map;
mod node_facts;
mod reader;
mod segments;
#[cfg(test)]
mod tests;
mod ticks;

pub use clockwork::differ_in_numbers;
pub use compare::ContextChange;
pub use fact::{Content, FactKey, FactKind, SegmentKey};
pub use map::{Context, ContextMap};
pub use reader::ContextReader;
#[doc(hidden)]
pub use segments::ends_segment;
pub use ticks::{Ticks, number_pattern, texts_changed};

#[allow(unused_imports, reason = "named in the documentation above")]
use crate::Records;
