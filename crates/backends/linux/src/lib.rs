//! Implementation of the device traits over AT-SPI and X11.
//!
//! `provider` finds and starts apps, `device` is one of them. Perceiving: `bus` talks to apps, `capture` reads them and
//! makes trees, with `roles`, `states` and `names` saying what the answers mean; `events` and `settle` wait. Acting:
//! `act` by the app's own actions; `display` is the X server with its
//! pointer and keys, `private` one of a session's own.

mod act;
mod apps;
mod bus;
mod capture;
mod device;
#[allow(dead_code, reason = "the device that uses it all is the next step")]
mod display;
mod doctor;
mod events;
mod ids;
mod model;
mod names;
#[allow(dead_code, reason = "the same")]
mod private;
mod provider;
mod query;
mod roles;
mod settle;
mod states;
mod tables;

pub use provider::{LinuxConfig, LinuxProvider};

#[cfg(test)]
mod tests;
