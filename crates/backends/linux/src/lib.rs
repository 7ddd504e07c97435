//! Implementation of the device traits over AT-SPI and X11.
//!
//! `provider` finds and starts apps, or opens all of them in one session; `app` is what is known of an
//! open one, `device` what the traits promise of it. Perceiving: `bus` talks to apps,
//! `capture` reads them and makes trees, with `model`, `roles`, `states` and `names` saying what
//! the answers mean; `events` and `settle` wait. Acting: `act` and `select` by what the app itself
//! offers, `aim`, `mouse` and `keyboard` as a person would; `screen` is what a session acts on,
//! `extents` where things are on it. `tests/floors.rs` says what may import what.

mod act;
mod aim;
mod app;
mod bus;
mod capture;
mod device;
mod events;
mod extents;
mod ids;
mod limits;
mod model;
mod names;
mod opening;
mod provider;
mod query;
mod roles;
mod screen;
mod screenshot;
mod settle;
mod states;
mod tables;
mod toolkit;
mod verify;

pub use provider::{LinuxConfig, LinuxProvider};

#[cfg(test)]
#[path = "../../../testkit/src/golden.rs"]
mod golden;
#[cfg(test)]
mod tests;
