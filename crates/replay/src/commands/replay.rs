//! `replay`: runs one script in the caller's own session.

use super::report_files::ReportFiles;
use super::{built_in_variables, format_seconds, read_plan, resolve_file};
use crate::divergence::{Divergence, Resume};
use crate::formats::read::is_maestro;
use crate::plan::{Plan, SourceLocation};
use crate::position::Position;
use crate::report::model::{Attempt, EndedEarly, FileReport, Outcome, Report, Step, VERSION, millis};
use crate::run::{CLOSE, DEFAULT_WAIT, RepairedScript, RunEnd, RunOptions, RunResult, run, send_uncancelled};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use stickpin_client::{Call, ClientCommand, Progress};
use stickpin_kernel::registry::CommandDefinition;
use stickpin_kernel::{Effect, Error, PathArg, Response, Result, Show, Spec, Text};
use stickpin_tree::{format_count, quote};

/// Run a script in this session.
///
/// Each step waits for its target, checks that the target is what was recorded, and acts. If a step
/// finds something else or nothing, no input is sent: the response says what was expected, what is
/// there now (with refs), and how to continue. The session stays open.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    /// The script.
    #[schemars(extend("x-positional" = 0))]
    file: PathArg,
    /// Set a variable for the script; repeatable.
    #[serde(default)]
    #[schemars(extend("x-short" = "e", "x-placeholder" = "KEY=VALUE"))]
    env: Vec<String>,
    /// Begin with this step, in an app that is already in the right state.
    #[schemars(extend("x-placeholder" = "N"))]
    from: Option<usize>,
    /// The round of each `repeat` and `retry` block around the first step to run, outermost first:
    /// `2` or `3,1`.
    #[schemars(extend("x-placeholder" = "N"))]
    rounds: Option<String>,
    /// Fail if the script has changed since the divergence was reported.
    #[schemars(extend("x-placeholder" = "SHA"))]
    plan_digest: Option<String>,
    /// Skip a `close` at the end.
    #[serde(default)]
    keep_session: bool,
    /// Record the commands that replace a failed step; `close` writes the repaired script beside
    /// this one, with a patch.
    #[serde(default)]
    repair: bool,
    /// Milliseconds that a step waits for its target (default 5000).
    #[schemars(extend("x-placeholder" = "MS"))]
    wait: Option<u64>,
    /// Time limit in milliseconds; overrides the script's `context timeout`.
    timeout: Option<u64>,
    /// Write an HTML report: steps with pictures, changes and divergences.
    #[schemars(extend("x-path" = "written", "x-placeholder" = "FILE"))]
    report: Option<PathArg>,
}

static DEFINITION: CommandDefinition = CommandDefinition::of::<Arguments>(Spec {
    name: "replay",
    effect: Effect::Mutates,
    examples: &[
        "stickpin replay flows/login.ad -e USER=ada",
        "stickpin replay flows/login.ad --repair",
        "stickpin replay flows/login.ad --from 4 --plan-digest 5f2c41d0a9e83b17",
        "stickpin replay flows/login.ad --report report.html",
    ],
    ..Spec::HOST
});

#[derive(Debug)]
pub(super) struct Replay;

#[async_trait]
impl ClientCommand for Replay {
    fn definition(&self) -> &'static CommandDefinition {
        &DEFINITION
    }

    async fn run(&self, input: Map<String, Value>, call: Call) -> Response {
        let ran = replay(input, &call).await;
        let (replayed, ran) = match ran {
            Ok((replayed, ran, unwritten)) => (Ok(replayed), Some((ran, unwritten))),
            Err(e) => (Err(e), None),
        };
        let mut response = Response::outside_host(&DEFINITION, &call.render, replayed);
        if let Some((ran, unwritten)) = ran {
            response.warning = unwritten.map(|e| e.message);
            response.refs_generation = ran.refs.as_ref().and_then(|refs| refs.generation);
            response.refs = ran.refs;
            if let Some((session, state_dir)) = ran.last_session {
                (response.session, response.state_dir) = (Some(session), Some(state_dir));
            }
        }
        response
    }
}

/// The output of `replay`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Replayed {
    file: String,
    outcome: Outcome,
    plan_digest: String,
    millis: f64,
    /// The number of steps in the script.
    total: usize,
    steps: Vec<Step>,
    #[serde(skip_serializing_if = "Option::is_none")]
    divergence: Option<Box<Divergence>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Error>,
    /// The repaired scripts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repaired: Vec<RepairedScript>,
    /// Whether the session is now recording a repair of the script.
    repairing: bool,
    /// The HTML report that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<PathBuf>,
}

