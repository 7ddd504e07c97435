//! Implementation of the device traits over AT-SPI and X11.
