//! The kernel as a library, and the layers of the crate.

mod embedding;
mod examples;
mod floors;
#[cfg(feature = "pictures")]
mod watch_frame;
