//! Finds the browser program.
//!
//! The program configured with `STICKPIN_CHROMIUM`, if any, is the only candidate. Otherwise the
//! search tries each name of [`NAMES`] in every directory of `PATH`, then the usual install
//! locations in [`INSTALL_PATHS`].

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_process::{find_on_path, is_program};

/// Program names, in order of preference.
const NAMES: &[&str] =
    &["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "microsoft-edge"];

/// Install locations that may not be on `PATH`.
const INSTALL_PATHS: &[&str] = &[
    "/usr/bin/chromium",
    "/usr/lib/chromium/chromium",
    "/usr/bin/google-chrome-stable",
    "/opt/google/chrome/chrome",
    "/opt/chromium.org/chromium/chrome",
    "/snap/bin/chromium",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
];

/// Finds the browser to start.
///
/// # Errors
/// Returns `TOOL_MISSING` when the configured program is unusable, or when no browser is found.
pub(crate) fn find_chromium(configured: Option<&Path>, path: Option<&OsStr>) -> Result<PathBuf> {
    if let Some(program) = configured {
        if is_program(program) {
            return Ok(program.to_owned());
        }
        let what = if program.exists() { "is not a program" } else { "does not exist" };
        return Err(Error::new(
            ErrorCode::ToolMissing,
            format!("the browser named by STICKPIN_CHROMIUM {what}: {}", program.display()),
        )
        .hint(
            "run `stickpin daemon stop`, then unset STICKPIN_CHROMIUM or set it to a Chromium or Chrome program",
        ));
    }
    let installed = || INSTALL_PATHS.iter().map(PathBuf::from).find(|program| is_program(program));
    find_on_path(NAMES, path).or_else(installed).ok_or_else(|| {
        Error::new(ErrorCode::ToolMissing, "no supported browser was found (Chromium, Chrome or Edge)")
            .hint(install_hint())
    })
}

/// The oldest supported version of Chromium. Older versions do not report the start of a
/// navigation, leave a page waiting after a refused file chooser, and report elements hidden by
/// `visibility` as shown.
pub(crate) const MIN_VERSION: u32 = 134;

/// Refuses a browser version that is too old. Expects the version text as the browser reports it,
/// and accepts text without a version.
///
/// # Errors
/// Returns `TOOL_MISSING`, naming the version found and the version needed.
pub(crate) fn check_version(version_text: &str) -> Result<()> {
    let numbers = version_text.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    let version = numbers.filter(|n| n.contains('.')).find_map(|n| n.split('.').next()?.parse::<u32>().ok());
    match version {
        Some(version) if version < MIN_VERSION => Err(Error::new(
            ErrorCode::ToolMissing,
            format!("the browser is version {version}, but {MIN_VERSION} or newer is required"),
        )
        .hint(install_hint())),
        _ => Ok(()),
    }
}

/// Returns the hint with the command that installs a browser. The daemon must be stopped before the
/// variable is set, because a daemon keeps the environment with which it was started.
pub(crate) fn install_hint() -> &'static str {
    if cfg!(target_os = "macos") {
        "run `brew install --cask chromium`; or run `stickpin daemon stop`, then set STICKPIN_CHROMIUM to the browser"
    } else {
        "run `apt install chromium`; or run `stickpin daemon stop`, then set STICKPIN_CHROMIUM to the browser"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn program(folder: &Path, name: &str, mode: u32) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn a_browser_that_is_too_old_is_refused_with_both_versions() {
        for new in
            ["HeadlessChrome/134.0.1.2", "Chromium 156.0.8078.79 built on Debian", "Chrome", "Edg/140.1"]
        {
            check_version(new).unwrap();
        }
        for old in ["Chrome/133.0.6943.53", "Google Chrome 99.0.1 "] {
            let error = check_version(old).unwrap_err();
            assert_eq!(error.code, ErrorCode::ToolMissing);
            assert!(error.message.ends_with(", but 134 or newer is required"), "{error}");
        }
        assert!(check_version("Chromium 99.0").unwrap_err().message.contains("version 99,"));
    }

    #[test]
    fn the_configured_program_is_the_only_candidate() {
        let dir = tempfile::tempdir().unwrap();
        let ours = program(dir.path(), "mine", 0o755);
        assert_eq!(find_chromium(Some(&ours), None).unwrap(), ours);
        let error = find_chromium(Some(&dir.path().join("gone")), None).unwrap_err();
        assert_eq!(error.code, ErrorCode::ToolMissing);
        assert!(error.message.contains("does not exist"), "{error}");
        let plain = program(dir.path(), "plain", 0o644);
        let error = find_chromium(Some(&plain), None).unwrap_err();
        assert!(error.message.contains("is not a program"), "{error}");
    }
}
