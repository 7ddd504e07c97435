//! `cargo xtask dist`: builds the shipped binary, one file that needs no system library (ADR 35).

use crate::Result;
use crate::run::{cargo, on_path, output, run, target_dir};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The target that the binary is built for.
const TARGET: &str = "x86_64-unknown-linux-musl";

/// Compilers for the allocator's C code for that target; either works.
const COMPILERS: &[&str] = &["musl-gcc", "x86_64-linux-musl-gcc"];

/// A binary built with the shipped profile.
pub struct Built {
    pub binary: PathBuf,
    /// How the binary is linked, in one word.
    pub linkage: &'static str,
}

/// Builds the binary, checks that it runs, and prints its path.
pub fn dist() -> Result {
    if let Some(lack) = missing_requirement()? {
        return Err(lack);
    }
    let built = build()?;
    output(Command::new(&built.binary).arg("demo"))?;
    println!("{}", built.binary.display());
    Ok(())
}

/// Builds the binary. If this machine cannot link it statically, prints a message and links it as
/// usual.
pub fn build() -> Result<Built> {
    let profile = ["build", "--profile", "dist", "--package", "stickpin"];
    let target = target_dir()?;
    let at = |dir: &Path| dir.join("dist").join("stickpin");
    match missing_requirement()? {
        None => {
            run(&mut cargo(&[&profile[..], &["--target", TARGET]].concat()))?;
            Ok(Built { binary: at(&target.join(TARGET)), linkage: "static" })
        }
        Some(lack) => {
            eprintln!("xtask: not linked as it is shipped: {lack}");
            run(&mut cargo(&profile))?;
            Ok(Built { binary: at(&target), linkage: "dynamic" })
        }
    }
}

/// Builds the program with the panic strategy of the shipped profile, but without its slow
/// optimizations.
pub fn dist_check() -> Result<PathBuf> {
    let features = ["--no-default-features", "--features", "sim"];
    let build = ["build", "--profile", "dist-check", "--package", "stickpin", "--bin", "stickpin"];
    run(&mut cargo(&[&build[..], &features].concat()))?;
    Ok(target_dir()?.join("dist-check").join("stickpin"))
}

/// Returns what is missing to link the binary.
fn missing_requirement() -> Result<Option<String>> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Ok(Some(format!("it is built on x86-64 Linux, for {TARGET}")));
    }
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let libraries = output(Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]))?;
    if !Path::new(libraries.trim()).is_dir() {
        return Ok(Some(format!("rustup target add {TARGET}")));
    }
    let compiled = COMPILERS.iter().any(|compiler| on_path(compiler));
    Ok((!compiled).then(|| format!("{} is missing: apt install musl-tools", COMPILERS[0])))
}
