//! Implementation of the device traits over the Chrome DevTools Protocol.

pub mod capture;
pub mod page;
