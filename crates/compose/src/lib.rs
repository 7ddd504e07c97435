//! Several devices as one: the trees of the members are merged into one tree, and every handle,
//! query and action is routed to the member that owns it.
//!
//! A platform implements [`Member`] for one device among several, and [`Environment`] for what the
//! members share: the list of members, the window at a point and the clipboard. [`CompositeDevice`]
//! combines both into a [`Device`](stickpin_device::Device). A member that leaves or does not
//! answer does not stop the others.
//!
//! ```
//! use stickpin_compose::Route;
//! use stickpin_device::{Action, Modifiers};
//!
//! // Keys without a target go to the member that was acted on last.
//! let key = Action::Key { modifiers: Modifiers::default(), key: "Escape".to_owned() };
//! assert_eq!(Route::for_action(&key), Route::Keyboard);
//! ```

mod act;
mod device;
mod environment;
mod handles;
mod members;
mod merge;
mod read;
mod route;

pub use environment::{CompositeDevice, Environment, WindowAtPoint};
pub use members::{Member, MemberEntry, Members};
pub use route::Route;

#[cfg(test)]
mod tests;
