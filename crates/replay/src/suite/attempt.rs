//! One script of a suite: its attempts, each in its own session, and the files kept after failures.

use crate::divergence::Divergence;
use crate::plan::Plan;
use crate::report::model::{Attempt, FileReport, Outcome, Step, millis};
use crate::run::{CLOSE, RunEnd, RunOptions, RunResult, run, send_uncancelled};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use stickpin_client::{Call, ProgressPart};
use stickpin_kernel::{Error, Result, files};

/// A function that reads a script, given the built-in variables.
pub(crate) type MakePlan = dyn Fn(&Path, BTreeMap<String, String>) -> Result<Plan> + Send + Sync;

/// What all attempts have in common.
#[derive(Clone)]
pub(crate) struct Attempts {
    pub(crate) call: Call,
    pub(crate) plan: Arc<MakePlan>,
    /// The maximum number of retries of a failed script; `None` uses the script's own value.
    pub(crate) retries: Option<u32>,
    /// The time limit for an attempt; `None` uses the script's own value.
    pub(crate) timeout: Option<Duration>,
    /// How long a step waits for its target.
    pub(crate) wait: Duration,
    /// The folder for files of failed attempts.
    pub(crate) artifacts: Option<PathBuf>,
    /// The folder for pictures of every step.
    pub(crate) pictures: Option<PathBuf>,
}

/// A function that reports an event of a script: a line, whether the line stays on screen, and the
/// steps so far.
type ReportEvent<'a> = dyn FnMut(String, bool, Option<ProgressPart>) + Send + 'a;

/// A worker, which runs its scripts one by one.
pub(crate) struct Worker {
    attempts: Attempts,
    number: usize,
    /// The session of the previous attempt, if that attempt passed and left nothing open. Reusing
    /// the name costs less than creating a session, whose ref numbers must be written to disk.
    session: Option<String>,
}

impl Worker {
    /// Creates a worker. If it is not alone, it has its own connection, so that it does not wait
    /// for other workers' calls.
    pub(crate) fn new(attempts: &Attempts, number: usize, only_worker: bool) -> Self {
        let mut attempts = attempts.clone();
        if !only_worker {
            attempts.call.client = attempts.call.client.parallel_client();
        }
        Self { attempts, number, session: None }
    }

    /// Runs a script until it passes, has no retries left, is interrupted, or cannot be read.
    pub(crate) async fn run_script(
        &mut self,
        file: &Path,
        at: usize,
        suite_started: Instant,
        progress: &mut ReportEvent<'_>,
    ) -> FileReport {
        let name = file.display().to_string();
        let started = Instant::now();
        let mut report = FileReport::not_run(name.clone());
        let mut max_attempts = 1;
        let mut number = 0;
        while number < max_attempts {
            number += 1;
            let session = self.session.take().unwrap_or_else(|| self.attempts.new_session_name(self.number));
            // Closes the session even if this process is killed.
            self.attempts.call.client.bind(&session).await;
            let attempt_folder =
                |folder: &PathBuf| folder.join(slug(at, &name)).join(format!("attempt-{number}"));
            let artifacts = self.attempts.artifacts.as_ref().map(attempt_folder);
            let mut built_in = crate::commands::built_in_variables(file, &session);
            if let Some(folder) = &artifacts {
                built_in.insert("AD_ARTIFACTS".to_owned(), folder.display().to_string());
            }
            let plan = match (self.attempts.plan)(file, built_in) {
                Ok(plan) => plan,
                Err(error) => {
                    (report.outcome, report.error) = (Outcome::Failed, Some(error));
                    break;
                }
            };
            max_attempts = 1 + self.attempts.retries.or(plan.retries).unwrap_or(0);
            let pictures = self.attempts.pictures.as_ref().map(attempt_folder);
            let (attempt, reusable) = self
                .attempts
                .run_attempt(&plan, number, session, suite_started, artifacts.as_deref(), pictures, progress)
                .await;
            self.session = reusable.then(|| attempt.session.clone());
            let outcome = attempt.outcome;
            report.attempts.push(attempt);
            report.outcome = match outcome {
                Outcome::Passed if number > 1 => Outcome::Flaky,
                outcome => outcome,
            };
            if matches!(outcome, Outcome::Passed | Outcome::NotRun) {
                break;
            }
            if number < max_attempts {
                progress(format!("{name}: attempt {number} of {max_attempts} failed"), false, None);
            }
        }
        report.millis = millis(started.elapsed());
        report
    }
}

