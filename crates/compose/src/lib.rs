//! Several devices as one: the trees of the members are merged into one tree, and every handle,
//! question and act is routed to the member that owns it.
//!
//! A platform implements [`Member`] for one device among several, and [`Ground`] for what they
//! share: the list of members, the window at a point, the clipboard. [`Composed`] combines both
//! into a [`Device`](stickpin_device::Device). A member that leaves or does not answer does not
//! stop the others.

mod act;
mod device;
mod ground;
mod handles;
mod merge;
mod parts;
mod read;
mod route;

pub use ground::{Beneath, Composed, Ground};
pub use parts::{Member, Part, Parts};
pub use route::Way;

#[cfg(test)]
mod tests;
