//! Other programs: finding, observing and ending them, and cleaning up after a killed stickpin
//! process.
//!
//! The crate is independent of devices and sessions. Backends record the processes that they start,
//! and a sweep ends those that outlived their owner.
//!
//! ```
//! use stickpin_process::Process;
//!
//! // A process is its id and its start time, so a reused id is not mistaken for it.
//! let own = Process::find(std::process::id()).unwrap();
//! assert!(own.is_alive());
//! assert!(!Process { started: "another time".to_owned(), ..own }.is_alive());
//! ```

mod ancestry;
mod desktop_entry;
mod find;
mod mounts;
mod process;
mod process_record;
mod remove;
mod table;

pub use ancestry::{Ancestor, ancestry};
pub use desktop_entry::DesktopEntry;
pub use find::{find_on_path, is_program};
pub use process::{Process, kill_group, kill_one, terminate_group};
pub use process_record::{ProcessRecord, sweep};
pub use remove::{remove_file, remove_folder};
pub use table::{ProcessStat, ProcessTable, ProcessorTime, belongs_to, find_running};
