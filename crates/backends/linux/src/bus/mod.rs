//! Communication with apps over D-Bus: connections, batches of calls with timeouts, and the
//! accessibility bus with its registry.

pub(crate) mod body;
pub(crate) mod calls;
mod desk;
pub(crate) mod fault;
mod guest;
pub(crate) mod limits;
mod link;
pub(crate) mod names;
mod orders;
pub(crate) mod wire;

pub(crate) use body::{Call, Message};
pub(crate) use desk::{Addresses, Desktop, Running};
pub(crate) use guest::guest;
pub(crate) use link::Link;
pub(crate) use wire::Listener;
