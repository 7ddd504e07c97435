//! What a machine needs before the tests on real devices can run.

use crate::run::{on_path, output, root, run, target_dir};
use crate::{Result, flows};
use std::process::Command;

/// A Debian package, and the program that shows that it is there.
const PACKAGES: &[(&str, &[&str])] = &[("chromium", &["chromium", "chromium-browser", "google-chrome"])];

/// What the tests take from npm, with the versions of all that it pulls in.
const NPM: [&str; 2] = ["package.json", "package-lock.json"];

/// Set by who wants a run without the flows to fail. Tests read the same name.
pub const REQUIRE_FLOWS: &str = "STICKPIN_REQUIRE_FLOWS";

/// What the tests can count on now.
#[derive(Debug, Clone, Copy)]
pub struct Ready {
    /// The pages of the flows are there: what was set up must not be skipped.
    pub flows: bool,
}

/// Installs what is missing.
pub fn setup() -> Result<Ready> {
    debian()?;
    npm()?;
    match flows::install() {
        Ok(()) => Ok(Ready { flows: true }),
        Err(e) if std::env::var_os(REQUIRE_FLOWS).is_some() => Err(e),
        Err(e) => {
            eprintln!("setup: the flows will be skipped, in whole or in part: {e}");
            Ok(Ready { flows: false })
        }
    }
}

/// Installs the packages of npm below the target folder, unless exactly these are there.
fn npm() -> Result {
    if !on_path("npm") {
        eprintln!("setup: npm is missing here; tests that need its packages are skipped");
        return Ok(());
    }
    let (from, to) = (root().join("xtask").join("npm"), target_dir()?.join("npm"));
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

/// Installs Debian packages as root, prints the command otherwise.
fn debian() -> Result {
    let missing: Vec<&str> = PACKAGES
        .iter()
        .filter(|(_, programs)| !programs.iter().any(|p| on_path(p)))
        .map(|&(package, _)| package)
        .collect();
    if missing.is_empty() {
        eprintln!("setup: no package is missing");
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
