//! What a machine needs before the tests on real devices can run.

use crate::Result;
use crate::run::{on_path, output, root, run};
use std::process::Command;

/// A Debian package, and the program that shows that it is there.
const PACKAGES: &[(&str, &[&str])] = &[("chromium", &["chromium", "chromium-browser", "google-chrome"])];

/// What the tests take from npm, with the versions of all that it pulls in.
const NPM: [&str; 2] = ["package.json", "package-lock.json"];

/// Installs what is missing.
pub fn setup() -> Result {
    debian()?;
    npm()
}

/// Installs the packages of npm below the target folder, unless exactly these are there.
fn npm() -> Result {
    if !on_path("npm") {
        eprintln!("setup: npm is missing here; tests that need its packages are skipped");
        return Ok(());
    }
    let (from, to) = (root().join("xtask").join("npm"), crate::bench::target_dir()?.join("npm"));
    let failed = |e: std::io::Error| format!("{}: {e}", to.display());
    std::fs::create_dir_all(&to).map_err(failed)?;
    // Written last: it says that the installation came to its end.
    let done = to.join("installed.json");
    let lock = std::fs::read(from.join(NPM[1])).map_err(failed)?;
    if std::fs::read(&done).is_ok_and(|old| old == lock) {
        return Ok(());
    }
    for name in NPM {
        std::fs::copy(from.join(name), to.join(name)).map_err(failed)?;
    }
    run(Command::new("npm").args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&to))?;
    std::fs::write(done, lock).map_err(failed)
}

/// Installs what is missing as root, prints the command otherwise.
fn debian() -> Result {
    let missing: Vec<&str> = PACKAGES
        .iter()
        .filter(|(_, programs)| !programs.iter().any(|p| on_path(p)))
        .map(|&(package, _)| package)
        .collect();
    if missing.is_empty() {
        eprintln!("setup: nothing is missing");
        return Ok(());
    }
    let install = format!("apt-get install -y --no-install-recommends {}", missing.join(" "));
    let root = output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !root || !on_path("apt-get") {
        eprintln!("setup: missing here: {}. On Debian: sudo {install}", missing.join(", "));
        return Ok(());
    }
    run(Command::new("apt-get").arg("update"))?;
    run(Command::new("sh").arg("-c").arg(&install).env("DEBIAN_FRONTEND", "noninteractive"))
}