async fn replay(input: Map<String, Value>, call: &Call) -> Result<(Replayed, RunResult, Option<Error>)> {
    let args: Arguments = DEFINITION.read(input)?;
    // Some front ends pass absolute paths; a person reads the relative one.
    let file = match Path::new(args.file.as_written()) {
        path if path.is_absolute() => call.caller.relative_path(path),
        path => path.to_owned(),
    };
    let file = file.as_path();
    let session = call.session.as_ref().unwrap_or(&call.caller.own_session);
    let plan = read_plan(call, file, &args.env, built_in_variables(file, session))?;
    let from = start_position(&plan, &args)?;
    let report_files = ReportFiles::new(call, None, args.report.as_ref())?;
    let options = RunOptions {
        session: call.session.clone(),
        from: from.clone(),
        wait: args.wait.map_or(DEFAULT_WAIT, Duration::from_millis),
        deadline: args.timeout.or(plan.timeout_ms).map(Duration::from_millis),
        keep_session: args.keep_session,
        render: call.render.clone(),
        pictures: report_files.pictures.clone(),
        cancel: call.cancel.clone(),
        ..RunOptions::new(call.caller.clone())
    };
    if let Some(step) = plan.step_at(&from).filter(|_| args.repair && args.from.is_some()) {
        // The caller's actions before this step made the step runnable, so these actions become
        // part of the repair.
        start_repair(call, &step.at, &from, true).await?;
    }
    let (began_at, started) = (SystemTime::now(), Instant::now());
    let mut watch = |step: &Step| {
        let line = format!("{} {}", step.at, step.line);
        let (done, total) = (step.number, plan.steps);
        // Fails only if the receiver is gone.
        let _ = call.progress.send(Progress { done, total, line, lasting: false, part: None });
    };
    let ran = run(&plan, &*call.client, &options, &mut watch).await;
    let mut repairing = false;
    if let RunEnd::Diverged(divergence) = &ran.end
        && args.repair
    {
        let position = divergence.resume.as_ref().map_or(from, Resume::position);
        repairing = start_repair(call, &divergence.at, &position, false).await?;
    }
    if matches!(ran.end, RunEnd::Stopped) && !args.keep_session {
        for session in &ran.open {
            // A session that cannot be closed now is closed later, when it is idle. The
            // interruption is what matters to the caller.
            let _ = send_uncancelled(call, CLOSE, json!({}), Some(session)).await;
        }
    }
    let (divergence, error) = match &ran.end {
        RunEnd::Passed => (None, None),
        RunEnd::Diverged(divergence) => (Some(divergence.clone()), None),
        RunEnd::Broken { error, .. } => (None, Some(error.clone())),
        RunEnd::Stopped => {
            let e = Error::timeout("the replay was stopped before it finished");
            let hint = "what the script opened was closed; use `--keep-session` to keep it open";
            let closed = !args.keep_session && !ran.open.is_empty();
            (None, Some(if closed { e.hint(hint) } else { e }))
        }
    };
    let replayed = Replayed {
        file: file.display().to_string(),
        outcome: ran.end.outcome(),
        plan_digest: plan.digest(),
        millis: millis(started.elapsed()),
        total: plan.steps,
        steps: ran.steps.clone(),
        divergence,
        error,
        repaired: ran.repaired.clone(),
        repairing,
        report: report_files.page.clone(),
    };
    let unwritten = report_files.write(&replayed.to_report(began_at, session)).err();
    match unwritten {
        // A divergence is more important than a report that could not be written.
        Some(e) if replayed.outcome == Outcome::Passed => Err(e),
        unwritten => Ok((replayed, ran, unwritten)),
    }
}

/// Returns the start position, or an error if the run may not begin there.
fn start_position(plan: &Plan, args: &Arguments) -> Result<Position> {
    let digest = plan.digest();
    if let Some(given) = args.plan_digest.as_ref().filter(|given| **given != digest) {
        let message = format!(
            "{} or a file that it includes has changed: the plan digest is {digest}, not {}",
            plan.file,
            quote(given)
        );
        return Err(Error::invalid_args(message).hint(
            "read the script again, because the step numbers may have changed, or replay the whole script",
        ));
    }
    let rounds = args.rounds.as_deref().map_or(Ok(Vec::new()), |rounds| {
        let number = |part: &str| part.trim().parse::<u32>();
        rounds.split(',').map(number).collect::<Result<Vec<u32>, _>>().map_err(|_| {
            let message =
                format!("`rounds` must be whole numbers separated by commas, not {}", quote(rounds));
            Error::invalid_args(message).hint("for example: `--rounds 2,1`")
        })
    })?;
    let from = Position { step: args.from.unwrap_or(1), rounds };
    if args.from.is_none() && from.rounds.is_empty() || plan.step_at(&from).is_some() {
        return Ok(from);
    }
    let refusal = format!("{} cannot begin at step {}", plan.file, from.step);
    Err(match plan.round_depth(from.step) {
        None => {
            let steps = format_count(plan.steps, "step");
            Error::invalid_args(format!("{refusal}: the script has {steps}"))
                .hint("steps are counted from 1, together with those of included scripts")
        }
        Some(0) => Error::invalid_args(format!(
            "{refusal} in a round: the step is not in a `repeat` or `retry` block"
        ))
        .hint("omit `--rounds`"),
        Some(depth) => Error::invalid_args(format!(
            "{refusal} without a valid round: the step is in {}",
            match depth {
                1 => "a `repeat` or `retry` block".to_owned(),
                _ => format!("{depth} nested `repeat` or `retry` blocks"),
            }
        ))
        .hint("give an existing round of each block, outermost first: `--rounds 2` or `--rounds 3,1`"),
    })
}

