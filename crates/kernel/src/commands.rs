//! The commands, one file each.

pub(crate) mod alert;
pub(crate) mod capabilities;
pub(crate) mod close;
pub(crate) mod count;
pub(crate) mod devices;
pub(crate) mod doctor;
pub(crate) mod fill;
pub(crate) mod get;
pub(crate) mod history;
pub(crate) mod is;
pub(crate) mod open;
pub(crate) mod press;
pub(crate) mod session;
pub(crate) mod snapshot;
pub(crate) mod wait;
