//! `doctor install`: checks whether what was installed is still there.

use super::install::{InstallOptions, install_into};
use super::{blocking, setup};
use crate::disk::{Disk, RealDisk};
use crate::harness::{HARNESSES, Harness};
use crate::manifest::Manifest;
use crate::outcome::{Outcome, Status};
use crate::setup::Setup;
use crate::skill::SkillOptions;
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stickpin_client::{Call, ClientCommand};
use stickpin_device::Check;
use stickpin_kernel::commands::doctor::Findings;
use stickpin_kernel::registry::CommandDefinition;
use stickpin_kernel::{Effect, Response, Result, Show, Spec, Text};

/// Check the MCP registration and the skill of every harness that is installed here.
///
/// Changes nothing. Exits with 1 if anything that `install` wrote is missing, outdated or
/// unreadable, or if a skill was edited.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {}

static DEFINITION: CommandDefinition = CommandDefinition::of::<Arguments>(Spec {
    name: "doctor install",
    effect: Effect::Reads,
    idempotent: true,
    examples: &["stickpin doctor install"],
    ..Spec::HOST
});

#[derive(Debug)]
pub(super) struct DoctorInstall;

/// One check for each target of each harness.
#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Installations(Findings);

#[async_trait]
impl ClientCommand for DoctorInstall {
    fn definition(&self) -> &'static CommandDefinition {
        &DEFINITION
    }

    async fn run(&self, input: Map<String, Value>, call: Call) -> Response {
        let setup = DEFINITION.read::<Arguments>(input).and_then(|Arguments {}| setup(&call));
        let work = setup.map(|setup| move || examine(&RealDisk, &setup, HARNESSES));
        let findings = blocking(work).await.map(|checks| Installations(Findings::new(checks)));
        Response::outside_host(&DEFINITION, &call.render, findings)
    }
}

/// Compares what an installation would write with what is there.
pub(crate) fn examine(disk: &dyn Disk, setup: &Setup, harnesses: &[Harness]) -> Result<Vec<Check>> {
    let skill = Some(SkillOptions { mode: None, replace: false });
    let options = InstallOptions { harnesses: Vec::new(), mcp: true, skill, dry: true };
    let manifest = Manifest::read(disk, &setup.manifest())?;
    let outcomes = install_into(disk, setup, harnesses, &options)?;
    Ok(outcomes.iter().map(|outcome| check(&manifest, outcome)).collect())
}

fn check(manifest: &Manifest, outcome: &Outcome) -> Check {
    let harness = outcome.harness;
    let target = outcome.target.name();
    let path = outcome.path.display();
    let was_installed = manifest.0.iter().any(|record| {
        record.target == outcome.target && (record.harness == harness || *record.path == *path.to_string())
    });
    let again = format!("stickpin install {harness}");
    let (ok, found, fix) = match outcome.status {
        Status::AlreadyPresent => (true, format!("installed ({path})"), String::new()),
        Status::Added if was_installed => (false, format!("it was removed ({path})"), again),
        Status::Added | Status::AlreadyAbsent => (true, "not installed".to_owned(), String::new()),
        Status::Updated | Status::Removed => (false, format!("it is outdated or incomplete ({path})"), again),
        Status::UpdateAvailable => (false, format!("it was edited ({path})"), format!("{again} --replace")),
        Status::Preserved => (true, format!("kept: {} ({path})", outcome.message), String::new()),
        Status::Skipped => (true, "another harness provides it".to_owned(), String::new()),
        Status::Failed => (false, outcome.message.clone(), String::new()),
    };
    Check::new(format!("{harness} {target}"), ok, found, fix)
}

impl Show for Installations {
    fn show(&self, text: &mut Text) {
        if self.0.checks.is_empty() {
            text.line("no harness is installed here");
        }
        self.0.show(text);
    }

    fn exit(&self) -> u8 {
        self.0.exit()
    }
}