/// Starts to record a repair of a script's line. Returns false for Maestro flows, which are not
/// repaired.
async fn start_repair(
    call: &Call,
    at: &SourceLocation,
    position: &Position,
    keep_line: bool,
) -> Result<bool> {
    let file = resolve_file(call, Path::new(&at.file))?;
    if is_maestro(&file) {
        return Ok(false);
    }
    let input =
        json!({ "repair": &*file, "line": at.line, "keepLine": keep_line, "pass": position.to_string() });
    let response = send_uncancelled(call, "record start", input, call.session.as_deref()).await;
    response.error.map_or(Ok(true), Err)
}

impl Replayed {
    /// Returns the command that continues at a position, in backticks.
    fn resume_command(&self, resume: &Resume, at: &Position) -> String {
        let repair = if self.repairing { " --repair" } else { "" };
        format!("`stickpin {}{repair}`", resume.command(&self.file, at))
    }

    /// Returns the hint for a divergence.
    fn resume_hint(&self, resume: &Resume) -> String {
        let repeat = self.resume_command(resume, &resume.position());
        let repair_note = match self.repairing {
            true => "; your commands until then go into the repaired script, which `close` writes",
            false => "",
        };
        match &resume.next {
            Some(behind) => format!(
                "perform the step by ref, then continue after it: {}\nor repeat it: {repeat}{repair_note}",
                self.resume_command(resume, behind)
            ),
            None if self.repairing => {
                format!(
                    "this is the last step: perform it by ref, then run `stickpin close`, which writes the repaired script\nor repeat it: {repeat}"
                )
            }
            None => format!("this is the last step: perform it by ref\nor repeat it: {repeat}"),
        }
    }

    /// Returns the run as a report of a suite with one script.
    fn to_report(&self, started_at: SystemTime, session: &str) -> Report {
        let began = started_at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let attempt = Attempt {
            number: 1,
            session: session.to_owned(),
            outcome: self.outcome,
            start_offset: 0.0,
            millis: self.millis,
            steps: self.steps.clone(),
            divergence: self.divergence.as_deref().cloned(),
            error: self.error.clone().filter(|_| self.outcome != Outcome::NotRun),
            artifacts: None,
        };
        Report {
            version: VERSION,
            program: stickpin_wire::rpc::VERSION.to_owned(),
            started_at: u64::try_from(began.as_millis()).unwrap_or(u64::MAX),
            millis: self.millis,
            workers: 1,
            shard: None,
            ended_early: (self.outcome == Outcome::NotRun).then_some(EndedEarly::Interrupted),
            files: vec![FileReport {
                outcome: self.outcome,
                millis: self.millis,
                attempts: vec![attempt],
                ..FileReport::not_run(self.file.clone())
            }],
        }
    }
}

impl Show for Replayed {
    fn show(&self, text: &mut Text) {
        let passed = self.steps.iter().filter(|step| step.ok).count();
        let time = format_seconds(self.millis);
        match self.outcome {
            Outcome::Passed => text.line(format_args!("passed {} · {time}", format_count(passed, "step"))),
            _ => text.line(format_args!(
                "passed {} of {}, then stopped · {time}",
                passed,
                format_count(self.total, "step")
            )),
        }
        for step in self.steps.iter().filter(|step| step.warning.is_some()) {
            text.line(format_args!("{}: {}", step.at, step.warning.as_deref().unwrap_or_default()));
        }
        if let Some(divergence) = &self.divergence {
            divergence.show(text);
        }
        for script in &self.repaired {
            text.line(format_args!("wrote {}", script.path.display()));
            text.app_text(&script.patch);
        }
        if let Some(report) = &self.report {
            text.line(format_args!("wrote {}", report.display()));
        }
    }

    fn failure(&self) -> Option<Error> {
        let Some(divergence) = &self.divergence else { return self.error.clone() };
        let hint = divergence.resume.as_ref().map(|resume| self.resume_hint(resume)).unwrap_or_default();
        Some(divergence.error().hint(hint))
    }
}
