//! Other programs: finding them, ending them, and cleaning up after a killed process of ours.
//!
//! The crate knows no device and no session. Backends record what they started, and a sweep ends
//! what outlived its owner.

mod find;
mod mounts;
mod process;
mod record;
mod remove;

pub use find::{is_program, on_path};
pub use process::{Process, kill_group, kill_one};
pub use record::{Record, sweep};
pub use remove::remove_folder;
