//! Faults below the daemon: it is killed at any operation on its files, and the disk is full.

mod crash_loop;
mod full_disk;
mod hints;
mod killing_files;
mod log_rules;
mod table;
