//! The readers of untrusted input: a client's frames, a browser's frames, bodies of D-Bus messages,
//! selectors, scripts, and refs with pins. `cargo xtask fuzz` runs each for a while.

mod cdp;
mod dbus;
mod frames;
mod pins;
mod scripts;
mod selectors;
