//! The layers of the crate.

mod floors;
