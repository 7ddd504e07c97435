//! What the flows drive (`crates/stickpin/tests/flows`): apps of ours, built with libraries from
//! npm, the task pages of a package from PyPI, and servers from PyPI and npm. Manifests and lock
//! files are committed; the packages are installed below the target folder.

use crate::Result;
use crate::run::{on_path, root, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes all parts current. Every part that cannot be had is a sentence in the error.
pub fn install() -> Result {
    let sources = root().join("fixtures/web/flows");
    let home = crate::run::target_dir()?.join("flows");
    std::fs::create_dir_all(&home).map_err(|e| format!("{}: {e}", home.display()))?;
    let apps = apps(&sources, &home).map_err(|e| format!("the apps: {e}"));
    let tasks = tasks(&sources, &home).map_err(|e| format!("the task pages: {e}"));
    let servers = servers(&home).map_err(|e| format!("the servers: {e}"));
    let failed: Vec<String> = [apps, tasks, servers].into_iter().filter_map(Result::err).collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
}

/// `site`: the apps, built by Vite.
fn apps(sources: &Path, home: &Path) -> Result {
    let wanted = listing(sources)?;
    let stamp = home.join("site.stamp");
    if is_current(&stamp, &wanted) && home.join("site").is_dir() {
        return Ok(());
    }
    for program in ["node", "npm"] {
        if !on_path(program) {
            return Err(format!("no {program} on the path"));
        }
    }
    let build = home.join("apps");
    let lock = read(&sources.join("package-lock.json"))?;
    let locked = home.join("packages.stamp");
    let installed = is_current(&locked, &lock) && build.join("node_modules").is_dir();
    copy(sources, &build)?;
    if !installed {
        // What the packages would run while they are installed stays off.
        run(Command::new("npm")
            .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
            .current_dir(&build))?;
        write(&locked, &lock)?;
    }
    run(Command::new("node")
        .args(["node_modules/vite/bin/vite.js", "build", "--logLevel", "warn"])
        .current_dir(&build))?;
    write(&stamp, &wanted)
}

/// `tasks`: the wheel, unpacked.
fn tasks(sources: &Path, home: &Path) -> Result {
    let manifest = sources.join("requirements.txt");
    let wanted = read(&manifest)?;
    let stamp = home.join("tasks.stamp");
    let unpacked = home.join("tasks");
    if is_current(&stamp, &wanted) && unpacked.is_dir() {
        return Ok(());
    }
    if !on_path("python3") {
        return Err("no python3 on the path".to_owned());
    }
    let wheels = home.join("wheels");
    for old in [&wheels, &unpacked] {
        if old.is_dir() {
            std::fs::remove_dir_all(old).map_err(|e| format!("{}: {e}", old.display()))?;
        }
    }
    run(Command::new("python3")
        .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"])
        .args(["--only-binary", ":all:", "--require-hashes", "--dest"])
        .arg(&wheels)
        .arg("--requirement")
        .arg(&manifest))?;
    for wheel in entries(&wheels)? {
        run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(wheel).arg(&unpacked))?;
    }
    write(&stamp, &wanted)
}

/// `servers`: the packages of the web apps that run as servers of their own, for `PYTHONPATH`.
fn servers(home: &Path) -> Result {
    let manifest = root().join("fixtures/web/servers/requirements.txt");
    let wanted = read(&manifest)?;
    let stamp = home.join("servers.stamp");
    let packages = home.join("servers");
    if is_current(&stamp, &wanted) && packages.is_dir() {
        return Ok(());
    }
    if !on_path("python3") {
        return Err("no python3 on the path".to_owned());
    }
    if packages.is_dir() {
        std::fs::remove_dir_all(&packages).map_err(|e| format!("{}: {e}", packages.display()))?;
    }
    // The lock file names every package, and Python compiles what it imports.
    run(Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"])
        .args(["--only-binary", ":all:", "--require-hashes", "--no-compile", "--target"])
        .arg(&packages)
        .arg("--requirement")
        .arg(&manifest))?;
    write(&stamp, &wanted)
}

/// Every file of a folder with its content: what a stamp is compared with.
fn listing(folder: &Path) -> Result<String> {
    let mut out = String::new();
    for path in entries(folder)? {
        out.push_str(&path.strip_prefix(root()).unwrap_or(&path).to_string_lossy());
        out.push('\n');
        out.push_str(&if path.is_dir() { listing(&path)? } else { read(&path)? });
    }
    Ok(out)
}

fn copy(from: &Path, to: &Path) -> Result {
    std::fs::create_dir_all(to).map_err(|e| format!("{}: {e}", to.display()))?;
    for path in entries(from)? {
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() {
            copy(&path, &to.join(name))?;
        } else {
            std::fs::copy(&path, to.join(name)).map_err(|e| format!("{}: {e}", path.display()))?;
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let fail = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut found = std::fs::read_dir(folder)
        .map_err(fail)?
        .map(|entry| entry.map(|e| e.path()).map_err(fail))
        .collect::<Result<Vec<_>>>()?;
    found.sort();
    Ok(found)
}

fn is_current(stamp: &Path, wanted: &str) -> bool {
    std::fs::read_to_string(stamp).is_ok_and(|found| found == wanted)
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn write(path: &Path, text: &str) -> Result {
    std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}
