//! Commands that begin, end and describe sessions, and commands about the host.

pub mod batch;
pub mod capabilities;
pub mod close;
pub mod delegate;
pub mod devices;
pub mod doctor;
pub mod gc;
pub mod identity;
pub mod open;
pub mod peers;
#[cfg_attr(not(feature = "recording"), allow(dead_code, reason = "only `record start` begins a recording"))]
pub mod record;
pub mod restore;
pub mod sessions;
pub mod upkeep;
pub mod whoami;
