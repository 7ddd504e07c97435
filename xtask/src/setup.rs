//! What a machine needs before the tests on real devices can run.

use crate::Result;
use crate::run::{on_path, output, run};
use std::process::Command;

/// A Debian package, and the program that shows that it is there.
const PACKAGES: &[(&str, &[&str])] = &[("chromium", &["chromium", "chromium-browser", "google-chrome"])];

/// Installs what is missing as root, prints the command otherwise.
pub fn setup() -> Result {
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
