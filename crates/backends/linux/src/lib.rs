//! Implementation of the device traits over AT-SPI and X11.
//!
//! `provider` finds and starts apps, or opens all of them in one session. `app` is an open app, and
//! `device` implements the traits for it. Perceiving: `bus` communicates with apps, `capture` reads
//! them and builds trees, `model` interprets the answers, and `events` and `app::settle` wait.
//! Acting: `aim` brings an element into view and determines what an input there would reach, and
//! `act` performs the input, through accessibility interfaces or as a person would. `screen` is the
//! display of a session. `tests/floors.rs` states which folder may import which.
//!
//! ```
//! use stickpin_backend_linux::{LinuxConfig, LinuxProvider};
//! use stickpin_device::Provider as _;
//!
//! let provider = LinuxProvider::new(LinuxConfig::default());
//! assert!(provider.claims("linux:org.gnome.gedit"));
//! assert!(!provider.claims("http://127.0.0.1:3000"));
//! ```

mod act;
mod aim;
mod app;
mod bus;
mod capture;
mod device;
mod events;
#[doc(hidden)]
pub mod fuzzing;
mod limits;
mod model;
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
