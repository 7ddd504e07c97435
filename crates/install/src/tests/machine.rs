//! A machine with harnesses, and a disk that fails or stops at a chosen operation.

use crate::audit::Reason;
use crate::cleanup;
use crate::commands::{InstallOptions, UninstallOptions, install_into, uninstall_from};
use crate::disk::{Disk, RealDisk};
use crate::harness::{CLAUDE_CODE, CODEX, GEMINI, HARNESSES, Harness, OPENCODE};
use crate::manifest::TargetKind;
use crate::outcome::{Outcome, Status};
use crate::run::Run;
use crate::setup::Setup;
use crate::skill::SkillOptions;
use serde_json::Value;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The harnesses with a configuration.
pub(super) const CONFIGURED: [Harness; 4] = [CLAUDE_CODE, CODEX, GEMINI, OPENCODE];

const CLAUDE_FILE: &str = r#"{
  "numStartups": 42,
  "mcpServers": {
    "github": {
      "type": "http",
      "url": "https://example.org/mcp"
    }
  },
  "projects": {
    "/home/u/shop": { "mcpServers": { "stickpin": { "command": "mine" } } }
  }
}
"#;

const CODEX_FILE: &str = "# my settings
model = \"o3\" # fast

[mcp_servers.docs] # theirs
command = 'docs-server'
args = [
  \"--stdio\", # quiet
]

[profiles.deep]
model = \"o3-pro\"
";

const GEMINI_FILE: &str = "{
\t\"theme\": \"Default\", // mine
\t\"mcpServers\": {
\t\t/* docs */
\t\t\"docs\": { \"command\": \"docs-server\", \"trust\": true } // last
\t},
\t\"unknownKey\": [1,2,   3]
}";

const OPENCODE_FILE: &str = "{\r
  \"$schema\": \"https://example.org/config.json\",\r
  // servers\r
  \"mcp\": {\r
    \"docs\": {\"type\": \"local\", \"command\": [\"docs-server\"]},\r
  },\r
}\r
";

/// A home directory in which all harnesses are installed and configured.
pub(super) struct Machine {
    pub(super) setup: Setup,
    pub(super) _folder: TempDir,
}

impl Machine {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = fs::canonicalize(folder.path()).expect("a folder");
        let setup = Setup {
            state_dir: home.join(".local/state/stickpin"),
            program: home.join("bin/stickpin"),
            variables: [("PATH".to_owned(), home.join("bin").into_os_string())].into(),
            private: Vec::new(),
            home,
        };
        let machine = Self { setup, _folder: folder };
        machine.program("stickpin", "exit 0");
        machine.write(".claude/settings.json", "{}");
        for (harness, text) in CONFIGURED.iter().zip(machine.files()) {
            let path = machine.config(harness);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        machine
    }

    /// Returns the configurations of [`CONFIGURED`] before an installation.
    pub(super) fn files(&self) -> [&'static str; 4] {
        [CLAUDE_FILE, CODEX_FILE, GEMINI_FILE, OPENCODE_FILE]
    }

    pub(super) fn home(&self, path: &str) -> PathBuf {
        self.setup.home.join(path)
    }

    pub(super) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.home(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, text).expect("a file");
        path
    }

    pub(super) fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
        path
    }

    pub(super) fn config(&self, harness: &Harness) -> PathBuf {
        self.setup.config_path(harness.config.as_ref().expect("a configuration"))
    }

    pub(super) fn text(&self, harness: &Harness) -> String {
        fs::read_to_string(self.config(harness)).expect("a configuration")
    }

    pub(super) fn texts(&self) -> Vec<String> {
        CONFIGURED.iter().map(|harness| self.text(harness)).collect()
    }

    /// Registers the MCP server with these harnesses, or with all if none are given.
    pub(super) fn install(&self, harnesses: &[&'static str]) -> Vec<Outcome> {
        self.install_on(&RealDisk, HARNESSES, harnesses)
    }

    pub(super) fn install_on(
        &self,
        disk: &dyn Disk,
        table: &[Harness],
        harnesses: &[&'static str],
    ) -> Vec<Outcome> {
        let options = InstallOptions { harnesses: harnesses.to_vec(), mcp: true, skill: None, dry: false };
        install_into(disk, &self.setup, table, &options).expect("results")
    }

    pub(super) fn install_skill(&self, harnesses: &[&'static str], skill: SkillOptions) -> Vec<Outcome> {
        let options =
            InstallOptions { harnesses: harnesses.to_vec(), mcp: false, skill: Some(skill), dry: false };
        install_into(&RealDisk, &self.setup, HARNESSES, &options).expect("results")
    }

    pub(super) fn uninstall(&self, harnesses: &[&'static str], shared: bool) -> Vec<Outcome> {
        self.uninstall_on(&RealDisk, harnesses, shared)
    }

    pub(super) fn uninstall_on(
        &self,
        disk: &dyn Disk,
        harnesses: &[&'static str],
        shared: bool,
    ) -> Vec<Outcome> {
        let options = UninstallOptions { harnesses: harnesses.to_vec(), shared, dry: false };
        uninstall_from(disk, &self.setup, HARNESSES, &options).expect("results")
    }

    /// Cleans up as after an update.
    pub(super) fn clean(&self, table: &[Harness]) -> Option<String> {
        let mut run = Run::begin(&self.setup, &RealDisk, Reason::Update, false).expect("a run");
        cleanup::complete(&mut run, table, false)
    }

    /// Returns the lines of the audit log.
    pub(super) fn audit(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.setup.folder().join("install-audit.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("an audit line")).collect()
    }

    /// Returns the actions of the audit log.
    pub(super) fn actions(&self) -> Vec<String> {
        self.audit().iter().map(|line| line["action"].as_str().expect("an action").to_owned()).collect()
    }
}

/// Returns the statuses of the MCP entries, or of the skills.
pub(super) fn statuses(outcomes: &[Outcome], target: TargetKind) -> Vec<Status> {
    outcomes.iter().filter(|outcome| outcome.target == target).map(|outcome| outcome.status).collect()
}

/// A file operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Create,
    Rename,
    Append,
}

/// The file system, with a function that is called before each step and may fail or panic.
pub(super) struct HookedDisk<F>(pub(super) F);

impl<F> fmt::Debug for HookedDisk<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HookedDisk")
    }
}

impl<F: Fn(Step, &Path) -> io::Result<()>> Disk for HookedDisk<F> {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        RealDisk.read(path)
    }

    fn create(&self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
        (self.0)(Step::Create, path)?;
        RealDisk.create(path, bytes, mode)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        (self.0)(Step::Rename, to)?;
        RealDisk.rename(from, to)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        (self.0)(Step::Append, path)?;
        RealDisk.append(path, bytes)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }
}
