//! Faults of processes and files: the daemon is killed at any operation on its files, the disk is
//! full, and clients and harnesses are killed.

mod agents;
mod by_hand;
mod crash_loop;
mod full_disk;
mod harnesses;
mod hints;
mod installing;
mod killing_files;
mod kills;
mod listening;
mod log_rules;
mod network_disk;
mod relatives;
mod table;
