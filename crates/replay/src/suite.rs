//! Many scripts: found, run over sessions of their own, tried again, and accounted for.

mod attempt;
mod find;

use attempt::Worker;
pub(crate) use attempt::{Attempts, Limits};
pub(crate) use find::find;

use crate::report::model::{EndedEarly, FileReport, Outcome, Report, Shard, VERSION};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use stickpin_client::Progress;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

/// What is run, and how.
pub(crate) struct Suite {
    /// As they are named in reports, in their order.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) workers: usize,
    pub(crate) shard: Option<Shard>,
    pub(crate) fail_fast: bool,
    pub(crate) attempts: Attempts,
}

/// What the workers share.
struct Shared {
    suite: Suite,
    began: Instant,
    next: AtomicUsize,
    done: AtomicUsize,
    failed: AtomicBool,
    reports: Mutex<Vec<Option<FileReport>>>,
}

impl Suite {
    /// Runs all of them, and accounts for each, also when it was stopped.
    pub(crate) async fn run(mut self) -> Report {
        let cancel = self.attempts.call.cancel.clone();
        self.attempts.call.cancel = cancel.child_token();
        // Workers end with whoever waits for them, however that ends.
        let _workers = self.attempts.call.cancel.clone().drop_guard();
        let began_at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let names: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
        let (workers, shard) = (self.workers.clamp(1, self.files.len().max(1)), self.shard);
        let shared = Arc::new(Shared {
            reports: Mutex::new(self.files.iter().map(|_| None).collect()),
            suite: self,
            began: Instant::now(),
            next: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
        });
        let mut running = JoinSet::new();
        for worker in 1..=workers {
            let worker = Worker::new(&shared.suite.attempts, worker, workers == 1);
            let work = work(Arc::clone(&shared), worker);
            match own_runtime(workers) {
                Some(runtime) => running.spawn_blocking(move || runtime.block_on(work)),
                None => running.spawn(work),
            };
        }
        // A worker that panicked leaves its files without a report: they count as not run.
        while running.join_next().await.is_some() {}
        let reports = std::mem::take(&mut *shared.reports.lock().unwrap_or_else(PoisonError::into_inner));
        let files = reports
            .into_iter()
            .zip(names)
            .map(|(report, name)| report.unwrap_or_else(|| FileReport::not_run(name)));
        let interrupted = cancel.is_cancelled();
        let failed_fast = shared.stops_after_failure();
        Report {
            version: VERSION,
            program: stickpin_wire::rpc::VERSION.to_owned(),
            began: u64::try_from(began_at.as_millis()).unwrap_or(u64::MAX),
            millis: shared.began.elapsed().as_secs_f64() * 1000.0,
            workers,
            shard,
            ended_early: match (interrupted, failed_fast) {
                (true, _) => Some(EndedEarly::Interrupted),
                (false, true) => Some(EndedEarly::FailFast),
                (false, false) => None,
            },
            files: files.collect(),
        }
    }
}

impl Shared {
    fn stops_after_failure(&self) -> bool {
        self.suite.fail_fast && self.failed.load(Ordering::Relaxed)
    }
}

/// Where a worker runs that is not the only one: on a thread of its own. It and the daemon's thread for its connection wake
/// each other in turn and stay on one core; a thread that serves several workers draws all of theirs to its own.
fn own_runtime(workers: usize) -> Option<Runtime> {
    if workers == 1 {
        return None;
    }
    // Where there is none to be had, the thread of the caller does the work.
    Builder::new_current_thread().enable_all().build().ok()
}

/// Takes one script after the other until none is left.
async fn work(shared: Arc<Shared>, mut worker: Worker) {
    loop {
        let at = shared.next.fetch_add(1, Ordering::Relaxed);
        let Some(file) = shared.suite.files.get(at) else { return };
        if shared.suite.attempts.call.cancel.is_cancelled() || shared.stops_after_failure() {
            return;
        }
        let total = shared.suite.files.len();
        let mut tell = |line: String, lasting: bool| {
            let done = shared.done.load(Ordering::Relaxed);
            // Whoever does not listen any more needs not know.
            let _ = shared.suite.attempts.call.progress.send(Progress { done, total, line, lasting });
        };
        let report = worker.file(file, at, shared.began, &mut tell).await;
        if matches!(report.outcome, Outcome::Failed | Outcome::Broken) {
            shared.failed.store(true, Ordering::Relaxed);
        }
        shared.done.fetch_add(1, Ordering::Relaxed);
        tell(crate::report::text::file_line(&report), true);
        shared.reports.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(report);
    }
}

#[cfg(test)]
mod tests;
