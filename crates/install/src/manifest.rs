//! `manifest.json`: the record of what was written for each harness.

use crate::disk::{self, Disk, PRIVATE};
use crate::shape::{KnownServers, STATE_DIR_VARIABLE};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io;
use std::path::Path;
use stickpin_kernel::{Error, ErrorCode, Result, io_error};
use stickpin_session::Timestamp;

/// What is installed for a harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TargetKind {
    /// The skill.
    Skill,
    /// The entry for the MCP server.
    Mcp,
}

impl TargetKind {
    /// Returns the name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Skill => "skill",
            Self::Mcp => "mcp",
        }
    }
}

/// How a skill is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SkillMode {
    /// A link to the skill in the state directory.
    Link,
    /// A copy of the skill.
    Copy,
}

/// A record of one written target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    pub(crate) harness: String,
    pub(crate) target: TargetKind,
    pub(crate) path: String,
    /// The keys that lead to the entry, joined by `/`; `None` for a skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pointer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shape_id: Option<String>,
    /// The entry's value; `None` for a skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<Value>,
    /// The command that the entry starts; `None` for a skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cmd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mode: Option<SkillMode>,
    /// The SHA-256 digest of the skill; `None` for an entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) digest: Option<String>,
    pub(crate) version: String,
    pub(crate) installed_at: Timestamp,
}

/// The records of everything that is installed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Manifest(pub(crate) Vec<Record>);

impl Manifest {
    /// Reads a manifest; a missing file counts as an empty one.
    ///
    /// # Errors
    /// Returns `IO` if the file cannot be read or parsed.
    pub(crate) fn read(disk: &dyn Disk, path: &Path) -> Result<Self> {
        let bytes = disk.read(path).map_err(|e| io_error("read", path, &e))?;
        let Some(bytes) = bytes else { return Ok(Self::default()) };
        serde_json::from_slice(&bytes).map_err(|e| {
            Error::new(ErrorCode::Io, format!("`{}` cannot be parsed: {e}", path.display()))
                .hint("move the file away; entries that start a program by its absolute path then count as edited by hand and are kept")
        })
    }

    /// Writes the manifest.
    pub(crate) fn write(&self, disk: &dyn Disk, path: &Path) -> io::Result<()> {
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        disk::replace(disk, path, &bytes, PRIVATE)
    }

    /// Drops the records of a target. Returns whether there were any.
    pub(crate) fn drop(&mut self, harness: &str, target: TargetKind) -> bool {
        let count = self.0.len();
        self.0.retain(|record| record.harness != harness || record.target != target);
        self.0.len() != count
    }

    /// Drops the records of a target except the last. Returns whether there were others.
    pub(crate) fn settle(&mut self, harness: &str, target: TargetKind) -> bool {
        let of_target = |record: &Record| record.harness == harness && record.target == target;
        let Some(last) = self.0.iter().rposition(of_target) else { return false };
        let (count, mut at) = (self.0.len(), 0);
        self.0.retain(|record| {
            at += 1;
            at - 1 == last || !of_target(record)
        });
        self.0.len() != count
    }

    /// Returns the records of skills at a path.
    pub(crate) fn skills_at<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a Record> {
        self.0.iter().filter(move |record| record.target == TargetKind::Skill && record.path == path)
    }

    /// Returns whether a digest is that of a skill that was installed.
    pub(crate) fn has_digest(&self, digest: &str) -> bool {
        self.0.iter().any(|record| record.digest.as_deref() == Some(digest))
    }

    /// Returns the servers that entries of this installation can start.
    pub(crate) fn servers(&self, state_dir: Option<String>) -> KnownServers {
        let absolute = |record: &Record| record.cmd.clone().filter(|cmd| Path::new(cmd).is_absolute());
        let mut known = KnownServers {
            commands: vec!["stickpin".to_owned()],
            state_dirs: state_dir.into_iter().collect(),
        };
        known.commands.extend(self.0.iter().filter_map(absolute));
        for value in self.0.iter().filter_map(|record| record.value.as_ref()) {
            let env = ["env", "environment"].iter().filter_map(|name| value.get(name));
            let paths = env.filter_map(|env| env.get(STATE_DIR_VARIABLE)?.as_str());
            known.state_dirs.extend(paths.map(str::to_owned));
        }
        known
    }
}
