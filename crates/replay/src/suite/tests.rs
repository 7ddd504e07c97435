//! Suites on a client with prepared answers.

use super::*;
use crate::plan::Plan;
use crate::report::junit;
use crate::run::DEFAULT_WAIT;
use crate::vars::Vars;
use async_trait::async_trait;
use std::time::Duration;
use stickpin_client::{AllowAll, Call, Client, Progress};
use stickpin_kernel::{Caller, CancellationToken, Error, ErrorCode, Render, Request, Response};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// Answers everything. Presses fail while failures are left, and take time.
struct App {
    failures: Mutex<Vec<ErrorCode>>,
    active: AtomicUsize,
    max_active: AtomicUsize,
    closed: Mutex<Vec<String>>,
    /// The first sessions to open, up to this number, wait for each other.
    concurrent_opens: usize,
    opened: AtomicUsize,
    barrier: tokio::sync::Barrier,
    /// The number of additional clients.
    clients: AtomicUsize,
}

impl App {
    fn new(failures: &[ErrorCode]) -> Arc<Self> {
        Self::with_barrier(1, failures)
    }

    /// Creates a client whose first `meet` openings must be concurrent.
    fn with_barrier(meet: usize, failures: &[ErrorCode]) -> Arc<Self> {
        let failures = Mutex::new(failures.to_vec());
        Arc::new(Self {
            failures,
            active: AtomicUsize::new(0),
            max_active: AtomicUsize::new(0),
            closed: Mutex::default(),
            concurrent_opens: meet,
            opened: AtomicUsize::new(0),
            barrier: tokio::sync::Barrier::new(meet),
            clients: AtomicUsize::new(0),
        })
    }
}

#[async_trait]
impl Client for App {
    async fn call(&self, request: Request, _: CancellationToken) -> Response {
        let active = self.active.fetch_add(1, Ordering::Relaxed) + 1;
        self.max_active.fetch_max(active, Ordering::Relaxed);
        if request.command == "open" && self.opened.fetch_add(1, Ordering::Relaxed) < self.concurrent_opens {
            self.barrier.wait().await;
        }
        self.active.fetch_sub(1, Ordering::Relaxed);
        let session = request.session.clone().expect("a session of its own");
        if request.command == "close" {
            self.closed.lock().expect("no test panicked").push(session.clone());
        }
        let failure = match request.command.as_str() {
            "press" => self.failures.lock().expect("no test panicked").pop(),
            _ => None,
        };
        Response {
            ok: failure.is_none(),
            command: request.command,
            session: Some(session),
            exit: failure.map_or(0, ErrorCode::exit),
            error: failure.map(|code| Error::new(code, "it is told to")),
            ..Response::default()
        }
    }

    fn parallel_client(self: Arc<Self>) -> Arc<dyn Client> {
        self.clients.fetch_add(1, Ordering::Relaxed);
        self
    }
}

fn run(app: &Arc<App>, files: usize, workers: usize, retries: Option<u32>, fail_fast: bool) -> Report {
    run_reporting(app, files, workers, retries, fail_fast, unbounded_channel().0)
}

fn run_reporting(
    app: &Arc<App>,
    files: usize,
    workers: usize,
    retries: Option<u32>,
    fail_fast: bool,
    progress: UnboundedSender<Progress>,
) -> Report {
    let call = Call {
        client: Arc::clone(app) as Arc<dyn Client>,
        caller: Caller { own_session: "own".to_owned(), ..Caller::default() },
        session: None,
        render: Render::default(),
        variables: Default::default(),
        progress,
        policy: Arc::new(AllowAll),
        installation: Arc::default(),
        cancel: CancellationToken::new(),
    };
    let plan = |file: &std::path::Path, _| {
        Plan::read(file, &Vars::default(), &|_| {
            Ok("context retries=1\nopen sim:shop\npress text=a\n".to_owned())
        })
    };
    let files = (1..=files).map(|n| PathBuf::from(format!("{n}.ad"))).collect();
    let attempts = Attempts {
        call,
        plan: Arc::new(plan),
        retries,
        timeout: None,
        wait: DEFAULT_WAIT,
        artifacts: None,
        pictures: None,
    };
    let suite = Suite { files, workers, shard: None, fail_fast, attempts };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(suite.run())
}

fn outcomes(report: &Report) -> Vec<Outcome> {
    report.files.iter().map(|file| file.outcome).collect()
}

