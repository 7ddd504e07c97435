//! The `stickpin` binary.

fn main() {}
