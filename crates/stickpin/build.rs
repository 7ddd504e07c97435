//! How the binary is linked.

use std::env::var;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| var(name).is_ok_and(|v| v == value);
    // A command line lives for milliseconds, and half of one went into moving 27,000 addresses to
    // where
    // the program was put (docs/adr/0034). Only where it is known to link so, and only in builds
    // that are shipped.
    if is("PROFILE", "release")
        && is("CARGO_CFG_TARGET_ARCH", "x86_64")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
    {
        println!("cargo:rustc-link-arg-bin=stickpin=-no-pie");
    }
}