impl Attempts {
    /// Returns a session name that no other run uses now. The name contains the session of the call
    /// or else the caller's own session, this process's id, the worker's number and a counter.
    fn new_session_name(&self, worker: usize) -> String {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let prefix = self.call.session.as_ref().unwrap_or(&self.call.caller.own_session);
        let prefix: String = prefix.chars().take(32).collect();
        let prefix = prefix.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        format!("{prefix}-{:x}-{worker}.{number}", std::process::id())
    }

    /// Runs one attempt; also returns whether it passed and left nothing open.
    #[allow(clippy::too_many_arguments, reason = "each is of this attempt alone")]
    async fn run_attempt(
        &self,
        plan: &Plan,
        number: u32,
        session: String,
        suite_started: Instant,
        artifacts: Option<&Path>,
        pictures: Option<PathBuf>,
        progress: &mut ReportEvent<'_>,
    ) -> (Attempt, bool) {
        let started = Instant::now();
        let options = RunOptions {
            session: Some(session.clone()),
            isolate_sessions: true,
            wait: self.wait,
            deadline: self.timeout.or(plan.timeout_ms.map(Duration::from_millis)),
            pictures,
            cancel: self.call.cancel.clone(),
            ..RunOptions::new(self.call.caller.clone())
        };
        let mut watch = |step: &Step| {
            let part = ProgressPart { name: plan.file.clone(), done: step.number, total: plan.steps };
            progress(format!("{} {}", step.at, step.line), false, Some(part));
        };
        let result = run(plan, &*self.call.client, &options, &mut watch).await;
        let (duration, outcome) = (millis(started.elapsed()), result.end.outcome());
        if let Some(folder) = artifacts.filter(|_| outcome != Outcome::Passed) {
            self.take_failure_picture(&session, folder, &result).await;
        }
        let mut reusable = outcome == Outcome::Passed;
        for session in &result.open {
            // A session that is already lost is closed too. One that cannot be closed now is closed
            // later, when it is idle.
            reusable &= send_uncancelled(&self.call, CLOSE, json!({}), Some(session)).await.ok;
        }
        let (divergence, error) = match result.end {
            // The session is closed, so nothing can continue in it.
            RunEnd::Diverged(divergence) => (Some(Divergence { resume: None, ..*divergence }), None),
            RunEnd::Broken { error, .. } => (None, Some(error)),
            RunEnd::Passed | RunEnd::Stopped => (None, None),
        };
        let mut attempt = Attempt {
            number,
            session,
            outcome,
            start_offset: millis(started - suite_started),
            millis: duration,
            steps: result.steps,
            divergence,
            error,
            artifacts: None,
        };
        if let Some(folder) = artifacts.filter(|_| outcome != Outcome::Passed) {
            attempt.artifacts = Some(folder.to_owned());
            if let Err(error) = keep_artifacts(self.call.caller.file_roots.as_deref(), folder, &attempt) {
                // A run matters more than its files; a failure to write them is only reported.
                attempt.artifacts = None;
                progress(format!("{}: {error}", plan.file), true, None);
            }
        }
        (attempt, reusable)
    }

    /// Takes a picture of the screen after a failure.
    async fn take_failure_picture(&self, session: &str, folder: &Path, result: &RunResult) {
        let session = result.last_session.as_ref().map_or(session, |(session, _)| session);
        // Without the folder, there is no picture, and `keep_artifacts` reports why. A session that
        // is gone has no screen.
        if std::fs::create_dir_all(folder).is_ok() {
            let input = json!({ "path": folder.join("screen.png") });
            send_uncancelled(&self.call, "screenshot", input, Some(session)).await;
        }
    }
}

/// Writes the report of a failed attempt, and the screen of its divergence.
fn keep_artifacts(roots: Option<&[PathBuf]>, folder: &Path, attempt: &Attempt) -> Result<()> {
    let json = serde_json::to_vec_pretty(attempt)
        .map_err(|e| Error::internal(format!("cannot write the attempt as JSON: {e}")))?;
    files::write_within(roots, &folder.join("attempt.json"), &json)?;
    if let Some(screen) = attempt.divergence.as_ref().and_then(|d| d.screen.as_ref()) {
        files::write_within(roots, &folder.join("screen.txt"), screen.as_bytes())?;
    }
    Ok(())
}

/// Returns a folder name for a script. The position in the run distinguishes equal names.
fn slug(index: usize, name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!("{:03}-{}", index + 1, plain.trim_matches('-').chars().take(80).collect::<String>())
}
