//! Bundles the agent.

mod bundle;

use std::path::{Path, PathBuf};

fn main() {
    let folder = Path::new("src/agent/script");
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=bundle.rs");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where"));
    let read = |module: &Path| {
        let path = folder.join(module);
        std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
    };
    let script = bundle::bundle(Path::new("agent.js"), read).unwrap_or_else(|why| panic!("{why}"));
    std::fs::write(out.join("agent.js"), script).expect("the folder of the build can be written to");
}
