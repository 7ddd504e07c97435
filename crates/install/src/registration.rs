//! The entry for the MCP server in the configuration of a harness.

use crate::audit::{Action, AuditEvent, digest, now};
use crate::config_file::ConfigFile;
use crate::decide::{Decision, Intent, decide};
use crate::error::TargetError;
use crate::harness::{Config, Harness};
use crate::manager;
use crate::manifest::{Record, TargetKind};
use crate::outcome::{Outcome, Status};
use crate::run::Run;
use crate::setup::VERSION;
use crate::shape::Server;
use std::path::Path;

/// The maximum number of attempts at a change while another program keeps changing the file.
const ATTEMPTS: usize = 3;

/// Carries out an intent on the configuration of one harness. Returns `None` if the harness has no
/// configuration.
pub(crate) fn apply(run: &mut Run<'_>, harness: &Harness, intent: Intent<'_>) -> Option<Outcome> {
    let config = harness.config.as_ref()?;
    let path = run.setup.config_path(config);
    let outcome = change(run, harness, config, &path, intent)
        .unwrap_or_else(|error| Outcome::failure(harness.id, TargetKind::Mcp, &path, &error));
    run.audit_unchanged(&outcome);
    Some(outcome)
}

/// Installs the entry for this program.
pub(crate) fn install(run: &mut Run<'_>, harness: &Harness) -> Option<Outcome> {
    let (command, state_dir) = (run.setup.command(), run.setup.other_state_dir());
    let server = Server { command: &command, state_dir: state_dir.as_deref() };
    apply(run, harness, Intent::Install(server))
}

fn change(
    run: &mut Run<'_>,
    harness: &Harness,
    config: &Config,
    path: &Path,
    intent: Intent<'_>,
) -> Result<Outcome, TargetError> {
    for _ in 0..ATTEMPTS {
        let file = ConfigFile::open(run.disk, path)?;
        let root = config.format.read(file.text())?;
        let known = run.manifest.servers(run.setup.other_state_dir());
        let decision = decide(&root, config, &known, intent);
        let outcome = |message: &str| {
            let outcome = Outcome::new(harness.id, TargetKind::Mcp, path, decision.status(), message);
            Outcome { shape_id: decision.shape(), ..outcome }
        };
        if let Decision::Keep(status, _, message) = &decision {
            match (status, intent) {
                (Status::AlreadyPresent, Intent::Install(server)) => {
                    remember(run, harness, config, path, &root, &server)?;
                    if !run.dry {
                        run.settle(harness.id, TargetKind::Mcp)?;
                    }
                }
                (Status::AlreadyAbsent, Intent::Uninstall) => run.forget(harness.id, TargetKind::Mcp)?,
                _ => {}
            }
            return Ok(outcome(message));
        }
        if run.dry {
            let mut outcome = outcome("");
            if let Decision::Set { value, .. } = &decision {
                outcome.entry = Some(value.clone());
            }
            return Ok(outcome);
        }
        let new = decision.edit(config.format, file.text())?;
        if let (Decision::Set { .. }, Intent::Install(server)) = (&decision, intent) {
            let planned = config.format.read(&new)?;
            remember(run, harness, config, path, &planned, &server)?;
        }
        let program = run.setup.program_of(harness).filter(|_| config.managed);
        let mut event = AuditEvent::new(harness.id, path, TargetKind::Mcp, Action::Removing);
        event.shape = decision.shape();
        event.before = file.content().map(|text| digest(text.as_bytes()));
        if program.is_none() {
            event.after = Some(digest(new.as_bytes()));
        }
        let mut announce = || match decision.is_destructive() {
            true => run.write_audit(&event),
            false => Ok(()),
        };
        let changed = match &program {
            Some(program) => {
                announce()?;
                manager::carry_out(run.setup, program, &decision, intent)?;
                let after = ConfigFile::open(run.disk, path)?;
                manager::verify(program, &config.format.read(after.text())?, &decision, intent)?;
                event.after = Some(digest(after.text().as_bytes()));
                true
            }
            None => file.replace(run.disk, &new, &mut announce)?,
        };
        if changed {
            event.action = match decision.status() {
                Status::Added => Action::Added,
                Status::Updated => Action::Updated,
                _ => Action::Removed,
            };
            run.write_audit(&event)?;
            let outcome = outcome("");
            match decision {
                Decision::Remove(_) => run.forget(harness.id, TargetKind::Mcp)?,
                _ => run.settle(harness.id, TargetKind::Mcp)?,
            }
            return Ok(outcome);
        }
    }
    Err(TargetError::Changed(ATTEMPTS))
}

/// Records in the manifest the entry for `server` that `root` contains, unless the entry is already
/// recorded. `root` is the current or the planned content of a configuration. Does nothing in a dry
/// run.
fn remember(
    run: &mut Run<'_>,
    harness: &Harness,
    config: &Config,
    path: &Path,
    root: &serde_json::Value,
    server: &Server<'_>,
) -> Result<(), TargetError> {
    let entry = config.slots.iter().find_map(|slot| {
        let value = crate::edit::lookup(root, slot.pointer)?;
        let shape = slot.shapes.iter().find(|shape| crate::shape::same(&(shape.build)(server), value))?;
        Some((slot, shape, value))
    });
    let Some((slot, shape, value)) = entry.filter(|_| !run.dry) else { return Ok(()) };
    let record = Record {
        harness: harness.id.to_owned(),
        target: TargetKind::Mcp,
        path: path.display().to_string(),
        pointer: Some(slot.pointer.join("/")),
        shape_id: Some(shape.id.to_owned()),
        value: Some(value.clone()),
        cmd: Some(server.command.to_owned()),
        mode: None,
        digest: None,
        version: VERSION.to_owned(),
        installed_at: now(),
    };
    let is_same = |old: &Record| {
        (&old.path, &old.pointer, &old.value, &old.cmd)
            == (&record.path, &record.pointer, &record.value, &record.cmd)
            && (old.harness == record.harness && old.target == record.target)
    };
    if run.manifest.0.iter().any(is_same) {
        return Ok(());
    }
    run.remember(record)
}
