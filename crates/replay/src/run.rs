//! Runs a plan. Each step waits for an actionable target, checks it against the recording, and acts
//! on it. A step waits for the app to settle afterwards only if its line requires this: otherwise,
//! the next step's wait is enough.

mod calls;
mod run_state;

use crate::divergence::Divergence;
use crate::plan::{Item, Plan, Step};
use crate::position::Position;
use crate::report::model::{self, millis};
use crate::script::Block;
use calls::expectations;
pub(crate) use calls::send_uncancelled;
pub use run_state::RepairedScript;
use run_state::RunState;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use stickpin_client::Client;
use stickpin_kernel::{
    Caller, CancellationToken, Dispatched, Effect, Error, ErrorCode, RefsEnvelope, Render, Response,
};

/// The default time that a step waits for its target.
pub const DEFAULT_WAIT: Duration = Duration::from_secs(5);

/// The interval at which a query is repeated until it returns the answer that the script expects.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// How to run a plan.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The caller of the run.
    pub caller: Caller,
    /// The session; `None` for the caller's own.
    pub session: Option<String>,
    /// Whether the sessions that the script names belong to this run. The names of such sessions
    /// get this run's session name as a prefix.
    pub isolate_sessions: bool,
    /// The position at which the run begins.
    pub from: Position,
    /// The ranges of refs that the caller already has. Steps may use these refs like the refs that
    /// this run is given.
    pub client_refs: Vec<(u32, u32)>,
    /// The default time that a step waits for its target to exist and be actionable.
    pub wait: Duration,
    /// The time limit of the run.
    pub deadline: Option<Duration>,
    /// Whether to skip a `close` at the end.
    pub keep_session: bool,
    /// How to render the screen of a divergence.
    pub render: Render,
    /// The folder for the picture taken after each step; if `None`, no pictures are taken.
    pub pictures: Option<PathBuf>,
    /// Ends the run at the next safe point.
    pub cancel: CancellationToken,
}

impl RunOptions {
    /// Creates options with which the whole plan runs in the caller's own session.
    #[must_use]
    pub fn new(caller: Caller) -> Self {
        Self {
            caller,
            session: None,
            isolate_sessions: false,
            from: Position::step(1),
            client_refs: Vec::new(),
            wait: DEFAULT_WAIT,
            deadline: None,
            keep_session: false,
            render: Render::default(),
            pictures: None,
            cancel: CancellationToken::new(),
        }
    }
}

/// How a run ended.
#[derive(Debug)]
pub enum RunEnd {
    /// The run reached its end: no step failed, except in rounds that `retry` repeated.
    Passed,
    /// A step failed for any reason other than [`Self::Broken`]: for example, it found something
    /// other than what was recorded, or the time ran out.
    Diverged(Box<Divergence>),
    /// The script is for another platform, or the device, daemon or disk failed, as [`is_broken`]
    /// decides. Neither case says anything about the app.
    Broken {
        /// The number of the step.
        step: usize,
        /// The error.
        error: Error,
    },
    /// The run was cancelled.
    Stopped,
}

impl RunEnd {
    /// Returns the outcome of a script whose run ended this way.
    #[must_use]
    pub fn outcome(&self) -> model::Outcome {
        match self {
            Self::Passed => model::Outcome::Passed,
            Self::Broken { error, .. } if is_broken(error.code) => model::Outcome::Broken,
            Self::Broken { .. } | Self::Diverged(_) => model::Outcome::Failed,
            Self::Stopped => model::Outcome::NotRun,
        }
    }
}

/// The result of a run.
#[derive(Debug)]
pub struct RunResult {
    /// The executed steps in order; a step in a block appears once per round. Conditions of `if`
    /// blocks are left out.
    pub steps: Vec<model::Step>,
    /// How the run ended.
    pub end: RunEnd,
    /// The refs in the screen and suggestions of a divergence, for clients that pin.
    pub refs: Option<RefsEnvelope>,
    /// The session of the last step and the session's state directory, as responses named them.
    pub last_session: Option<(String, PathBuf)>,
    /// The sessions that the run opened and that are still open.
    pub open: BTreeSet<String>,
    /// The repaired scripts that the last `close` of the run wrote.
    pub repaired: Vec<RepairedScript>,
}

