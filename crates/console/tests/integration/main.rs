//! The inside of the crate.

mod floors;
