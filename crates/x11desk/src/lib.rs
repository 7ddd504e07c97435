//! X11 displays for a backend whose apps show windows: reading their windows, and sending input as
//! a person would.
//!
//! [`X11`] is a connection to a display with its own thread. Jobs run there one at a time and see
//! the [`Display`]: its windows, pointer, keyboard, clipboard and pictures. On a display that a
//! person uses, the connection gets its own pointer and keyboard for its first input.
//! [`PrivateDisplay`] starts a display with buses and a window manager for one session.
//!
//! The crate knows nothing of accessibility, of elements, or of which windows belong to the app of
//! a session.
//!
//! ```no_run
//! use stickpin_x11desk::{Address, X11, windows};
//!
//! # async fn print() -> stickpin_device::Result<()> {
//! let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(5);
//! let x11 = X11::connect(Address::shared(":0"), deadline).await?;
//! for window in x11.run(windows::list_windows).await? {
//!     println!("{window:?}");
//! }
//! # Ok(())
//! # }
//! ```

mod address;
mod atoms;
pub mod clipboard;
mod display;
mod error;
pub mod focus;
mod held_input;
pub mod keyboard;
mod keymap;
pub mod pings;
pub mod pointer;
mod private;
pub mod screenshot;
mod seat;
mod window;
pub mod window_manager;
pub mod windows;
mod x11;

pub use address::Address;
pub use display::Display;
pub use error::{JOB_TIMEOUT, X11Error, X11Result};
pub use focus::KeyDelivery;
pub use held_input::HeldInput;
pub use private::{Home, PrivateDisplay, missing_tools};
pub use window::{Extents, Visibility, Window};
pub use x11::X11;

#[cfg(test)]
extern crate self as stickpin_x11desk;
#[cfg(test)]
mod tests;
