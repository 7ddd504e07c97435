//! The peer: `agent-browser` from npm, on the same browser.

use super::measure::{chromium_path, resident};
use crate::Result;
use crate::run::{npm_install, output, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The release that the table compares with.
const PACKAGE: &str = "agent-browser@0.41.2";

/// An installed peer.
pub struct Peer {
    binary: PathBuf,
    home: PathBuf,
    browser: PathBuf,
}

impl Peer {
    /// Installs it below `dir` unless it is there; its install scripts stay off.
    pub fn fetch(dir: &Path) -> Result<Self> {
        let home = dir.join("home");
        std::fs::create_dir_all(&home).map_err(|e| format!("{}: {e}", home.display()))?;
        let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
        let binary = dir.join("node_modules/agent-browser/bin").join(format!("agent-browser-linux-{arch}"));
        if !binary.is_file() {
            npm_install(dir, PACKAGE)?;
            run(Command::new("chmod").arg("+x").arg(&binary))?;
        }
        let browser = chromium_path()?;
        Ok(Self { binary, home, browser })
    }

    #[allow(clippy::unused_self, reason = "the version belongs to this peer")]
    pub fn version(&self) -> &'static str {
        PACKAGE
    }

    /// The native binary, without the script that npm puts before it.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(args)
            .env("HOME", &self.home)
            .env("AGENT_BROWSER_EXECUTABLE_PATH", &self.browser)
            .env("AGENT_BROWSER_ARGS", "--no-sandbox");
        command
    }

    pub fn run(&self, args: &[&str]) -> Result {
        output(&mut self.command(args)).map(drop)
    }

    /// Resident bytes of its daemon.
    pub fn daemon_rss(&self) -> Result<u64> {
        let file = self.home.join(".agent-browser").join("default.pid");
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        resident(text.trim().parse().map_err(|e| format!("{}: {e}", file.display()))?)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Closing twice is no error for it; a failed bench must not leave a browser behind.
        if let Err(error) = self.run(&["close"]) {
            eprintln!("bench: {error}");
        }
    }
}
