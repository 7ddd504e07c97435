//! The peer: `agent-browser` from npm, on the same browser.

use super::measure::{Tool, chromium};
use crate::Result;
use crate::run::{OnPath as _, npm_install, run};
use std::path::Path;
use std::process::Command;

/// The release that the table compares with.
pub const PACKAGE: &str = "agent-browser@0.41.2";

/// Installs the peer below `dir` if it is missing. Returns the native binary, without npm's wrapper
/// script.
pub fn fetch(dir: &Path) -> Result<Tool> {
    let home = dir.join("home");
    std::fs::create_dir_all(&home).with_path(&home)?;
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let program = dir.join("node_modules/agent-browser/bin").join(format!("agent-browser-linux-{arch}"));
    if !program.is_file() {
        npm_install(dir, PACKAGE)?;
        run(Command::new("chmod").arg("+x").arg(&program))?;
    }
    Ok(Tool {
        program,
        env: vec![
            ("HOME", home.clone().into()),
            ("AGENT_BROWSER_EXECUTABLE_PATH", chromium()?.into()),
            ("AGENT_BROWSER_ARGS", "--no-sandbox".into()),
        ],
        end: &["close"],
        pid: home.join(".agent-browser/default.pid"),
        folder: home,
    })
}
