//! `install`: registers the MCP server and the skill with harnesses.

use super::report::Report;
use super::{Name, blocking, check_choice, setup};
use crate::audit::Reason;
use crate::disk::{Disk, RealDisk};
use crate::error::TargetError;
use crate::harness::{HARNESSES, Harness};
use crate::manifest::{SkillMode, TargetKind};
use crate::outcome::Outcome;
use crate::registration;
use crate::run::Run;
use crate::setup::Setup;
use crate::skill::{self, SkillOptions};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use stickpin_client::{Call, ClientCommand};
use stickpin_kernel::registry::CommandDefinition;
use stickpin_kernel::{Effect, Error, Response, Result, Spec};

/// Register stickpin with coding agents: the MCP server and the skill.
///
/// Adds one entry to the configuration of each harness, and a link to the skill. Nothing else in a
/// configuration is changed; an entry that was edited by hand is kept. `uninstall` removes what was
/// written.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    /// The harnesses.
    #[serde(default)]
    #[schemars(extend("x-positional" = 0, "x-trailing" = true, "x-placeholder" = "HARNESS"))]
    harnesses: Vec<Name>,
    /// Every harness that is installed here.
    #[serde(default)]
    all: bool,
    /// Install only the skill.
    #[serde(default)]
    skill_only: bool,
    /// Register only the MCP server.
    #[serde(default)]
    mcp_only: bool,
    /// Copy the skill instead of linking to it.
    #[serde(default)]
    copy: bool,
    /// Link to the skill, even if it was copied before.
    #[serde(default)]
    link: bool,
    /// Replace a skill that was edited.
    #[serde(default)]
    replace: bool,
    /// Print what would be changed, and change nothing.
    #[serde(default)]
    print: bool,
}

static DEFINITION: CommandDefinition = CommandDefinition::of::<Arguments>(Spec {
    name: "install",
    effect: Effect::Reads,
    idempotent: true,
    writes: true,
    examples: &[
        "stickpin install --all",
        "stickpin install claude-code codex",
        "stickpin install gemini --mcp-only --print",
    ],
    ..Spec::HOST
});

#[derive(Debug)]
pub(super) struct Install;

#[async_trait]
impl ClientCommand for Install {
    fn definition(&self) -> &'static CommandDefinition {
        &DEFINITION
    }

    async fn run(&self, input: Map<String, Value>, call: Call) -> Response {
        let work = plan(input, &call).map(|(setup, options)| {
            move || {
                let results = install_into(&RealDisk, &setup, HARNESSES, &options);
                results.map(|results| Report { plan: options.dry, results })
            }
        });
        Response::outside_host(&DEFINITION, &call.render, blocking(work).await)
    }
}

/// What to install, and into which harnesses.
#[derive(Debug, Clone)]
pub(crate) struct InstallOptions {
    /// The ids of the harnesses; an empty list selects all installed harnesses.
    pub(crate) harnesses: Vec<&'static str>,
    pub(crate) mcp: bool,
    /// How to install the skill, if at all.
    pub(crate) skill: Option<SkillOptions>,
    pub(crate) dry: bool,
}

fn plan(input: Map<String, Value>, call: &Call) -> Result<(Setup, InstallOptions)> {
    let args: Arguments = DEFINITION.read(input)?;
    check_choice(args.harnesses.len(), args.all, "install")?;
    for (both, message) in [
        (args.skill_only && args.mcp_only, "`--skill-only` and `--mcp-only` cannot be combined"),
        (args.copy && args.link, "`--copy` and `--link` cannot be combined"),
    ] {
        if both {
            return Err(Error::invalid_args(message).hint("use only one of them"));
        }
    }
    let mode = match (args.copy, args.link) {
        (true, _) => Some(SkillMode::Copy),
        (_, true) => Some(SkillMode::Link),
        _ => None,
    };
    let options = InstallOptions {
        harnesses: args.harnesses.into_iter().map(Name::id).collect(),
        mcp: !args.skill_only,
        skill: (!args.mcp_only).then_some(SkillOptions { mode, replace: args.replace }),
        dry: args.print,
    };
    Ok((setup(call)?, options))
}

/// Installs into those of `harnesses` that the options select.
pub(crate) fn install_into(
    disk: &dyn Disk,
    setup: &Setup,
    harnesses: &[Harness],
    options: &InstallOptions,
) -> Result<Vec<Outcome>> {
    let mut run = Run::begin(setup, disk, Reason::Install, options.dry)?;
    let mut results = Vec::new();
    for harness in harnesses {
        let is_named = options.harnesses.contains(&harness.id);
        if !setup.has(harness) {
            results.extend(is_named.then(|| absent(&run, harness, options)));
            continue;
        }
        if !is_named && !options.harnesses.is_empty() {
            continue;
        }
        if options.mcp {
            results.extend(registration::install(&mut run, harness));
        }
        if let Some(skill) = options.skill {
            results.push(skill::install(&mut run, harness, skill));
        }
    }
    Ok(results)
}

/// Reports a named harness that is not installed. No folder is created for it.
fn absent(run: &Run<'_>, harness: &Harness, options: &InstallOptions) -> Outcome {
    let folder = run.setup.place(&harness.folder);
    let error = TargetError::NotInstalled {
        program: harness.programs.first().copied().unwrap_or_default(),
        folder: folder.clone(),
    };
    let config = harness.config.as_ref().filter(|_| options.mcp);
    let (target, path) = match config {
        Some(config) => (TargetKind::Mcp, run.setup.config_path(config)),
        None => (TargetKind::Skill, run.setup.place(&harness.skill)),
    };
    let outcome = Outcome::failure(harness.id, target, &path, &error);
    run.audit_unchanged(&outcome);
    outcome
}