/// Runs a plan. `on_step` receives every step when it is finished.
pub async fn run(
    plan: &Plan,
    client: &dyn Client,
    options: &RunOptions,
    on_step: &mut (dyn FnMut(&model::Step) + Send),
) -> RunResult {
    let mut runner = Runner {
        plan,
        client,
        options,
        watch: on_step,
        started: Instant::now(),
        steps: Vec::new(),
        start: Some(options.from.clone()),
        rounds: Vec::new(),
        state: RunState::new(options.client_refs.clone()),
    };
    let end = match runner.run_all().await {
        Ok(()) => RunEnd::Passed,
        Err(StopReason::Interrupted) => RunEnd::Stopped,
        Err(StopReason::Broken { step, error }) => RunEnd::Broken { step, error },
        Err(StopReason::Failed(step, error)) => {
            RunEnd::Diverged(Box::new(runner.describe_divergence(&step, error).await))
        }
    };
    let Runner { steps, state: RunState { refs, last_session, open, repaired, .. }, .. } = runner;
    RunResult { steps, end, refs, last_session, open, repaired }
}

/// Why the run stops before its end.
enum StopReason {
    Failed(Box<Step>, Error),
    Broken { step: usize, error: Error },
    Interrupted,
}

struct Runner<'r> {
    plan: &'r Plan,
    client: &'r dyn Client,
    options: &'r RunOptions,
    watch: &'r mut (dyn FnMut(&model::Step) + Send),
    started: Instant,
    steps: Vec<model::Step>,
    /// The start position, until it is reached.
    start: Option<Position>,
    /// The current rounds of the enclosing blocks, outermost first. They are kept when a step
    /// fails.
    rounds: Vec<u32>,
    state: RunState,
}

