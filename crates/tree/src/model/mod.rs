//! Trees and their parts.

mod builder;
mod count;
pub(crate) mod escape;
mod node;
pub(crate) mod pairing;
mod role;
mod state;
pub(crate) mod strings;
mod tree;

pub use builder::{NodeSpec, TreeBuilder, TreeError};
pub use count::format_count;
pub use escape::{
    MAX_CHARS, MAX_URL, bare_url, escape, is_unsafe, quote, quote_first, quote_url, quote_whole,
};
pub use node::{Attr, Document, Handle, IdentityGrade, NodeId, Rect, SurfaceId};
pub use role::Role;
pub use state::States;
pub use strings::StrId;
pub use tree::{NodeRef, Tree};
