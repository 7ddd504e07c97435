//! `test`: runs scripts as a suite, each in its own session.

use super::report_files::ReportFiles;
use super::{read_plan, resolve_optional};
use crate::report::model::{Report, Shard};
use crate::run::DEFAULT_WAIT;
use crate::suite::{Attempts, Suite, find};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use stickpin_client::{Call, ClientCommand};
use stickpin_kernel::registry::CommandDefinition;
use stickpin_kernel::{Effect, Error, PathArg, Response, Result, Spec, io_error};
use stickpin_tree::quote;

/// The maximum number of scripts that run at the same time.
const MAX_WORKERS: usize = 64;

/// Run scripts as tests, each in its own session, which is closed at the end.
///
/// Exits with 0 if all scripts passed, 1 if any did not, 2 for invalid arguments. Failures of the
/// browser, device or disk are reported as broken, separately from failures of the app. In a
/// folder, every .ad file is a script, except repaired scripts and files whose names begin with `_`
/// (for includes). A Maestro flow (YAML with an appId or a url) is a script if it is directly in
/// the folder.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    /// Scripts, folders, or patterns like 'flows/**/*.ad'.
    #[schemars(extend("x-positional" = 0, "x-trailing" = true, "x-placeholder" = "PATH"))]
    paths: Vec<PathArg>,
    /// Set a variable for all scripts; repeatable.
    #[serde(default)]
    #[schemars(extend("x-short" = "e", "x-placeholder" = "KEY=VALUE"))]
    env: Vec<String>,
    /// Number of scripts that run at the same time.
    #[schemars(extend("x-placeholder" = "N"))]
    workers: Option<usize>,
    /// Run only part I of N.
    #[schemars(extend("x-placeholder" = "I/N"))]
    shard: Option<String>,
    /// Number of retries for a failed script; overrides its `context retries`.
    #[schemars(extend("x-placeholder" = "N"))]
    retries: Option<u32>,
    /// Start no further script after a failure.
    #[serde(default)]
    fail_fast: bool,
    /// Time limit for an attempt in milliseconds; overrides the script's `context timeout`.
    timeout: Option<u64>,
    /// Milliseconds that a step waits for its target (default 5000).
    #[schemars(extend("x-placeholder" = "MS"))]
    wait: Option<u64>,
    /// Write the results as JUnit XML.
    #[schemars(extend("x-path" = "written", "x-placeholder" = "FILE"))]
    junit: Option<PathArg>,
    /// Write an HTML report: steps with pictures, changes and divergences.
    #[schemars(extend("x-path" = "written", "x-placeholder" = "FILE"))]
    report: Option<PathArg>,
    /// Keep pictures, screens and details of failed attempts.
    #[schemars(extend("x-path" = "written", "x-placeholder" = "DIR"))]
    artifacts: Option<PathArg>,
}

static DEFINITION: CommandDefinition = CommandDefinition::of::<Arguments>(Spec {
    name: "test",
    effect: Effect::Mutates,
    examples: &[
        "stickpin test flows",
        "stickpin test 'flows/**/*.ad' --workers 2 --retries 1 --junit results.xml",
        "stickpin test flows --shard 1/4 --artifacts failed",
        "stickpin test flows --report report.html",
    ],
    ..Spec::HOST
});

#[derive(Debug)]
pub(super) struct Test;

#[async_trait]
impl ClientCommand for Test {
    fn definition(&self) -> &'static CommandDefinition {
        &DEFINITION
    }

    async fn run(&self, input: Map<String, Value>, call: Call) -> Response {
        let render = call.render.clone();
        let report = test(input, call).await;
        let has_report = report.is_ok();
        let mut response = Response::outside_host(&DEFINITION, &render, report);
        // The exit code is 1 for every failed script, whatever its error.
        if has_report {
            response.exit = response.exit.min(1);
        }
        response
    }
}

async fn test(input: Map<String, Value>, call: Call) -> Result<Report> {
    let args: Arguments = DEFINITION.read(input)?;
    let shard = args.shard.as_deref().map(shard).transpose()?;
    if args.workers.is_some_and(|n| !(1..=MAX_WORKERS).contains(&n)) {
        return Err(Error::invalid_args(format!("`workers` must be a number from 1 to {MAX_WORKERS}")));
    }
    let mut files = find(&args.paths, &call.caller)?;
    if let Some(shard) = shard {
        let mut at = 0;
        files.retain(|_| {
            at += 1;
            at % shard.total == shard.number % shard.total
        });
    }
    let report_files = ReportFiles::new(&call, args.junit.as_ref(), args.report.as_ref())?;
    let artifacts = resolve_optional(&call, args.artifacts.as_ref())?;
    if let Some(folder) = &artifacts {
        std::fs::create_dir_all(folder).map_err(|e| io_error("create the folder", folder, &e))?;
    }
    let (planning, given) = (call.clone(), args.env.clone());
    let suite = Suite {
        files,
        workers: args.workers.unwrap_or(1),
        shard,
        fail_fast: args.fail_fast,
        attempts: Attempts {
            call,
            plan: Arc::new(move |file, built_in| read_plan(&planning, file, &given, built_in)),
            retries: args.retries,
            timeout: args.timeout.map(Duration::from_millis),
            wait: args.wait.map_or(DEFAULT_WAIT, Duration::from_millis),
            artifacts,
            pictures: report_files.pictures.clone(),
        },
    };
    let report = suite.run().await;
    report_files.write(&report)?;
    Ok(report)
}

/// Parses `I/N`, part I of N.
fn shard(text: &str) -> Result<Shard> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    match parts {
        Some((number, of)) if (1..=of).contains(&number) => Ok(Shard { number, total: of }),
        _ => {
            let message = format!("`shard` must be `I/N` with I from 1 to N, not {}", quote(text));
            Err(Error::invalid_args(message).hint("for example, `--shard 2/4` runs the second of four parts"))
        }
    }
}