impl Runner<'_> {
    async fn run_all(&mut self) -> Result<(), StopReason> {
        let plan = self.plan;
        if let (Some(platform), Some(first)) = (plan.platform.as_deref(), plan.first_step()) {
            self.check_platform(platform, first).await?;
        }
        self.run_items(&plan.items, true).await
    }

    /// Fails if the host lists its platforms and this one is not among them, or if the list cannot
    /// be read because the host is broken.
    async fn check_platform(&mut self, platform: &str, first: &Step) -> Result<(), StopReason> {
        let capabilities = self.query(first, "capabilities", json!({}), None).await;
        if let Some(error) = capabilities.error.filter(|e| is_broken(e.code)) {
            return Err(StopReason::Broken { step: first.number, error });
        }
        let kinds = capabilities.output.as_ref().and_then(|output| output["platforms"].as_array());
        let kinds: Vec<&str> = kinds.into_iter().flatten().filter_map(|p| p["kind"].as_str()).collect();
        if kinds.is_empty() || kinds.contains(&platform) {
            return Ok(());
        }
        let error = platform_error(platform, format_args!("this host supports only {}", kinds.join(", ")));
        Err(StopReason::Broken { step: first.number, error })
    }

    async fn run_items(&mut self, items: &[Item], outermost: bool) -> Result<(), StopReason> {
        for (i, item) in items.iter().enumerate() {
            if self.start.as_ref().is_some_and(|begins| item.last_step() < begins.step) {
                continue;
            }
            match item {
                Item::Step(step) => {
                    self.start = None;
                    let last = outermost && i + 1 == items.len();
                    if last && self.options.keep_session && step.line.entry.spec.name == CLOSE {
                        continue;
                    }
                    self.run_step(step).await?;
                }
                Item::Block(Block::Repeat(times), items) => {
                    for round in self.first_round()..=*times {
                        self.run_round(items, round).await?;
                    }
                }
                Item::Block(Block::Retry(times), items) => {
                    let (mut round, depth) = (self.first_round(), self.rounds.len());
                    loop {
                        match self.run_round(items, round).await {
                            Err(StopReason::Failed(..)) if round < *times && !self.is_past_deadline() => {
                                self.rounds.truncate(depth);
                                round += 1;
                            }
                            result => break result?,
                        }
                    }
                }
                Item::Block(Block::If(_, asked), items) => {
                    let inside = self.start.as_ref().is_some_and(|begins| asked.number < begins.step);
                    if inside || self.condition_holds(asked).await? {
                        Box::pin(self.run_items(items, false)).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the round in which the run enters a block.
    fn first_round(&mut self) -> u32 {
        let start = self.start.as_mut().filter(|begins| !begins.rounds.is_empty());
        start.map_or(1, |begins| begins.rounds.remove(0))
    }

    async fn run_round(&mut self, items: &[Item], round: u32) -> Result<(), StopReason> {
        self.rounds.push(round);
        Box::pin(self.run_items(items, false)).await?;
        self.rounds.pop();
        Ok(())
    }

    /// Returns whether the condition of an `if` holds now.
    async fn condition_holds(&mut self, condition: &Step) -> Result<bool, StopReason> {
        self.start = None;
        // The effects of an earlier action may still be pending.
        self.wait_until_quiet(condition).await;
        let response = self.send(self.step_request(condition)).await;
        self.check_may_continue(condition)?;
        if let Some(error) = response.error.filter(|e| is_broken(e.code)) {
            return Err(StopReason::Broken { step: condition.number, error });
        }
        // An error, such as an ambiguous target, does not fulfill the condition.
        Ok(response.ok && response.exit == 0)
    }

    async fn run_step(&mut self, step: &Step) -> Result<(), StopReason> {
        self.check_may_continue(step)?;
        let step_started = Instant::now();
        let response = match self.state.unknown_ref(step) {
            Some(error) => Response { exit: error.code.exit(), error: Some(error), ..Response::default() },
            None => self.send_with_retries(step).await,
        };
        let interrupted = self.options.cancel.is_cancelled();
        let error = self.step_failure(step, &response);
        if let Some(error) = self.platform_mismatch(step, &response).await {
            return Err(StopReason::Broken { step: step.number, error });
        }
        let mut report = model::Step {
            number: step.number,
            at: step.at.clone(),
            line: step.shown.clone(),
            ok: error.is_none(),
            start_offset: millis(step_started - self.started),
            millis: millis(step_started.elapsed()),
            expected: step.expected.clone(),
            output: response.text.filter(|_| response.ok && step.line.entry.spec.effect == Effect::Reads),
            receipt: response.receipt,
            warning: response.warning,
            error: error.clone(),
            changes: None,
            picture: None,
        };
        if let Some(folder) = self.options.pictures.as_ref().filter(|_| !interrupted) {
            self.observe_step(step, folder, &mut report).await;
        }
        (self.watch)(&report);
        self.steps.push(report);
        match error {
            None => Ok(()),
            Some(_) if interrupted => Err(StopReason::Interrupted),
            Some(error) if is_broken(error.code) => Err(StopReason::Broken { step: step.number, error }),
            Some(error) => Err(StopReason::Failed(Box::new(step.clone()), error)),
        }
    }

    /// Sends a step's command. An action waits for its target. A query without a timeout of its own
    /// is repeated for up to [`RunOptions::wait`], until it returns the answer that the script
    /// expects.
    async fn send_with_retries(&mut self, step: &Step) -> Response {
        let entry = step.line.entry;
        // A command that waits has its own timeout.
        let waits = entry.fields().iter().any(|f| f.name == "timeout" && f.default.is_none());
        let acts = entry.spec.effect == Effect::Mutates;
        let mut request = self.step_request(step);
        request.expect = expectations(step);
        if acts && waits && !self.options.wait.is_zero() {
            let wait = u64::try_from(self.options.wait.as_millis()).unwrap_or(u64::MAX);
            request.input.entry("timeout").or_insert_with(|| Value::from(wait));
        }
        let until = Instant::now() + self.options.wait;
        loop {
            let response = self.send(request.clone()).await;
            let may_retry =
                response.exit != 0 && response.error.as_ref().is_none_or(|e| may_appear_later(e.code));
            let is_over = self.is_past_deadline() || self.options.cancel.is_cancelled();
            if acts || waits || !may_retry || Instant::now() >= until || is_over {
                return response;
            }
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
    }

    /// Returns why a step failed. Records a step that succeeded, and returns `None`.
    fn step_failure(&mut self, step: &Step, response: &Response) -> Option<Error> {
        if response.ok && response.exit == 0 {
            self.state.record_step(step, response);
            return None;
        }
        if self.is_past_deadline() && response.error.as_ref().is_none_or(|e| !is_broken(e.code)) {
            return Some(self.deadline_error(step));
        }
        Some(response.error.clone().unwrap_or_else(|| {
            let text = response.text.as_deref().unwrap_or_default();
            Error::replay_divergence(text.to_owned())
        }))
    }

    /// Returns an error if the opened app is on a platform other than the script's.
    async fn platform_mismatch(&mut self, step: &Step, response: &Response) -> Option<Error> {
        let expected = self.plan.platform.as_deref()?;
        if !step.line.entry.begins_session() || !response.ok {
            return None;
        }
        let mut request = self.step_request(step);
        (request.command, request.input) = ("session show".to_owned(), Map::new());
        let session = self.send(request).await.output?;
        let kind = session["kind"].as_str().filter(|kind| *kind != expected)?;
        Some(platform_error(expected, format_args!("the session's platform is {kind}")))
    }

    /// Checks whether the run may continue.
    fn check_may_continue(&self, step: &Step) -> Result<(), StopReason> {
        if self.options.cancel.is_cancelled() {
            return Err(StopReason::Interrupted);
        }
        if self.is_past_deadline() {
            return Err(StopReason::Failed(Box::new(step.clone()), self.deadline_error(step)));
        }
        Ok(())
    }

    fn is_past_deadline(&self) -> bool {
        self.options.deadline.is_some_and(|most| self.started.elapsed() >= most)
    }

    fn deadline_error(&self, step: &Step) -> Error {
        let limit = self.options.deadline.unwrap_or_default().as_millis();
        Error::timeout(format!("the script exceeded {limit} ms at {}", step.at))
            .hint("allow more time with `--timeout MS`, or with `context timeout=MS` before the first command of the script")
            .dispatched(Dispatched::Unknown)
    }
}

/// The command that ends a session.
pub(crate) const CLOSE: &str = "close";

fn platform_error(expected: &str, found: fmt::Arguments<'_>) -> Error {
    Error::unsupported(format!("the script is for {}, but {found}", stickpin_tree::quote(expected)))
        .hint("correct `platform=...` in the script's `context` line (in a Maestro flow, a `url` means the platform `web`)")
}

/// Returns whether a query that failed with this code may succeed when it is repeated.
fn may_appear_later(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::ElementNotFound | ErrorCode::AmbiguousMatch | ErrorCode::StaleRef)
}

/// Returns whether an error is the machinery's fault, not the app's.
#[must_use]
pub fn is_broken(code: ErrorCode) -> bool {
    let of_the_machine = matches!(
        code,
        ErrorCode::PathTildeUser | ErrorCode::HomeUnavailable | ErrorCode::RelativePathWithoutRoot
    );
    // Errors about the app or the arguments, and waits that ended without their condition, have
    // exit codes 1 to 3.
    of_the_machine || code.exit() >= ErrorCode::SessionExists.exit()
}
