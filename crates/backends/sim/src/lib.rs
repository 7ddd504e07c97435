//! Implementation of the device traits over apps written as data.
