//! Commands that begin, end and describe sessions, and commands about the host.

pub(crate) mod batch;
pub(crate) mod capabilities;
pub(crate) mod close;
pub(crate) mod devices;
pub(crate) mod doctor;
pub(crate) mod open;
pub(crate) mod record;
pub(crate) mod sessions;
