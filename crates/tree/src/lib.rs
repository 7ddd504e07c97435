//! Pure values of a captured UI: nodes, trees, records, selectors, outlines, diffs.
//!
//! A [`Tree`] is what a device returned for its whole UI, immutable from then on. It holds *every* node, the
//! wrappers without meaning and the text leaves included, because the record of an element
//! (which thing among its likes it is) is read from them. What an agent sees of a tree is a view made above it.
//!
//! Invariant: nothing here knows a session, a ref table, a device, a clock or a file.

mod builder;
mod context;
mod diff;
mod escape;
mod markdown;
mod node;
mod outline;
mod record;
mod role;
mod selector;
mod state;
mod strings;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod tree;

pub use builder::{NodeSpec, TreeBuilder, TreeError};
pub use context::{
    Content, Context, ContextChange, ContextMap, ContextReader, FactKey, FactKind, SegmentKey, Ticks,
    differ_in_numbers, ends_segment, number_pattern, texts_changed,
};
pub use diff::{Change, Diff, DiffCues};
pub use escape::{MAX_CHARS, MAX_URL, bare_url, escape, is_unsafe, quote, quote_url, quote_whole};
pub use markdown::{Excerpt, Heading, Markdown, NoSection};
pub use node::{Attr, Document, Handle, IdentityGrade, NodeId, Rect, SurfaceId};
pub use outline::{Cues, DEFAULT_MAX_BYTES, Outline, Plan, View, line};
pub use record::{
    Clause, Meaning, Opener, Openers, RecordBook, Records, Refused, Verdict, came_back_with_its_list,
    content_match, words,
};
#[doc(hidden)]
pub use record::{Switches, is_volatile};
pub use role::Role;
pub use selector::{
    Condition, CssAnswers, Likeness, Selector, SelectorError, SelectorErrorKind, nearest, reduce,
};
pub use state::States;
pub use strings::StrId;
pub use tree::{NodeRef, Tree};
