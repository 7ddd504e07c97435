//! The kernel as a library, and the floors of the crate.

mod embedding;
mod examples;
mod floors;
#[cfg(feature = "pictures")]
mod watch_frame;
