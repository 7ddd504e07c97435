//! X11 displays for a backend whose apps show windows: what is on them, and input as a person would give it.
//!
//! [`X11`] is a connection to a display, spoken on a thread of its own. Jobs run there one at a time and see the
//! [`Display`]: its windows, pointer, keyboard, clipboard and pictures. On a display that a person uses, the connection
//! has a pointer and a keyboard of its own. [`Private`] starts a display with buses and a window manager for one session.
//!
//! The crate knows nothing of accessibility, of elements, or of which windows belong to the app of a session.

mod display;
mod held;
mod private;

pub use display::fault::{Fault, PATIENCE};
pub use display::numbers::button_number;
pub use display::picture::Picture;
pub use display::server::{Address, Display};
pub use display::state::Sent;
pub use display::{Extents, Presence, Window, X11};
pub use held::Held;
pub use private::{Home, Private, missing};

#[cfg(test)]
extern crate self as stickpin_x11desk;
#[cfg(test)]
mod tests;
