//! Installs the apps that the flows drive (`crates/stickpin/tests/suite/flows`): apps of ours that
//! use npm libraries, the task pages of a PyPI package, and servers from PyPI and npm. Manifests
//! and lock files are committed; packages are installed below the target folder.

use crate::Result;
use crate::run::{OnPath as _, empty_folder, listing, on_path, read, root, run, target_dir, write};
use crate::setup::{is_current, packages};
use std::path::Path;
use std::process::Command;

/// Updates all parts. The error has a sentence for every part that is not available.
pub fn install() -> Result {
    let (web, home) = (root().join("fixtures/web"), target_dir()?.join("flows"));
    std::fs::create_dir_all(&home).with_path(&home)?;
    let apps = apps(&web.join("flows"), &home).map_err(|e| format!("the apps: {e}"));
    let tasks = from_python(&web.join("flows"), &home.join("tasks"));
    let servers = from_python(&web.join("servers"), &home.join("servers"));
    let failed: Vec<String> = [
        apps,
        tasks.map_err(|e| format!("the task pages: {e}")),
        servers.map_err(|e| format!("the servers: {e}")),
    ]
    .into_iter()
    .filter_map(Result::err)
    .collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
}

/// Builds the apps with Vite into `site`.
fn apps(sources: &Path, home: &Path) -> Result {
    let current_sources = listing(sources)?;
    let stamp = home.join("site.stamp");
    if is_current(&stamp, &current_sources) && home.join("site").is_dir() {
        return Ok(());
    }
    for program in ["node", "npm"] {
        require(program)?;
    }
    let build = home.join("apps");
    packages(sources, &build)?;
    run(Command::new("cp").args(["--recursive", "--no-target-directory"]).arg(sources).arg(&build))?;
    run(Command::new("node")
        .args(["node_modules/vite/bin/vite.js", "build", "--logLevel", "warn"])
        .current_dir(&build))?;
    write(&stamp, &current_sources)
}

/// Installs the packages of another folder's `requirements.txt`, each with its hash, into `folder`.
/// Replaces the folder if it has other packages. Pages of a package are served from there; servers
/// have it in `PYTHONPATH`.
pub fn from_python(manifest: &Path, folder: &Path) -> Result {
    let manifest = manifest.join("requirements.txt");
    let (wanted, stamp) = (read(&manifest)?, folder.with_extension("stamp"));
    if is_current(&stamp, &wanted) && folder.is_dir() {
        return Ok(());
    }
    require("python3")?;
    empty_folder(folder)?;
    let mut pip = Command::new("python3");
    // Python compiles what it imports.
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile"]);
    pip.args(["--only-binary", ":all:", "--require-hashes", "--requirement"]).arg(manifest);
    run(pip.arg("--target").arg(folder))?;
    write(&stamp, &wanted)
}

fn require(program: &str) -> Result {
    if on_path(program) { Ok(()) } else { Err(format!("no {program} on the path")) }
}
