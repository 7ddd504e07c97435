//! The simulated device below the kernel, and the layers of the crate.

mod device;
mod floors;