#[test]
fn progress_counts_the_steps_of_each_script() {
    let (progress, mut heard) = unbounded_channel();
    run_reporting(&App::new(&[]), 2, 1, None, false, progress);
    let mut events = Vec::new();
    while let Ok(Progress { done, total, lasting, part, line }) = heard.try_recv() {
        let part = part.unwrap_or_else(|| panic!("{line} belongs to no script"));
        assert_eq!(total, 2, "{line}");
        events.push((part.name, part.done, part.total, done, lasting));
    }
    let expected = [("1.ad", 1, 0, false), ("1.ad", 2, 0, false), ("1.ad", 2, 1, true)];
    let expected =
        expected.into_iter().chain([("2.ad", 1, 1, false), ("2.ad", 2, 1, false), ("2.ad", 2, 2, true)]);
    assert_eq!(
        events,
        Vec::from_iter(expected.map(|(name, step, done, lasting)| (name.to_owned(), step, 2, done, lasting)))
    );
}

#[test]
fn script_passing_after_failure_is_flaky() {
    let app = App::new(&[ErrorCode::ElementNotFound]);
    let report = run(&app, 2, 1, None, false);
    assert_eq!(outcomes(&report), [Outcome::Flaky, Outcome::Passed]);
    let sessions: Vec<&str> = report.files[0].attempts.iter().map(|a| a.session.as_str()).collect();
    assert!(sessions.len() == 2 && sessions[0] != sessions[1], "{sessions:?}");
    assert_eq!(report.files[1].attempts[0].session, sessions[1], "what passed and was closed goes on");
    let xml = junit::write(&report).expect("XML");
    assert!(xml.contains("<flakyFailure") && xml.contains("failures=\"0\""), "{xml}");
    let closed = app.closed.lock().expect("no test panicked");
    assert_eq!(closed.len(), 3, "every attempt closes what it opened: {closed:?}");
}

#[test]
fn failed_script_is_retried_up_to_the_limit() {
    let two = [ErrorCode::ElementNotFound, ErrorCode::BackendLost];
    let report = run(&App::new(&two), 1, 1, Some(0), false);
    assert_eq!((outcomes(&report), report.files[0].attempts.len()), (vec![Outcome::Broken], 1));
    let report = run(&App::new(&two), 1, 1, None, false);
    assert_eq!((outcomes(&report), report.files[0].attempts.len()), (vec![Outcome::Failed], 2));
    let report = run(&App::new(&two), 1, 1, Some(2), false);
    assert_eq!((outcomes(&report), report.files[0].attempts.len()), (vec![Outcome::Flaky], 3));
    let xml = junit::write(&run(&App::new(&[ErrorCode::BackendLost]), 1, 1, Some(0), false)).expect("XML");
    assert!(xml.contains("<error ") && xml.contains("errors=\"1\""), "{xml}");
}

#[test]
fn workers_run_concurrently_and_each_script_once() {
    for workers in [1, 3, 64] {
        let app = App::with_barrier(workers.min(7), &[]);
        let report = run(&app, 7, workers, None, false);
        assert_eq!(outcomes(&report), [Outcome::Passed; 7]);
        let names: Vec<String> = report.files.iter().map(|f| f.file.clone()).collect();
        assert_eq!(names, (1..=7).map(|n| format!("{n}.ad")).collect::<Vec<_>>());
        assert_eq!(app.max_active.load(Ordering::Relaxed), workers.min(7), "{workers} workers");
        assert_eq!(report.workers, workers.min(7));
        let clients = app.clients.load(Ordering::Relaxed);
        assert_eq!(clients, if workers > 1 { workers.min(7) } else { 0 }, "{workers} workers");
    }
}

#[test]
fn fail_fast_starts_no_script_after_a_failure() {
    let report = run(&App::new(&[ErrorCode::ElementNotFound]), 3, 1, Some(0), true);
    assert_eq!(outcomes(&report), [Outcome::Failed, Outcome::NotRun, Outcome::NotRun]);
    assert_eq!(report.ended_early, Some(EndedEarly::FailFast));
    // The report can be read back unchanged.
    let json = serde_json::to_string(&report).expect("JSON");
    let read: Report = serde_json::from_str(&json).expect("a report");
    assert_eq!((outcomes(&read), read.ended_early), (outcomes(&report), report.ended_early));
    assert_eq!(read.files[0].attempts[0].divergence, report.files[0].attempts[0].divergence);
}

#[test]
fn suite_duration_covers_all_attempts() {
    let report = run(&App::new(&[]), 2, 1, None, false);
    assert!(report.files.iter().map(|f| f.millis).sum::<f64>() <= report.millis + 1.0, "{report:?}");
    assert!(
        Duration::from_millis(report.started_at) > Duration::from_secs(1_700_000_000),
        "{}",
        report.started_at
    );
}
