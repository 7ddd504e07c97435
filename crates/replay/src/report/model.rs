//! The account of a run of scripts, as it is written with `--json` and as every report is made from it: files, their
//! attempts, the steps of each with what was seen.
//!
//! All text that an app showed is as the app showed it: who prints it escapes it. Times are in milliseconds; paths are
//! absolute, except the names of scripts, which are as they were given.

use crate::divergence::Divergence;
use crate::plan::Place;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use stickpin_kernel::Error;

/// The version of this form. It grows when a reader of the old one would misread the new one.
pub const VERSION: u32 = 1;

/// A whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// [`VERSION`].
    pub version: u32,
    /// The version of the program that ran it.
    pub program: String,
    /// When it began, in milliseconds since 1970 (UTC).
    pub began: u64,
    /// How long it took.
    pub millis: f64,
    /// How many sessions ran at the same time.
    pub workers: usize,
    /// Which part of all files this was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// Why it ended before its end; none if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_early: Option<EndedEarly>,
    /// Each script, in the order of their names.
    pub files: Vec<FileReport>,
}

/// One part of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shard {
    /// From 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
}

/// Why a run ended before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EndedEarly {
    /// Somebody stopped it.
    Interrupted,
    /// A script failed (`--fail-fast`).
    FailFast,
}

/// How a script did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// Every step did what it says, the first time.
    Passed,
    /// It passed after it had failed.
    Flaky,
    /// The app is another one than was recorded, or the script cannot be read.
    Failed,
    /// The machinery failed (browser, device, disk): it says nothing about the app.
    Broken,
    /// It was not run, or not to its end.
    NotRun,
}

/// A script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileReport {
    /// As it was named or found.
    pub file: String,
    /// How it did.
    pub outcome: Outcome,
    /// How long all attempts took.
    pub millis: f64,
    /// In their order; none if it was not run or cannot be read.
    pub attempts: Vec<Attempt>,
    /// Why it cannot be run at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Error>,
}

/// One run of a script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// From 1.
    pub number: u32,
    /// The session that it had.
    pub session: String,
    /// How it ended.
    pub outcome: Outcome,
    /// When it began, since the beginning of the whole run.
    pub began: f64,
    /// How long it took.
    pub millis: f64,
    /// What was tried, in its order; a step of a block again each time.
    pub steps: Vec<Step>,
    /// What a step found instead of what was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergence: Option<Divergence>,
    /// What failed otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Error>,
    /// Where its files are (`--artifacts`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifacts: Option<PathBuf>,
}

/// A step that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Its number in the script, from 1; includes are counted where they stand.
    pub number: usize,
    /// Where it stands.
    pub at: Place,
    /// The line, with its variables and not what is in them.
    pub line: String,
    /// Whether it did what it says.
    pub ok: bool,
    /// When it began, since the beginning of its attempt.
    pub began: f64,
    /// How long it took.
    pub millis: f64,
    /// What its targets were when it was recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<String>,
    /// What the command answered, for those that only read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// What was seen since the act.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receipt: Vec<String>,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// What failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Error>,
    /// What changed by it, as `snapshot --diff` says it (with a report).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<String>,
    /// What was to be seen after it (with a report).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<Picture>,
}

/// A picture with the places of what could be acted on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Picture {
    /// The PNG, nothing drawn into it.
    pub path: PathBuf,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// What could be acted on.
    pub refs: Vec<RefBox>,
}

/// Where an element is in a picture, in its pixels. It may reach over the edge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefBox {
    /// `@e12`.
    pub r#ref: String,
    /// What it is: `button "Delete" in row "Mail 1"`.
    pub meaning: String,
    /// From the left edge.
    pub x: f64,
    /// From the upper edge.
    pub y: f64,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

/// How many scripts did how.
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
    /// How many scripts did how.
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
    /// A script that was not run yet.
    #[must_use]
    pub fn not_run(file: String) -> Self {
        Self { file, outcome: Outcome::NotRun, millis: 0.0, attempts: Vec::new(), error: None }
    }

    /// The last attempt.
    #[must_use]
    pub fn last(&self) -> Option<&Attempt> {
        self.attempts.last()
    }
}
