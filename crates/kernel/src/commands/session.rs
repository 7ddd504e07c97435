//! What begins and ends sessions, and what is told of them and of the host.

pub(crate) mod batch;
pub(crate) mod capabilities;
pub(crate) mod close;
pub(crate) mod devices;
pub(crate) mod doctor;
pub(crate) mod open;
pub(crate) mod record;
pub(crate) mod sessions;
