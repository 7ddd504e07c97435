//! Runs a plan: each step waits for an actionable target, is checked to be what was recorded, and acts. Nothing settles
//! in between: the next step's wait does that work.

use crate::divergence::{self, Divergence};
use crate::plan::{Item, Plan, Step};
use crate::report::model;
use serde_json::Value;
use std::time::{Duration, Instant};
use stickpin_kernel::device::CancellationToken;
use stickpin_kernel::{
    Caller, Effect, Error, ErrorCode, Expectation, Format, Render, Request, Response, targets,
};
use stickpin_wire::Client;

/// How long a step waits for its target, where the run does not say otherwise.
pub const WAIT: Duration = Duration::from_secs(5);

/// How a plan is run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Who runs it.
    pub caller: Caller,
    /// The session; else the caller's own.
    pub session: Option<String>,
    /// The first step, from 1.
    pub from: usize,
    /// How long a step waits for its target to be there and actionable, where it does not say so itself.
    pub wait: Duration,
    /// Leave a `close` at the end out.
    pub keep_session: bool,
    /// Ends the run at the next point where nothing is half done.
    pub cancel: CancellationToken,
}

/// How a run ended.
#[derive(Debug)]
pub enum End {
    /// Every step did what it says.
    Passed,
    /// A step found something else than was recorded, or nothing.
    Diverged(Box<Divergence>),
    /// The device, the daemon or the disk failed: it says nothing about the app.
    Broken {
        /// The step.
        step: usize,
        /// What failed.
        error: Error,
    },
    /// It was asked to end.
    Stopped,
}

/// A run.
#[derive(Debug)]
pub struct Ran {
    /// The steps that were tried, in their order; those of a round of a block again each time.
    pub steps: Vec<model::Step>,
    /// How it ended.
    pub end: End,
}

/// Runs a plan. `watch` is told of every step when it is over.
pub async fn run(
    plan: &Plan,
    client: &dyn Client,
    options: &RunOptions,
    watch: &mut (dyn FnMut(&model::Step) + Send),
) -> Ran {
    let mut runner =
        Runner { plan, client, options, watch, began: Instant::now(), steps: Vec::new(), issued: Vec::new() };
    let end = match runner.items(&plan.items, true).await {
        Ok(()) => End::Passed,
        Err(end) => end,
    };
    Ran { steps: runner.steps, end }
}

struct Runner<'r> {
    plan: &'r Plan,
    client: &'r dyn Client,
    options: &'r RunOptions,
    watch: &'r mut (dyn FnMut(&model::Step) + Send),
    began: Instant,
    steps: Vec<model::Step>,
    /// Ref numbers that this run was given.
    issued: Vec<(u32, u32)>,
}

