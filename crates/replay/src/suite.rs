//! Suites: finding scripts, running each in its own session, retrying failures, and reporting.

mod attempt;
mod find;

pub(crate) use attempt::Attempts;
use attempt::Worker;
pub(crate) use find::find;

use crate::report::model::{EndedEarly, FileReport, Outcome, Report, Shard, VERSION, millis};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use stickpin_client::{Progress, ProgressPart};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

/// The scripts to run, and how to run them.
pub(crate) struct Suite {
    /// The scripts in order, named as in reports.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) workers: usize,
    pub(crate) shard: Option<Shard>,
    pub(crate) fail_fast: bool,
    pub(crate) attempts: Attempts,
}

/// The state that the workers share.
struct SuiteState {
    suite: Suite,
    started: Instant,
    next: AtomicUsize,
    done: AtomicUsize,
    failed: AtomicBool,
    reports: Mutex<Vec<Option<FileReport>>>,
}

impl Suite {
    /// Runs the scripts. The report lists all of them, even after an interruption.
    pub(crate) async fn run(mut self) -> Report {
        let cancel = self.attempts.call.cancel.clone();
        self.attempts.call.cancel = cancel.child_token();
        // Cancels the workers when this future is dropped.
        let _workers = self.attempts.call.cancel.clone().drop_guard();
        let began_at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let names: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
        let (workers, shard) = (self.workers.clamp(1, self.files.len().max(1)), self.shard);
        let shared = Arc::new(SuiteState {
            reports: Mutex::new(self.files.iter().map(|_| None).collect()),
            suite: self,
            started: Instant::now(),
            next: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
        });
        let mut running = JoinSet::new();
        for worker in 1..=workers {
            let worker = Worker::new(&shared.suite.attempts, worker, workers == 1);
            let task = run_worker(Arc::clone(&shared), worker);
            match dedicated_runtime(workers) {
                Some(runtime) => running.spawn_blocking(move || runtime.block_on(task)),
                None => running.spawn(task),
            };
        }
        // A script whose worker panicked has no report and counts as not run.
        while running.join_next().await.is_some() {}
        let reports = std::mem::take(&mut *shared.reports.lock().unwrap_or_else(PoisonError::into_inner));
        let files = reports
            .into_iter()
            .zip(names)
            .map(|(report, name)| report.unwrap_or_else(|| FileReport::not_run(name)));
        let interrupted = cancel.is_cancelled();
        let failed_fast = shared.stops_after_failure().then_some(EndedEarly::FailFast);
        Report {
            version: VERSION,
            program: stickpin_wire::rpc::VERSION.to_owned(),
            started_at: u64::try_from(began_at.as_millis()).unwrap_or(u64::MAX),
            millis: millis(shared.started.elapsed()),
            workers,
            shard,
            ended_early: interrupted.then_some(EndedEarly::Interrupted).or(failed_fast),
            files: files.collect(),
        }
    }
}

impl SuiteState {
    fn stops_after_failure(&self) -> bool {
        self.suite.fail_fast && self.failed.load(Ordering::Relaxed)
    }
}

/// Returns the runtime for a worker's own thread; `None` if there is only one worker, or if the
/// runtime cannot be created. The worker and the daemon's thread for its connection wake each other
/// in turn and stay on one core. A thread that serves several workers would pull all of their
/// counterparts to its core.
fn dedicated_runtime(workers: usize) -> Option<Runtime> {
    if workers == 1 {
        return None;
    }
    // Without a runtime, the caller's thread does the work.
    Builder::new_current_thread().enable_all().build().ok()
}

/// Runs scripts one by one until none is left or the run ends early.
async fn run_worker(shared: Arc<SuiteState>, mut worker: Worker) {
    loop {
        let at = shared.next.fetch_add(1, Ordering::Relaxed);
        let Some(file) = shared.suite.files.get(at) else { return };
        if shared.suite.attempts.call.cancel.is_cancelled() || shared.stops_after_failure() {
            return;
        }
        let total = shared.suite.files.len();
        let mut progress = |line: String, lasting: bool, part: Option<ProgressPart>| {
            let done = shared.done.load(Ordering::Relaxed);
            // Fails only if the receiver is gone.
            let _ = shared.suite.attempts.call.progress.send(Progress { done, total, line, lasting, part });
        };
        let report = worker.run_script(file, at, shared.started, &mut progress).await;
        if matches!(report.outcome, Outcome::Failed | Outcome::Broken) {
            shared.failed.store(true, Ordering::Relaxed);
        }
        shared.done.fetch_add(1, Ordering::Relaxed);
        let steps = report.attempts.last().map_or(0, |attempt| attempt.steps.len());
        let part = ProgressPart { name: report.file.clone(), done: steps, total: steps };
        progress(crate::report::text::file_line(&report), true, Some(part));
        shared.reports.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(report);
    }
}

#[cfg(test)]
mod tests;
