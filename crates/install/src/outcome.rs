//! The outcome for one target.

use crate::error::TargetError;
use crate::manifest::TargetKind;
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What a run did with one target, or would do in a dry run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Added,
    AlreadyPresent,
    Updated,
    Removed,
    AlreadyAbsent,
    /// The target was kept, because its content is not what an installation writes.
    Preserved,
    /// An edited skill was kept; `--replace` replaces it.
    UpdateAvailable,
    /// The shared skill was kept: another harness reads it, or it was not installed for this
    /// harness.
    Skipped,
    Failed,
}

impl Status {
    /// Returns whether the run changed the target.
    pub(crate) fn is_change(self) -> bool {
        matches!(self, Self::Added | Self::Updated | Self::Removed)
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::AlreadyPresent => "already present",
            Self::Updated => "updated",
            Self::Removed => "removed",
            Self::AlreadyAbsent => "already absent",
            Self::Preserved => "preserved",
            Self::UpdateAvailable => "update available",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
        }
    }
}

/// The outcome for one target, with the reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Outcome {
    pub(crate) harness: &'static str,
    pub(crate) target: TargetKind,
    pub(crate) path: PathBuf,
    pub(crate) status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shape_id: Option<&'static str>,
    /// With `--print`, the entry that would be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entry: Option<Value>,
    pub(crate) message: String,
}

impl Outcome {
    pub(crate) fn new(
        harness: &'static str,
        target: TargetKind,
        path: &Path,
        status: Status,
        message: impl Into<String>,
    ) -> Self {
        let (path, message) = (path.to_owned(), message.into());
        Self { harness, target, path, status, shape_id: None, entry: None, message }
    }

    pub(crate) fn failure(
        harness: &'static str,
        target: TargetKind,
        path: &Path,
        error: &TargetError,
    ) -> Self {
        Self::new(harness, target, path, Status::Failed, error.to_string())
    }
}
