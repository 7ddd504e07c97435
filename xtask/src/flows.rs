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
    from_python(&sources.join("requirements.txt"), home, "tasks", |manifest, unpacked| {
        let wheels = home.join("wheels");
        if wheels.is_dir() {
            std::fs::remove_dir_all(&wheels).map_err(|e| format!("{}: {e}", wheels.display()))?;
        }
        run(&mut pip("download", manifest, "--dest", &wheels))?;
        let wheels = entries(&wheels)?;
        wheels.iter().try_for_each(|wheel| {
            run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(wheel).arg(unpacked))
        })
    })
}

/// `servers`: the packages of the web apps that run as servers of their own, for `PYTHONPATH`.
fn servers(home: &Path) -> Result {
    // Python compiles what it imports.
    from_python(
        &root().join("fixtures/web/servers/requirements.txt"),
        home,
        "servers",
        |manifest, packages| run(pip("install", manifest, "--target", packages).arg("--no-compile")),
    )
}

/// A folder of what a manifest names, made anew where another manifest was the last.
pub fn from_python(
    manifest: &Path,
    home: &Path,
    name: &str,
    make: impl Fn(&Path, &Path) -> Result,
) -> Result {
    let wanted = read(manifest)?;
    let (stamp, folder) = (home.join(format!("{name}.stamp")), home.join(name));
    if is_current(&stamp, &wanted) && folder.is_dir() {
        return Ok(());
    }
    if !on_path("python3") {
        return Err("no python3 on the path".to_owned());
    }
    if folder.is_dir() {
        std::fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    make(manifest, &folder)?;
    write(&stamp, &wanted)
}

/// What pip does with a manifest that names every package with its hash.
pub fn pip(action: &str, manifest: &Path, to: &str, folder: &Path) -> Command {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", action, "--quiet", "--disable-pip-version-check", "--no-deps"]);
    pip.args(["--only-binary", ":all:", "--require-hashes", "--requirement"]).arg(manifest);
    pip.arg(to).arg(folder);
    pip
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
