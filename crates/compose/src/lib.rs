//! Several devices as one: the trees of the members are merged into one tree, and every handle,
//! question and act goes back to the member that owns it.
//!
//! A platform implements [`Member`] for one device among several and [`Ground`] for what they
//! share: who is there, what lies under a point, one clipboard, one end. [`Composed`] makes a
//! [`Device`](stickpin_device::Device) of both. A member that leaves or does not answer keeps no
//! other from going on.

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
