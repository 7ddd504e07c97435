//! The context of an element: everything around it that indicates which record it belongs to.
//!
//! The record rule, in [`Records`], lists ways in which an app may bind a record to a control. Apps
//! have countless others. An action therefore also compares the *context* of its target: what the
//! client was shown around it and what is there now. Context needs no such list.
//!
//! A context consists of [facts](FactKind): texts, names, values, pictures, descriptions,
//! selections, URLs. Facts are grouped in *segments*: a document, a row of a list, a popup, a
//! complementary section or a live region, each without the segments inside it. The context of an
//! element is the chain of segments around it. It excludes other rows, advertisements beside the
//! element, and messages that come and go.
//!
//! [`ContextReader`] reads facts from a tree, [`Context::changes_to`] compares them, and
//! [`ContextMap`] keeps the facts of a whole tree in about a tenth of its size.

mod clocks;
mod compare;
mod fact;
mod map;
mod node_facts;
mod reader;
mod segments;
#[cfg(test)]
mod tests;
mod text_changes;

pub use clocks::differ_in_numbers;
pub use compare::ContextChange;
pub use fact::{ElementContent, FactKey, FactKind, SegmentKey};
pub use map::{Context, ContextMap};
pub use reader::ContextReader;
#[doc(hidden)]
pub use segments::is_segment_root;
pub use text_changes::{TextChanges, compare_texts, number_pattern};

#[allow(unused_imports, reason = "named in the documentation above")]
use crate::Records;
