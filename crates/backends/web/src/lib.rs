//! Implementation of the device traits over the Chrome DevTools Protocol.
