//! `install-audit.jsonl`: what happened to each target that a run changed, preserved or failed to
//! change.

use crate::disk::Disk;
use crate::manifest::TargetKind;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use stickpin_session::Timestamp;

/// Why a run changes configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// A package manager installed another version.
    Update,
    /// The first command after the version changed.
    FirstRun,
    /// `stickpin uninstall`.
    Uninstall,
    /// `stickpin maintenance cleanup`, typed by a person.
    Manual,
    /// `stickpin install`.
    Install,
}

/// What happened, or is about to happen, to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Action {
    /// The entry or the skill is about to be removed or replaced.
    Removing,
    Removed,
    Updated,
    Added,
    Preserved,
    Failed,
}

/// The content of an audit line about a target.
#[derive(Debug, Clone)]
pub(crate) struct AuditEvent<'a> {
    pub(crate) harness: &'a str,
    pub(crate) path: &'a Path,
    pub(crate) target: TargetKind,
    pub(crate) action: Action,
    pub(crate) shape: Option<&'a str>,
    /// The digest of the configuration or the skill before the change.
    pub(crate) before: Option<String>,
    /// The digest of the configuration or the skill after the change.
    pub(crate) after: Option<String>,
    pub(crate) detail: Option<String>,
}

impl<'a> AuditEvent<'a> {
    pub(crate) fn new(harness: &'a str, path: &'a Path, target: TargetKind, action: Action) -> Self {
        Self { harness, path, target, action, shape: None, before: None, after: None, detail: None }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    ts: Timestamp,
    run_id: &'a str,
    reason: Reason,
    version_from: Option<&'a str>,
    version_to: &'a str,
    harness: &'a str,
    config_path: String,
    target: TargetKind,
    action: Action,
    server_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    shape_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256_before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256_after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// The audit log of one run.
#[derive(Debug)]
pub(crate) struct Audit {
    pub(crate) path: PathBuf,
    pub(crate) run_id: String,
    pub(crate) reason: Reason,
    /// The version whose cleanup was completed last, if known.
    pub(crate) version_from: Option<String>,
    pub(crate) version_to: &'static str,
    pub(crate) clock: fn() -> Timestamp,
}

impl Audit {
    /// Appends a line, which is on disk when this returns.
    pub(crate) fn record(&self, disk: &dyn Disk, event: &AuditEvent<'_>) -> io::Result<()> {
        let line = Line {
            ts: (self.clock)(),
            run_id: &self.run_id,
            reason: self.reason,
            version_from: self.version_from.as_deref(),
            version_to: self.version_to,
            harness: event.harness,
            config_path: event.path.display().to_string(),
            target: event.target,
            action: event.action,
            server_name: crate::harness::SERVER_NAME,
            shape_id: event.shape,
            sha256_before: event.before.clone(),
            sha256_after: event.after.clone(),
            detail: event.detail.clone(),
        };
        let mut bytes = serde_json::to_vec(&line)?;
        bytes.push(b'\n');
        disk.append(&self.path, &bytes)
    }
}

/// Returns the current time.
pub(crate) fn now() -> Timestamp {
    SystemTime::now().into()
}

/// Returns the SHA-256 digest in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
