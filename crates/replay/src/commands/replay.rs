//! `replay`: one script, in the caller's own session.

use super::{built_in, counted, plan, seconds, tell, whole};
use crate::divergence::Divergence;
use crate::plan::Plan;
use crate::report::model::{Outcome, Step};
use crate::run::{CLOSE, End, Ran, RunOptions, WAIT, is_broken, run};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stickpin_kernel::device::CancellationToken;
use stickpin_kernel::registry::Form;
use stickpin_kernel::{
    Effect, Error, ErrorCode, Format, Render, Request, Response, Result, Show, Spec, Text, answered,
};
use stickpin_tree::quote;
use stickpin_wire::{Apart, Call, Progress};

/// Run a script that was recorded or written, in this session.
///
/// Each step waits for its target, is checked to be what was recorded, and acts. Where it finds another thing, or nothing,
/// nothing is sent: the answer says what was expected, what there is now, with refs, and how to go on. The session stays
/// open then.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    /// The script.
    #[schemars(extend("x-positional" = 0, "x-path" = true))]
    file: String,
    /// Set a variable of the script; may be given several times.
    #[serde(default)]
    #[schemars(extend("x-short" = "e", "x-placeholder" = "KEY=VALUE"))]
    env: Vec<String>,
    /// Begin with this step; what it needs must be there already.
    #[schemars(extend("x-placeholder" = "N"))]
    from: Option<usize>,
    /// Fail when the script is not the one that a divergence was reported of.
    #[schemars(extend("x-placeholder" = "SHA"))]
    plan_digest: Option<String>,
    /// Leave a `close` at its end out.
    #[serde(default)]
    keep_session: bool,
    /// Where a step fails, write down what is done instead; at close it becomes a script beside this one, with a patch.
    #[serde(default)]
    repair: bool,
    /// How long a step waits for its target (5000 unless said otherwise).
    #[schemars(extend("x-placeholder" = "MS"))]
    wait: Option<u64>,
    /// End it after so many milliseconds, instead of what its first line says.
    #[schemars(extend("x-placeholder" = "MS"))]
    timeout: Option<u64>,
}

static FORM: Form = Form::of::<Arguments>(Spec {
    name: "replay",
    effect: Effect::Mutates,
    examples: &[
        "stickpin replay flows/login.ad -e USER=ada",
        "stickpin replay flows/login.ad --repair",
        "stickpin replay flows/login.ad --from 4 --plan-digest 5f2c41d0a9e83b17",
    ],
    ..Spec::HOST
});

#[derive(Debug)]
pub(super) struct Replay;

#[async_trait]
impl Apart for Replay {
    fn form(&self) -> &'static Form {
        &FORM
    }

    async fn run(&self, input: Map<String, Value>, call: Call) -> Response {
        let ran = replay(input, &call).await;
        let (replayed, ran) = match ran {
            Ok((replayed, ran)) => (Ok(replayed), Some(ran)),
            Err(e) => (Err(e), None),
        };
        let mut response = answered(&FORM, &call.render, replayed);
        if let Some(ran) = ran {
            response.refs_generation = ran.refs.as_ref().and_then(|refs| refs.generation);
            response.refs = ran.refs;
            if let Some((session, state_dir)) = ran.place {
                (response.session, response.state_dir) = (Some(session), Some(state_dir));
            }
        }
        response
    }
}

/// What became of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Replayed {
    file: String,
    outcome: Outcome,
    plan_digest: String,
    millis: f64,
    /// How many steps the script has.
    total: usize,
    steps: Vec<Step>,
    #[serde(skip_serializing_if = "Option::is_none")]
    divergence: Option<Box<Divergence>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Error>,
    /// The script that was mended.
    #[serde(skip_serializing_if = "Option::is_none")]
    healed: Option<PathBuf>,
    /// What is different in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
    /// Whether what is done now mends the script.
    mending: bool,
}

