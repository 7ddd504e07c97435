//! Sessions on disks that fail, and the floors of the crate.

mod crashes;
mod damage;
mod floors;
mod full;
mod support;
mod sync;
