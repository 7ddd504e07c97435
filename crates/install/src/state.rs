//! `cleanup-state.json`: the versions that last cleaned up and last refreshed the skill.

use crate::audit::now;
use crate::disk::{self, Disk, PRIVATE};
use crate::error::TargetError;
use crate::setup::Setup;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use stickpin_session::Timestamp;

/// The content of `cleanup-state.json`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CleanupState {
    /// The version whose cleanup was completed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cleanup_version: Option<String>,
    /// The version that last refreshed the installed skills. Only a person's command does so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) skill_version: Option<String>,
    /// When a failed cleanup is tried again. Until then, commands skip it at no cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retry_after: Option<Timestamp>,
    pub(crate) updated_at: Timestamp,
}

/// Milliseconds until a failed cleanup is tried again.
const RETRY: u64 = 10 * 60 * 1000;

impl CleanupState {
    fn path(setup: &Setup) -> PathBuf {
        setup.folder().join("cleanup-state.json")
    }

    /// Reads `cleanup-state.json`. Returns `None` if the file is missing, or cannot be read or
    /// parsed.
    pub(crate) fn read(disk: &dyn Disk, setup: &Setup) -> Option<Self> {
        serde_json::from_slice(&disk.read(&Self::path(setup)).ok()??).ok()
    }

    /// Returns whether a cleanup failed so recently that it is not tried again yet.
    pub(crate) fn is_deferred(&self) -> bool {
        // A clock that was set back must not defer the cleanup for long.
        let now = now().millis();
        self.retry_after.is_some_and(|at| (now..=now + RETRY).contains(&at.millis()))
    }

    /// Defers the next cleanup by [`RETRY`] milliseconds.
    pub(crate) fn defer(self) -> Self {
        Self { retry_after: Some(Timestamp::from_millis(now().millis() + RETRY)), ..self }
    }

    /// Writes `cleanup-state.json` with the current time.
    pub(crate) fn write(mut self, disk: &dyn Disk, setup: &Setup) -> Result<(), TargetError> {
        self.updated_at = now();
        let path = Self::path(setup);
        let failed = |e: &std::io::Error| TargetError::io("write", &path, e);
        let bytes = serde_json::to_vec(&self).map_err(|e| failed(&e.into()))?;
        disk::replace(disk, &path, &bytes, PRIVATE).map_err(|e| failed(&e))
    }
}
