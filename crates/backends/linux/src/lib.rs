//! Implementation of the device traits over AT-SPI and X11.
//!
//! `provider` finds and starts apps, or opens all of them in one session; `app` is what is known of
//! an open one, `device` what the traits promise of it. Perceiving: `bus` talks to apps,
//! `capture` reads them and makes trees, with `model` saying what the answers mean; `events` and
//! `app::settle` wait. Acting: `aim` brings an element into view and says what an input there would
//! reach, `act` does it, by what the app itself offers or as a person would; `screen` is what a
//! session acts on. `tests/floors.rs` says what may import what.

mod act;
mod aim;
mod app;
mod bus;
mod capture;
mod device;
mod events;
mod limits;
mod model;
mod opening;
mod provider;
mod screen;
mod toolkit;
mod verify;

pub use provider::{LinuxConfig, LinuxProvider};

#[cfg(test)]
#[path = "../../../testkit/src/golden.rs"]
mod golden;
#[cfg(test)]
mod tests;
