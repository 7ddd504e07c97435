//! Pure values of a captured UI: nodes, trees, records, selectors, outlines, diffs.
//!
//! A [`Tree`] is the immutable capture of a device's whole UI. It contains *every* node, including
//! meaningless wrappers and text leaves, because the record of an element, which tells it apart
//! from similar elements, is derived from them. What an agent sees is a view of the tree.
//!
//! ```
//! use stickpin_tree::{Document, IdentityGrade, NodeSpec, Role, Selector, TreeBuilder};
//!
//! let mut b = TreeBuilder::new(IdentityGrade::NeverReused);
//! let (frame, title) = (String::new(), String::new());
//! b.document(0, Document { scope: 1, frame, url: "/".into(), title }, 1).unwrap();
//! for (name, id) in [("Save", 10), ("Cancel", 11)] {
//!     b.node(1, NodeSpec { role: Some(Role::Button), name, id, ..Default::default() }).unwrap();
//! }
//! let tree = b.finish().unwrap();
//!
//! let selector: Selector = "role=button text=Save".parse().unwrap();
//! let found = selector.matches(&tree);
//! assert_eq!(found.len(), 1);
//! assert_eq!(stickpin_tree::line(tree.node(found[0]), None, None), r#"button "Save""#);
//! ```
//!
//! Invariant: this crate knows nothing about sessions, ref tables, devices, clocks or files.

mod diff;
#[cfg(test)]
#[path = "../../testkit/src/golden.rs"]
mod golden;
mod identity;
mod markdown;
mod model;
mod outline;
mod selector;
#[cfg(any(test, feature = "testing"))]
#[path = "../tests/trees/mod.rs"]
pub mod testing;

pub use diff::{Diff, DiffQueries, pairs};
pub use identity::context::{
    Context, ContextChange, ContextMap, ContextReader, ElementContent, FactKey, FactKind, SegmentKey,
    TextChanges, compare_texts, differ_in_numbers, is_segment_root, number_pattern,
};
#[doc(hidden)]
pub use identity::is_volatile;
pub use identity::{
    CachedTree, Clause, Meaning, NoMatch, Opener, Openers, Records, Verdict, content_match,
    reappeared_with_list, words,
};
pub use markdown::{Excerpt, Heading, Markdown, SectionError};
pub use model::{
    Attr, Document, Handle, IdentityGrade, MAX_CHARS, MAX_URL, NodeId, NodeRef, NodeSpec, Rect, Role, States,
    StrId, SurfaceId, Tree, TreeBuilder, TreeError, bare_url, escape, format_count, is_unsafe, quote,
    quote_first, quote_url, quote_whole,
};
pub use outline::{DEFAULT_MAX_BYTES, Outline, OutlineQueries, Plan, View, line};
pub use selector::{
    Compare, Condition, CssAnswers, Selector, SelectorError, SuggestionReason, nearest, reduce,
};
