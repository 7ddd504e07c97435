//! The parts of this machine's desktop that tests may use: private displays, and apps from the
//! system's packages.

use crate::skip::skipped;
use std::env;
use std::path::PathBuf;
use stickpin_backend_linux::{LinuxConfig, LinuxProvider};
use stickpin_process::find_on_path;

/// Returns a provider whose apps get private displays, if all of these programs are installed. If
/// one is missing, prints a message on stderr and returns `None`.
///
/// # Panics
/// Panics if one is missing although `STICKPIN_REQUIRE_DESKTOP` is set: a prepared machine must not
/// skip.
#[must_use]
pub fn desktop(programs: &[&str]) -> Option<LinuxProvider> {
    provider(programs, "STICKPIN_REQUIRE_DESKTOP")
}

/// Returns a [`desktop`] provider for large apps, which not every prepared machine has. These are
/// used only if `STICKPIN_HEAVY` or `STICKPIN_REQUIRE_HEAVY` is set; the latter also requires them.
///
/// # Panics
/// Panics when [`desktop`] does.
#[must_use]
pub fn heavy_desktop(programs: &[&str]) -> Option<LinuxProvider> {
    if env::var_os("STICKPIN_REQUIRE_HEAVY").is_none() && env::var_os("STICKPIN_HEAVY").is_none() {
        let why = format!("{} is large; STICKPIN_HEAVY=1 runs this", programs.join(", "));
        skipped("STICKPIN_REQUIRE_HEAVY", why);
        return None;
    }
    provider(programs, "STICKPIN_REQUIRE_HEAVY")
}

/// Returns a [`desktop`] provider for apps that are used wherever they are installed.
/// `STICKPIN_REQUIRE_HEAVY` requires them too.
///
/// # Panics
/// Panics when [`desktop`] does.
#[must_use]
pub fn installed_desktop(programs: &[&str]) -> Option<LinuxProvider> {
    provider(programs, "STICKPIN_REQUIRE_HEAVY")
}

fn provider(programs: &[&str], require: &str) -> Option<LinuxProvider> {
    let data = vec![PathBuf::from("/usr/share")];
    let config = LinuxConfig { path: env::var_os("PATH"), data, ..LinuxConfig::default() };
    are_installed(programs, require).then(|| LinuxProvider::new(config))
}

/// Returns whether these programs, and those that a private display needs, are installed. Prints a
/// message on stderr if one is missing.
pub(crate) fn are_installed(programs: &[&str], require: &str) -> bool {
    let path = env::var_os("PATH");
    let is_missing = |program: &&str| find_on_path(&[program], path.as_deref()).is_none();
    let mut missing: Vec<&str> =
        stickpin_x11desk::missing_tools(path.as_deref()).iter().map(|(program, _)| *program).collect();
    missing.extend(programs.iter().copied().filter(is_missing));
    if !missing.is_empty() {
        let missing = missing.join(", ");
        skipped(require, format!("{missing} is not on the path; `cargo xtask setup` installs it"));
    }
    missing.is_empty()
}
