//! Removes stale registrations: entries in a form that only former versions wrote, entries whose
//! program no longer exists, and duplicates of the shared skill.

use crate::audit::Reason;
use crate::decide::Intent;
use crate::disk::{Disk, RealDisk};
use crate::harness::{HARNESSES, Harness, SHARED_SKILL};
use crate::outcome::{Outcome, Status};
use crate::registration;
use crate::run::Run;
use crate::setup::{Setup, VERSION};
use crate::skill;
use crate::state::CleanupState;
use std::path::Path;
use stickpin_kernel::Result;

/// Cleans up, regardless of which version did so last. Returns a summary if something was removed
/// or failed.
///
/// # Errors
/// Returns `IO` or `STORAGE_FULL` if the folder or the manifest of the installation cannot be used.
/// A target that fails is part of the summary.
pub fn cleanup(setup: &Setup, reason: Reason) -> Result<Option<String>> {
    let mut run = Run::begin(setup, &RealDisk, reason, false)?;
    Ok(complete(&mut run, HARNESSES, false))
}

/// Cleans up if this version has not done so yet. A person's first command with each version also
/// refreshes installed skills. If nothing is due, reads only one small file. Does nothing while
/// another run is in progress, or soon after a failed cleanup. Returns a summary if something was
/// removed or failed.
///
/// # Errors
/// Returns `IO` or `STORAGE_FULL` if the folder or the manifest of the installation cannot be used.
pub fn first_run(setup: &Setup, is_person: bool) -> Result<Option<String>> {
    first_run_on(&RealDisk, setup, is_person)
}

pub(crate) fn first_run_on(disk: &dyn Disk, setup: &Setup, is_person: bool) -> Result<Option<String>> {
    let state = CleanupState::read(disk, setup).unwrap_or_default();
    let is_current = |version: &Option<String>| version.as_deref() == Some(VERSION);
    if is_current(&state.cleanup_version) && (!is_person || is_current(&state.skill_version)) {
        return Ok(None);
    }
    if state.is_deferred() {
        return Ok(None);
    }
    let mut run = Run::try_begin(setup, disk, Reason::FirstRun)?;
    Ok(run.as_mut().and_then(|run| complete(run, HARNESSES, is_person)))
}

/// Cleans up and records the version. After a failure, the version of the cleanup is not recorded,
/// and the cleanup is tried again ten minutes later.
pub(crate) fn complete(run: &mut Run<'_>, harnesses: &[Harness], refreshes: bool) -> Option<String> {
    let outcomes = stale(run, harnesses);
    let mut failed = outcomes.iter().any(|outcome| outcome.status == Status::Failed);
    let mut state = CleanupState::read(run.disk, run.setup).unwrap_or_default();
    if refreshes {
        match skill::refresh(run) {
            Ok(()) => state.skill_version = Some(VERSION.to_owned()),
            Err(_) => failed = true,
        }
    }
    state = match failed {
        true => state.defer(),
        false => CleanupState { cleanup_version: Some(VERSION.to_owned()), retry_after: None, ..state },
    };
    failed |= state.write(run.disk, run.setup).is_err();
    summary(&outcomes, failed)
}

/// Removes stale registrations from all harnesses, installed or not.
pub(crate) fn stale(run: &mut Run<'_>, harnesses: &[Harness]) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for harness in harnesses {
        outcomes.extend(registration::apply(run, harness, Intent::Cleanup(|path| Path::new(path).exists())));
        let shared = run.setup.place(&SHARED_SKILL);
        for path in harness.duplicates.iter().map(|place| run.setup.place(place)) {
            if skill::is_ours(run, &shared) && skill::is_ours(run, &path) {
                outcomes.push(skill::remove(run, harness.id, &path));
            }
        }
    }
    outcomes
}

fn summary(outcomes: &[Outcome], failed: bool) -> Option<String> {
    let names = |status: Status| {
        let found = outcomes.iter().filter(|outcome| outcome.status == status);
        found.map(|outcome| outcome.harness).collect::<Vec<_>>().join(", ")
    };
    let (removed, failures) = (names(Status::Removed), names(Status::Failed));
    let mut parts = Vec::new();
    if !removed.is_empty() {
        parts.push(format!("removed stale registrations of stickpin from {removed}"));
    }
    if !failures.is_empty() {
        parts.push(format!("could not clean up the registration in {failures}"));
    } else if failed {
        parts.push("could not complete the cleanup of registrations".to_owned());
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}
