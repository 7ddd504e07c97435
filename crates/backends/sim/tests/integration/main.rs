//! The simulated device below the kernel, and the floors of the crate.

mod device;
mod floors;
