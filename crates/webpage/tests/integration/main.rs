//! The page script, the set-up of a page, and the floors of the crate.

mod bundle;
mod floors;
mod set_up;
