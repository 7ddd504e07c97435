//! Installs what a machine needs for tests on real devices.

use crate::run::{OnPath as _, on_path, output, read, root, run, target_dir, write};
use crate::{Result, flows};
use std::path::Path;
use std::process::Command;

/// Debian packages, each with files or programs of which one shows that it is installed.
const PACKAGES: &str = include_str!("../packages.txt");

/// The large packages.
const HEAVY: &str = include_str!("../packages-heavy.txt");

/// Variable that requests the large apps too. Tests read the same name.
pub const WITH_HEAVY: &str = "STICKPIN_HEAVY";

/// npm packages for tests: the folder of the manifest and lock file, and the folder below the
/// target folder.
const NPM_PACKAGES: [(&str, &str); 2] = [("xtask/npm", "npm"), ("fixtures/web/editors", "editors")];

/// The files that define the packages and the versions of all their dependencies.
const NPM: [&str; 2] = ["package.json", "package-lock.json"];

/// Variable that makes a run without npm fail. Tests read the same name.
pub const REQUIRE_NPM: &str = "STICKPIN_REQUIRE_NPM";

/// Variable that makes a run without the flows fail. Tests read the same name.
pub const REQUIRE_FLOWS: &str = "STICKPIN_REQUIRE_FLOWS";

/// The tools that are available to the tests.
#[derive(Debug, Clone, Copy)]
pub struct Ready {
    /// Whether the npm packages are installed, so that tests must not skip them.
    pub npm: bool,
    /// Whether the pages of the flows are installed.
    pub flows: bool,
}

/// Installs what is missing.
pub fn setup() -> Result<Ready> {
    debian()?;
    let npm = npm()?;
    match flows::install() {
        Ok(()) => Ok(Ready { npm, flows: true }),
        Err(e) if std::env::var_os(REQUIRE_FLOWS).is_some() => Err(e),
        Err(e) => {
            eprintln!("setup: the flows will be skipped, in whole or in part: {e}");
            Ok(Ready { npm, flows: false })
        }
    }
}

/// Installs the npm packages below the target folder, unless exactly these are already there.
/// Returns false if npm is missing.
fn npm() -> Result<bool> {
    if !on_path("npm") {
        eprintln!("setup: npm is missing here; tests that need its packages are skipped");
        return Ok(false);
    }
    for (from, to) in NPM_PACKAGES {
        packages(&root().join(from), &target_dir()?.join(to))?;
    }
    Ok(true)
}

/// Installs the packages of one manifest, unless exactly these are already there.
pub fn packages(from: &Path, to: &Path) -> Result {
    std::fs::create_dir_all(to).with_path(to)?;
    // This file is written last, so that its presence means that the installation is complete.
    let done = to.join("installed.json");
    let lock = read(&from.join(NPM[1]))?;
    if is_current(&done, &lock) {
        return Ok(());
    }
    for name in NPM {
        std::fs::copy(from.join(name), to.join(name)).with_path(to)?;
    }
    // Install scripts of the packages do not run.
    run(Command::new("npm").args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(to))?;
    write(&done, &lock)
}

/// Returns whether a stamp has the wanted content.
pub fn is_current(stamp: &Path, expected: &str) -> bool {
    std::fs::read_to_string(stamp).is_ok_and(|found| found == expected)
}

/// Returns whether a program is on `PATH`, or a file exists; one folder in its path may be a
/// wildcard (`*`).
fn is_there(sign: &str) -> bool {
    let Some((above, below)) = sign.split_once("/*/") else {
        return on_path(sign) || sign.starts_with('/') && Path::new(sign).exists();
    };
    let folders = std::fs::read_dir(above).into_iter().flatten().flatten();
    folders.map(|folder| folder.path().join(below)).any(|file| file.exists())
}

/// Installs Debian packages if running as root; otherwise prints the command.
fn debian() -> Result {
    let heavy = if std::env::var_os(WITH_HEAVY).is_some() { HEAVY } else { "" };
    let lines = PACKAGES.lines().chain(heavy.lines()).filter(|line| !line.starts_with('#'));
    let missing: Vec<&str> = lines
        .filter_map(|line| line.split_once(' '))
        .filter(|(_, signs)| !signs.split(' ').any(is_there))
        .map(|(package, _)| package)
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
