//! X11 displays for a backend whose apps show windows: reading the windows, and input like that of
//! a person.
//!
//! [`X11`] is a connection to a display with a thread of its own. Jobs run there one at a time and
//! see the [`Display`]: its windows, pointer, keyboard, clipboard and pictures. On a display that a
//! person uses, the connection has its own pointer and keyboard. [`Private`] starts a display with
//! buses and a window manager for one session.
//!
//! The crate knows nothing of accessibility, of elements, or of which windows belong to the app of
//! a session.

mod address;
mod atoms;
pub mod clipboard;
mod display;
mod fault;
pub mod focus;
mod held;
pub mod keyboard;
mod keymap;
pub mod picture;
pub mod pings;
pub mod pointer;
mod private;
mod seat;
mod window;
pub mod window_manager;
pub mod windows;
mod x11;

pub use address::Address;
pub use display::Display;
pub use fault::{Fault, PATIENCE};
pub use focus::Sent;
pub use held::Held;
pub use private::{Home, Private, missing};
pub use window::{Extents, Presence, Window};
pub use x11::X11;

#[cfg(test)]
extern crate self as stickpin_x11desk;
#[cfg(test)]
mod tests;
