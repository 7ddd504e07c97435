//! The page script, the setup of a page, and the layers of the crate.

mod bundle;
mod floors;
mod set_up;
