//! `cargo xtask`: automation of this workspace.

fn main() {}
