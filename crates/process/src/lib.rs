//! Other programs: finding them, ending them, and what a killed process of ours left behind.
//!
//! Knows no device and no session: backends say what they started, and a sweep ends what outlived its owner.

mod find;
mod mounts;
mod process;
mod record;
mod remove;

pub use find::{is_program, on_path};
pub use process::{Process, kill_group, kill_one};
pub use record::{Record, sweep};
pub use remove::remove_folder;
