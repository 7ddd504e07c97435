//! How the binary is linked.

use std::env::var;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| var(name).is_ok_and(|v| v == value);
    // A command line runs for milliseconds, and relocating 27,000 addresses took half a millisecond
    // (docs/adr/0034). Only on platforms that are known to support this, and only in release
    // builds.
    if is("PROFILE", "release")
        && is("CARGO_CFG_TARGET_ARCH", "x86_64")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
    {
        println!("cargo:rustc-link-arg-bin=stickpin=-no-pie");
    }
}