impl Runner<'_> {
    async fn items(&mut self, items: &[Item], outermost: bool) -> Result<(), End> {
        for (i, item) in items.iter().enumerate() {
            if last_number(item) < self.options.from {
                continue;
            }
            match item {
                Item::Step(step) => {
                    let last = outermost && i + 1 == items.len();
                    if last && self.options.keep_session && step.line.entry.spec.name == "close" {
                        continue;
                    }
                    self.step(step).await?;
                }
                Item::Repeat { times, items } => {
                    for _ in 0..*times {
                        Box::pin(self.items(items, false)).await?;
                    }
                }
                Item::Retry { times, items } => {
                    let mut left = *times;
                    loop {
                        left -= 1;
                        match Box::pin(self.items(items, false)).await {
                            Err(End::Diverged(_)) if left > 0 => {}
                            result => break result?,
                        }
                    }
                }
                Item::If { asked, items } => {
                    let response = self.call(asked, Vec::new()).await?;
                    if let Some(error) = response.error.as_ref().filter(|e| is_broken(e.code)) {
                        return Err(End::Broken { step: asked.number, error: error.clone() });
                    }
                    // Nothing there, or several: neither is the one that was meant.
                    if response.ok && response.exit == 0 {
                        Box::pin(self.items(items, false)).await?;
                    }
                }
            }
        }
        Ok(())
    }

    async fn step(&mut self, step: &Step) -> Result<(), End> {
        let begun = Instant::now();
        let response = match self.unknown_ref(step) {
            Some(error) => Response { exit: error.code.exit(), error: Some(error), ..Response::default() },
            None => self.call(step, expectations(step)).await?,
        };
        let ok = response.ok && response.exit == 0;
        let report = model::Step {
            number: step.number,
            at: step.at.clone(),
            line: step.shown.clone(),
            ok,
            began: millis(begun - self.began),
            millis: millis(begun.elapsed()),
            expected: step.expected.clone(),
            said: response.text.clone().filter(|_| ok && step.line.entry.spec.effect == Effect::Reads),
            receipt: response.receipt.clone(),
            warning: response.warning.clone(),
            error: response.error.clone(),
            changes: None,
            picture: None,
        };
        (self.watch)(&report);
        self.steps.push(report);
        if ok {
            return Ok(());
        }
        let error = response.error.unwrap_or_else(|| {
            let said = response.text.unwrap_or_default();
            Error::new(ErrorCode::ReplayDivergence, format!("`{}` is false: {said}", step.shown))
        });
        if self.options.cancel.is_cancelled() {
            return Err(End::Stopped);
        }
        if is_broken(error.code) {
            return Err(End::Broken { step: step.number, error });
        }
        Err(End::Diverged(Box::new(self.diverged(step, error).await)))
    }

    /// Sends a step's command. It waits for its target unless it says otherwise.
    async fn call(&mut self, step: &Step, expect: Vec<Expectation>) -> Result<Response, End> {
        if self.options.cancel.is_cancelled() {
            return Err(End::Stopped);
        }
        let entry = step.line.entry;
        let mut input = step.line.input.clone();
        let acts = entry.spec.effect == Effect::Mutates;
        if acts && entry.fields().iter().any(|f| f.name == "timeout") {
            let wait = u64::try_from(self.options.wait.as_millis()).unwrap_or(u64::MAX);
            input.entry("timeout").or_insert_with(|| Value::from(wait));
        }
        let mut request = self.request(entry.spec.name);
        request.input = input;
        request.timeout_ms = step.line.options.timeout_ms;
        request.expect = expect;
        if let Some(session) = &step.line.options.session {
            request.session = Some(session.clone());
        }
        Ok(self.send(request).await)
    }

    fn request(&self, command: &str) -> Request {
        Request {
            command: command.to_owned(),
            input: serde_json::Map::new(),
            session: self.options.session.clone(),
            caller: self.options.caller.clone(),
            render: Render { format: Format::Both, ..Render::default() },
            timeout_ms: None,
            since: None,
            expect: Vec::new(),
        }
    }

    async fn send(&mut self, request: Request) -> Response {
        let response = self.client.call(request, self.options.cancel.clone()).await;
        self.issued.extend(response.refs.iter().flat_map(|refs| &refs.issued));
        response
    }

    /// A ref that this run was not given means nothing here, or something else.
    fn unknown_ref(&self, step: &Step) -> Option<Error> {
        let mut unknown = None;
        targets::change(step.line.entry, &mut step.line.input.clone(), &mut |target| {
            if let Ok(token) = target.parse::<stickpin_refs::RefToken>() {
                let number = token.r#ref.get();
                if !self.issued.iter().any(|(first, last)| (*first..=*last).contains(&number)) {
                    unknown.get_or_insert(token.r#ref);
                }
            }
            None
        });
        let r#ref = unknown?;
        Some(
            Error::new(
                ErrorCode::RefNotFound,
                format!("{} uses {ref}, which this run was not given", step.at),
            )
            .hint("scripts name elements by selectors; record start writes them"),
        )
    }

    /// What there is instead: the screen with fresh refs, and what is most like what was asked for.
    async fn diverged(&mut self, step: &Step, error: Error) -> Divergence {
        let mut request = self.request("snapshot");
        request.input.insert("interactive".to_owned(), Value::Bool(true));
        let screen = self.send(request).await;
        let mut suggestions = Vec::new();
        for (likeness, selector) in divergence::selectors(step) {
            if suggestions.len() == divergence::SUGGESTIONS {
                break;
            }
            let mut request = self.request("find");
            request.input.insert("query".to_owned(), Value::from(selector.to_string()));
            let found = self.send(request).await;
            divergence::add(&mut suggestions, likeness, found.output.as_ref());
        }
        Divergence {
            step: step.number,
            at: step.at.clone(),
            line: step.shown.clone(),
            expected: step.expected.clone(),
            error,
            screen: screen.text.filter(|_| screen.ok),
            suggestions,
            resume: self
                .plan
                .may_begin_at(step.number)
                .then(|| divergence::Resume { from: step.number, plan_digest: self.plan.digest() }),
        }
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// What was recorded of each target, by the target.
fn expectations(step: &Step) -> Vec<Expectation> {
    let mut found = Vec::new();
    let mut expected = step.expected.iter();
    targets::change(step.line.entry, &mut step.line.input.clone(), &mut |target| {
        if let Some(meaning) = expected.next() {
            // As the kernel names it, whatever white space and quotes the script has.
            let target = target
                .parse::<stickpin_kernel::Target>()
                .map_or_else(|_| target.to_owned(), |t| t.to_string());
            found.push(Expectation { target, meaning: meaning.clone() });
        }
        None
    });
    found
}

fn last_number(item: &Item) -> usize {
    match item {
        Item::Step(step) => step.number,
        Item::Retry { items, .. } | Item::Repeat { items, .. } => items.last().map_or(0, last_number),
        Item::If { asked, items } => items.last().map_or(asked.number, last_number),
    }
}

/// Whether a failure is one of the machinery, not of the app.
#[must_use]
pub fn is_broken(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::BackendLost
            | ErrorCode::ToolMissing
            | ErrorCode::DaemonUnreachable
            | ErrorCode::ProtocolMismatch
            | ErrorCode::Io
            | ErrorCode::StorageFull
            | ErrorCode::DeviceInUse
            | ErrorCode::SessionExists
            | ErrorCode::Internal
    )
}
