//! Communication with apps over D-Bus: connections, batches of calls with timeouts, and the
//! accessibility bus with its registry.

mod accessibility_bus;
pub(crate) mod body;
pub(crate) mod calls;
mod embedded_process;
pub(crate) mod error;
mod link;
pub(crate) mod names;
mod orders;
pub(crate) mod wire;

pub(crate) use accessibility_bus::{AccessibilityBus, Addresses, RegisteredApp};
pub(crate) use body::{Call, Message, Reference, on_the_wire, referred, text, whole};
pub(crate) use embedded_process::embedded_path;
pub(crate) use error::{BusError, BusResult, unless_lost};
pub(crate) use link::Link;
pub(crate) use names::{
    ACCESSIBLE, ACTION, CACHE, COMPONENT, DAEMON, DOCUMENT, EDITABLE, ROOT, SELECTION, TEXT, VALUE,
};
pub(crate) use wire::{Answer, Listener};
