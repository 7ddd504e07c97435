//! `uninstall`: removes what `install` wrote, and nothing else.

use super::report::Report;
use super::{Name, blocking, check_choice, setup};
use crate::audit::Reason;
use crate::cleanup;
use crate::decide::Intent;
use crate::disk::{Disk, RealDisk};
use crate::harness::{HARNESSES, Harness, SHARED_SKILL};
use crate::manifest::TargetKind;
use crate::outcome::{Outcome, Status};
use crate::registration;
use crate::run::Run;
use crate::setup::Setup;
use crate::skill;
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fs;
use std::path::Path;
use stickpin_client::{Call, ClientCommand};
use stickpin_kernel::registry::CommandDefinition;
use stickpin_kernel::{Effect, Response, Result, Spec};

/// The name under which the shared skill is reported.
const SHARED: &str = "agents";

/// Remove what `install` wrote to the configurations of coding agents.
///
/// An entry or a skill that was edited is kept. The skill that several harnesses share is removed
/// with the last of them.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    /// The harnesses; `agents` is the shared skill.
    #[serde(default)]
    #[schemars(extend("x-positional" = 0, "x-trailing" = true, "x-placeholder" = "HARNESS"))]
    harnesses: Vec<NameOrShared>,
    /// Every harness, and the shared skill.
    #[serde(default)]
    all: bool,
    /// Also remove the shared skill.
    #[serde(default)]
    shared: bool,
    /// Print what would be removed, and remove nothing.
    #[serde(default)]
    print: bool,
}

/// The names that `uninstall` accepts: the harnesses and the shared skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum NameOrShared {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// OpenCode.
    Opencode,
    /// Antigravity, which reads the shared skill.
    Antigravity,
    /// The skill that several harnesses share.
    Agents,
}

impl NameOrShared {
    fn id(self) -> &'static str {
        match self {
            Self::ClaudeCode => Name::ClaudeCode.id(),
            Self::Codex => Name::Codex.id(),
            Self::Gemini => Name::Gemini.id(),
            Self::Opencode => Name::Opencode.id(),
            Self::Antigravity => Name::Antigravity.id(),
            Self::Agents => SHARED,
        }
    }
}

static DEFINITION: CommandDefinition = CommandDefinition::of::<Arguments>(Spec {
    name: "uninstall",
    effect: Effect::Reads,
    idempotent: true,
    writes: true,
    examples: &["stickpin uninstall --all", "stickpin uninstall codex --print", "stickpin uninstall agents"],
    ..Spec::HOST
});

#[derive(Debug)]
pub(super) struct Uninstall;

#[async_trait]
impl ClientCommand for Uninstall {
    fn definition(&self) -> &'static CommandDefinition {
        &DEFINITION
    }

    async fn run(&self, input: Map<String, Value>, call: Call) -> Response {
        let work = plan(input, &call).map(|(setup, options)| {
            move || {
                let results = uninstall_from(&RealDisk, &setup, HARNESSES, &options);
                results.map(|results| Report { plan: options.dry, results })
            }
        });
        Response::outside_host(&DEFINITION, &call.render, blocking(work).await)
    }
}

/// What to remove, and from which harnesses.
#[derive(Debug, Clone)]
pub(crate) struct UninstallOptions {
    /// The ids of the harnesses to uninstall from.
    pub(crate) harnesses: Vec<&'static str>,
    /// Whether to remove the shared skill, no matter which harness reads it.
    pub(crate) shared: bool,
    pub(crate) dry: bool,
}

fn plan(input: Map<String, Value>, call: &Call) -> Result<(Setup, UninstallOptions)> {
    let args: Arguments = DEFINITION.read(input)?;
    let named = args.harnesses.len() + usize::from(args.shared && !args.all);
    check_choice(named, args.all, "uninstall")?;
    let named: Vec<&'static str> = args.harnesses.into_iter().map(NameOrShared::id).collect();
    let shared = args.shared || args.all || named.contains(&SHARED);
    let all = HARNESSES.iter().map(|harness| harness.id).filter(|id| args.all || named.contains(id));
    let options = UninstallOptions { harnesses: all.collect(), shared, dry: args.print };
    Ok((setup(call)?, options))
}

/// Uninstalls from those of `harnesses` that the options select, and cleans up in all `harnesses`.
pub(crate) fn uninstall_from(
    disk: &dyn Disk,
    setup: &Setup,
    harnesses: &[Harness],
    options: &UninstallOptions,
) -> Result<Vec<Outcome>> {
    let mut run = Run::begin(setup, disk, Reason::Uninstall, options.dry)?;
    let mut results = Vec::new();
    for harness in harnesses.iter().filter(|harness| options.harnesses.contains(&harness.id)) {
        results.extend(registration::apply(&mut run, harness, Intent::Uninstall));
        if harness.skill != SHARED_SKILL {
            let path = setup.place(&harness.skill);
            results.push(remove_skill(&mut run, harness.id, &path));
        } else if !options.shared {
            results.push(leave_shared(&mut run, harness));
        }
    }
    if options.shared {
        results.push(remove_skill(&mut run, SHARED, &setup.place(&SHARED_SKILL)));
    }
    let stale = cleanup::stale(&mut run, harnesses).into_iter();
    results.extend(stale.filter(|outcome| outcome.status.is_change()));
    Ok(results)
}

/// Removes a skill and, if this succeeds or the skill does not exist, its records.
fn remove_skill(run: &mut Run<'_>, harness: &'static str, path: &Path) -> Outcome {
    let outcome = skill::remove(run, harness, path);
    if !matches!(outcome.status, Status::Removed | Status::AlreadyAbsent) {
        return outcome;
    }
    let shown = path.display().to_string();
    let readers: Vec<String> = run.manifest.skills_at(&shown).map(|record| record.harness.clone()).collect();
    for reader in readers {
        if let Err(error) = run.forget(&reader, TargetKind::Skill) {
            return Outcome::failure(harness, TargetKind::Skill, path, &error);
        }
    }
    outcome
}

/// Removes the shared skill if only this harness reads it. Otherwise keeps the skill, and drops
/// only the record that this harness reads it.
fn leave_shared(run: &mut Run<'_>, harness: &Harness) -> Outcome {
    let path = run.setup.place(&harness.skill);
    let shown = path.display().to_string();
    let others = run.manifest.skills_at(&shown).map(|record| record.harness.as_str());
    let mut others: Vec<&str> = others.filter(|other| *other != harness.id).collect();
    others.sort_unstable();
    others.dedup();
    let is_reader = run.manifest.skills_at(&shown).any(|record| record.harness == harness.id);
    if others.is_empty() && is_reader || fs::symlink_metadata(&path).is_err() {
        return remove_skill(run, harness.id, &path);
    }
    let message = match others.is_empty() {
        true => "not installed for this harness; uninstall `agents` to remove the skill".to_owned(),
        false => format!("also read by {}", others.join(", ")),
    };
    let outcome = Outcome::new(harness.id, TargetKind::Skill, &path, Status::Skipped, message);
    match run.forget(harness.id, TargetKind::Skill) {
        Ok(()) => outcome,
        Err(error) => Outcome::failure(harness.id, TargetKind::Skill, &path, &error),
    }
}