async fn replay(input: Map<String, Value>, call: &Call) -> Result<(Replayed, Ran)> {
    let mut args: Arguments = FORM.read(input)?;
    // Some front ends make paths whole; a person reads the short one.
    if let Ok(short) = whole(call, Path::new(&args.file)).strip_prefix(&call.caller.cwd) {
        args.file = short.display().to_string();
    }
    let file = Path::new(&args.file);
    let session = call.session.as_ref().unwrap_or(&call.caller.own_session);
    let plan = plan(call, file, &args.env, built_in(file, session))?;
    may_begin(&plan, &args)?;
    let from = args.from.unwrap_or(1);
    let options = RunOptions {
        session: call.session.clone(),
        from,
        wait: args.wait.map_or(WAIT, Duration::from_millis),
        deadline: args.timeout.or(plan.timeout_ms).map(Duration::from_millis),
        keep_session: args.keep_session,
        render: call.render.clone(),
        cancel: call.cancel.clone(),
        ..RunOptions::new(call.caller.clone())
    };
    if let Some(place) =
        plan.place_of(from).filter(|place| args.repair && from > 1 && place.file == args.file)
    {
        // What was done before it, was done so that it can run.
        mend(call, &whole(call, file), place.line, true).await?;
    }
    let begun = Instant::now();
    let mut watch = |step: &Step| {
        let line = format!("{} {}", step.at, step.line);
        tell(call, Progress { done: step.number, total: plan.steps, line, lasting: false });
    };
    let ran = run(&plan, &*call.client, &options, &mut watch).await;
    let mut mending = false;
    if let End::Diverged(divergence) = &ran.end
        && args.repair
        && divergence.resume.is_some()
        && divergence.at.file == args.file
    {
        mend(call, &whole(call, file), divergence.at.line, false).await?;
        mending = true;
    }
    if matches!(ran.end, End::Stopped) && !args.keep_session {
        for session in &ran.open {
            // What cannot be closed is closed when it is idle; that it was stopped is what is to be said.
            let _ = ask(call, CLOSE, json!({}), Some(session)).await;
        }
    }
    let healed = ran.healed.clone();
    let (outcome, divergence, error) = match &ran.end {
        End::Passed => (Outcome::Passed, None, None),
        End::Diverged(divergence) => (Outcome::Failed, Some(divergence.clone()), None),
        End::Broken { error, .. } if is_broken(error.code) => (Outcome::Broken, None, Some(error.clone())),
        End::Broken { error, .. } => (Outcome::Failed, None, Some(error.clone())),
        End::Stopped => {
            let e = Error::new(ErrorCode::Timeout, "the replay was stopped before its end");
            (Outcome::NotRun, None, Some(e.hint("its session was closed, unless --keep-session")))
        }
    };
    let (healed, patch) = healed.map_or((None, None), |(path, patch)| (Some(path), Some(patch)));
    let replayed = Replayed {
        file: args.file.clone(),
        outcome,
        plan_digest: plan.digest(),
        millis: begun.elapsed().as_secs_f64() * 1000.0,
        total: plan.steps,
        steps: ran.steps.clone(),
        divergence,
        error,
        healed,
        patch,
        mending,
    };
    Ok((replayed, ran))
}

/// Whether it may begin where it was told to.
fn may_begin(plan: &Plan, args: &Arguments) -> Result<()> {
    let bad = |message: String| Err(Error::new(ErrorCode::InvalidArgs, message));
    let digest = plan.digest();
    if let Some(given) = args.plan_digest.as_ref().filter(|given| **given != digest) {
        return bad(format!(
            "{} is another script by now: its digest is {digest}, not {}",
            plan.file,
            quote(given)
        ))
        .map_err(|e| e.hint("read it again: steps may have other numbers; or replay the whole"));
    }
    match args.from {
        Some(from) if !plan.may_begin_at(from) => {
            bad(format!("{} cannot begin at step {from}: it has {}", plan.file, counted(plan.steps, "step")))
                .map_err(|e| e.hint("steps in blocks are no place to begin: their rounds are not known"))
        }
        _ => Ok(()),
    }
}

/// From now on, what is done in the session mends a line of the script.
async fn mend(call: &Call, file: &Path, line: u32, keeps: bool) -> Result<()> {
    let input = json!({ "mends": file, "line": line, "keepLine": keeps });
    let response = ask(call, "record start", input, call.session.as_ref()).await;
    response.error.map_or(Ok(()), Err)
}

async fn ask(call: &Call, command: &str, input: Value, session: Option<&String>) -> Response {
    let request = Request {
        command: command.to_owned(),
        input: input.as_object().cloned().unwrap_or_default(),
        session: session.cloned(),
        caller: call.caller.clone(),
        render: Render { format: Format::Both, ..Render::default() },
        timeout_ms: None,
        since: None,
        expect: Vec::new(),
        replayed: true,
    };
    // Also when it was stopped: this is what has to be done then.
    call.client.call(request, CancellationToken::new()).await
}

impl Replayed {
    /// The command that goes on with a step.
    fn go_on(&self, from: usize) -> String {
        let file = crate::script::line(&[crate::script::Template::text(&self.file)]);
        let repair = if self.mending { " --repair" } else { "" };
        format!("stickpin replay {file} --from {from} --plan-digest {}{repair}", self.plan_digest)
    }
}

impl Show for Replayed {
    fn show(&self, text: &mut Text) {
        let passed = self.steps.iter().filter(|step| step.ok).count();
        let time = seconds(self.millis);
        match self.outcome {
            Outcome::Passed => text.line(format_args!("passed {} · {time}", counted(passed, "step"))),
            _ => text.line(format_args!(
                "passed {} of {}, then stopped · {time}",
                passed,
                counted(self.total, "step")
            )),
        }
        for step in self.steps.iter().filter(|step| step.warning.is_some()) {
            text.line(format_args!("{}: {}", step.at, step.warning.as_deref().unwrap_or_default()));
        }
        if let Some(divergence) = &self.divergence {
            divergence.show(text);
        }
        if let Some(healed) = &self.healed {
            text.line(format_args!("wrote {}", healed.display()));
            text.plain(self.patch.as_deref().unwrap_or_default());
        }
    }

    fn failure(&self) -> Option<Error> {
        let Some(divergence) = &self.divergence else { return self.error.clone() };
        let hint = match &divergence.resume {
            None => "it stands in a block: make the app or the script right, and replay the whole".to_owned(),
            Some(resume) => {
                let mends = match self.mending {
                    true => "; what you do until then goes into the healed script, which close writes",
                    false => "",
                };
                format!(
                    "do by a ref what the step means, then go on behind it: {}\nor again with it: {}{mends}",
                    self.go_on(resume.from + 1),
                    self.go_on(resume.from)
                )
            }
        };
        Some(divergence.error().hint(hint))
    }
}
