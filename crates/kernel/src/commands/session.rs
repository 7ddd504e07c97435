//! Commands that begin, end and describe sessions, and commands about the host.

pub mod batch;
pub mod capabilities;
pub mod close;
pub mod devices;
pub mod doctor;
pub mod open;
pub mod record;
pub mod sessions;
pub mod whoami;
