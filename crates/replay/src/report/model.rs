//! The report of a run: files, their attempts, and the steps of each attempt with observations.
//! `--json` prints this report, and all other reports are made from it.
//!
//! Text from an app is not escaped here: code that prints it must escape it. Times are in
//! milliseconds. Paths are absolute, except the names of scripts, which stay as given.

use crate::divergence::Divergence;
use crate::plan::SourceLocation;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;
use stickpin_kernel::Error;

/// The version of this format. It increases when a reader of the old format would misread the new
/// one.
pub const VERSION: u32 = 1;

/// A whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The format version, [`VERSION`].
    pub version: u32,
    /// The version of the program that ran the scripts.
    pub program: String,
    /// The start time, in milliseconds since the start of 1970 in UTC.
    pub started_at: u64,
    /// The duration.
    pub millis: f64,
    /// The maximum number of scripts that ran at the same time.
    pub workers: usize,
    /// Which part of the scripts was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// Why the run ended early; `None` if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_early: Option<EndedEarly>,
    /// The scripts of this run, ordered by name.
    pub files: Vec<FileReport>,
}

/// One of the parts into which a suite is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shard {
    /// The number of this part, from 1.
    pub number: usize,
    /// The number of parts.
    pub total: usize,
}

/// Why a run ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EndedEarly {
    /// The run was interrupted.
    Interrupted,
    /// With `--fail-fast`, a script failed or was broken.
    FailFast,
}

/// The outcome of a script or an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// The script passed at the first attempt, or the attempt passed.
    Passed,
    /// The script passed after a failed attempt.
    Flaky,
    /// A step failed for a reason other than [`Self::Broken`], the time ran out, or the script
    /// cannot be read or is for another platform.
    Failed,
    /// The browser, device, daemon or disk failed, which says nothing about the app.
    Broken,
    /// The script was not run, or not to its end.
    NotRun,
}

/// The report of one script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileReport {
    /// The file, as named or found.
    pub file: String,
    /// The outcome of the script, over all attempts.
    pub outcome: Outcome,
    /// The duration of all attempts.
    pub millis: f64,
    /// The attempts in order; empty if the script was not run or cannot be read.
    pub attempts: Vec<Attempt>,
    /// Why the script cannot be run at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Error>,
}

/// One run of a script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// The number of the attempt, from 1.
    pub number: u32,
    /// The session that the attempt ran in.
    pub session: String,
    /// The outcome of the attempt.
    pub outcome: Outcome,
    /// The start, relative to the start of the run.
    pub start_offset: f64,
    /// The duration.
    pub millis: f64,
    /// The executed steps in order; a step in a block appears once per round. Conditions of `if`
    /// blocks are left out.
    pub steps: Vec<Step>,
    /// The divergence that ended the attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergence: Option<Divergence>,
    /// Any other error that ended the attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Error>,
    /// The folder for the attempt's files; only with `--artifacts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifacts: Option<PathBuf>,
}

impl Attempt {
    /// Returns the error that ended the attempt.
    #[must_use]
    pub fn failure(&self) -> Option<Error> {
        self.divergence.as_ref().map(Divergence::error).or_else(|| self.error.clone())
    }
}

/// Converts a duration to milliseconds, the unit of the report.
pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// A step that was executed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// The number in the script, from 1. The steps of an included script are numbered in place of
    /// the `include` line.
    pub number: usize,
    /// The position of the step's line in the script.
    pub at: SourceLocation,
    /// The line with the names of its variables instead of their values.
    pub line: String,
    /// Whether the step succeeded.
    pub ok: bool,
    /// The start, relative to the start of the attempt.
    pub start_offset: f64,
    /// The duration.
    pub millis: f64,
    /// The recorded meanings of the step's targets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<String>,
    /// The text output of a command that only reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The receipt: what was observed since the action.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receipt: Vec<String>,
    /// A warning for the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// The error of a failed step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Error>,
    /// The changes that the step caused, in the format of `snapshot --diff`; only with `--report`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<String>,
    /// The screen after the step; only with `--report`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<Picture>,
}

/// A picture with the boxes of actionable elements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Picture {
    /// The PNG file, without annotations.
    pub path: PathBuf,
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
    /// The actionable elements.
    pub refs: Vec<RefBox>,
}

/// The bounding box of an element in a picture, in the picture's pixels. The box may extend beyond
/// the picture's edges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefBox {
    /// The ref, as in `@e12`.
    pub r#ref: String,
    /// The meaning of the element: `button "Delete" in row "Mail 1"`.
    pub meaning: String,
    /// The distance from the left edge.
    pub x: f64,
    /// The distance from the upper edge.
    pub y: f64,
    /// The width.
    pub width: f64,
    /// The height.
    pub height: f64,
}

/// The number of scripts by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the outcomes say it")]
pub struct Summary {
    pub passed: usize,
    pub flaky: usize,
    pub failed: usize,
    pub broken: usize,
    pub not_run: usize,
}

impl Report {
    /// Counts the scripts by outcome.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let count = |outcome| self.files.iter().filter(|f| f.outcome == outcome).count();
        Summary {
            passed: count(Outcome::Passed),
            flaky: count(Outcome::Flaky),
            failed: count(Outcome::Failed),
            broken: count(Outcome::Broken),
            not_run: count(Outcome::NotRun),
        }
    }
}

impl FileReport {
    /// Creates the report of a script that has not run yet.
    #[must_use]
    pub fn not_run(file: String) -> Self {
        Self { file, outcome: Outcome::NotRun, millis: 0.0, attempts: Vec::new(), error: None }
    }

    /// Returns the last attempt.
    #[must_use]
    pub fn last(&self) -> Option<&Attempt> {
        self.attempts.last()
    }
}
