//! Sessions on failing disks, and the layers of the crate.

mod crashes;
mod damage;
mod floors;
mod full;
mod migrate;
mod support;
mod sync;
