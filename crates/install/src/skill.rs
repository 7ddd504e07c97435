//! The skill: instructions for agents, in folders that harnesses read.

use crate::audit::{Action, AuditEvent, digest, now};
use crate::disk;
use crate::error::TargetError;
use crate::harness::Harness;
use crate::manifest::{Record, SkillMode, TargetKind};
use crate::outcome::{Outcome, Status};
use crate::run::Run;
use crate::setup::{VERSION, is_same_file};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

/// The skill of this version.
pub(crate) const TEXT: &str = include_str!("../skill/SKILL.md");

/// The name of the file in the folder of a skill.
const FILE: &str = "SKILL.md";

/// SHA-256 digests of the skills of former versions. Such skills may be replaced and removed.
const FORMER: &[&str] = &[];

/// What exists at the path of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    /// A link to the skill in the state directory.
    Link,
    /// An unedited copy, or an empty folder. `current` is true for a copy of this version.
    Copy {
        current: bool,
    },
    /// A folder with an edited skill.
    Edited,
    /// Anything else.
    Foreign,
}

/// How to install a skill.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SkillOptions {
    /// A link or a copy. By default, the mode of the existing installation, or a link if nothing is
    /// installed.
    pub(crate) mode: Option<SkillMode>,
    /// Whether to replace an edited skill, or a link to something else.
    pub(crate) replace: bool,
}

/// Installs the skill where a harness reads it.
pub(crate) fn install(run: &mut Run<'_>, harness: &Harness, options: SkillOptions) -> Outcome {
    let path = run.setup.place(&harness.skill);
    let outcome = write(run, harness, &path, options)
        .map(|(status, message)| Outcome::new(harness.id, TargetKind::Skill, &path, status, message))
        .unwrap_or_else(|error| Outcome::failure(harness.id, TargetKind::Skill, &path, &error));
    run.audit_unchanged(&outcome);
    outcome
}

/// Removes an unedited skill. `harness` is the harness that the audit names.
pub(crate) fn remove(run: &Run<'_>, harness: &'static str, path: &Path) -> Outcome {
    let outcome = take_away(run, harness, path)
        .map(|(status, message)| Outcome::new(harness, TargetKind::Skill, path, status, message))
        .unwrap_or_else(|error| Outcome::failure(harness, TargetKind::Skill, path, &error));
    run.audit_unchanged(&outcome);
    outcome
}

/// Returns whether `path` is a link to the skill in the state directory, an unedited copy of a
/// skill, or an empty folder.
pub(crate) fn is_ours(run: &Run<'_>, path: &Path) -> bool {
    matches!(inspect(run, path), Ok(Found::Link | Found::Copy { .. }))
}

/// Updates unedited installed skills to this version.
pub(crate) fn refresh(run: &Run<'_>) -> Result<(), TargetError> {
    let records = run.manifest.0.iter().filter(|record| record.target == TargetKind::Skill);
    for record in records {
        let path = Path::new(&record.path);
        let changed = match inspect(run, path)? {
            Found::Link => write_bundle(run, false)?,
            Found::Copy { current: false } => write_file(run, path).map(|()| true)?,
            _ => false,
        };
        if changed {
            let mut event = AuditEvent::new(&record.harness, path, TargetKind::Skill, Action::Updated);
            event.after = Some(digest(TEXT.as_bytes()));
            run.write_audit(&event)?;
        }
    }
    Ok(())
}

const EDITED: &str = "the skill was edited; use `--replace` to replace it";
const FOREIGN: &str = "something else is at this path";

fn write(
    run: &mut Run<'_>,
    harness: &Harness,
    path: &Path,
    options: SkillOptions,
) -> Result<(Status, &'static str), TargetError> {
    let found = inspect(run, path)?;
    let mode = options.mode.unwrap_or(match found {
        Found::Copy { .. } => SkillMode::Copy,
        _ => SkillMode::Link,
    });
    let replaceable = match found {
        Found::Edited if !options.replace => return Ok((Status::UpdateAvailable, EDITED)),
        Found::Foreign if !options.replace || !path.is_symlink() => return Ok((Status::Preserved, FOREIGN)),
        // The other files in the folder stay.
        Found::Edited => SkillMode::Copy,
        _ => mode,
    };
    let status = match (found, replaceable) {
        (Found::Nothing, _) => Status::Added,
        (Found::Copy { current: true }, SkillMode::Copy) => Status::AlreadyPresent,
        (Found::Link, SkillMode::Link) => match bundle(run)? {
            Found::Copy { current: true } => Status::AlreadyPresent,
            Found::Edited if !options.replace => return Ok((Status::UpdateAvailable, EDITED)),
            _ => Status::Updated,
        },
        _ => Status::Updated,
    };
    if run.dry {
        return Ok((status, ""));
    }
    remember(run, harness, path, replaceable)?;
    if status == Status::AlreadyPresent {
        run.settle(harness.id, TargetKind::Skill)?;
        return Ok((status, ""));
    }
    let mut event = AuditEvent::new(harness.id, path, TargetKind::Skill, Action::Removing);
    event.after = Some(digest(TEXT.as_bytes()));
    if status == Status::Updated {
        event.before = fs::read(path.join(FILE)).ok().map(|bytes| digest(&bytes));
        run.write_audit(&event)?;
    }
    match (found, replaceable) {
        (Found::Link, SkillMode::Link) => {}
        (Found::Link | Found::Foreign, _) => {
            run.disk.remove(path).map_err(|e| TargetError::io("remove", path, &e))?;
        }
        (Found::Copy { .. }, SkillMode::Link) => remove_folder(run, path)?,
        _ => {}
    }
    match replaceable {
        SkillMode::Copy => write_file(run, path)?,
        SkillMode::Link => {
            write_bundle(run, options.replace)?;
            if found != Found::Link {
                link(run, path)?;
            }
        }
    }
    event.action = if status == Status::Added { Action::Added } else { Action::Updated };
    run.write_audit(&event)?;
    run.settle(harness.id, TargetKind::Skill)?;
    Ok((status, ""))
}

fn take_away(run: &Run<'_>, harness: &str, path: &Path) -> Result<(Status, &'static str), TargetError> {
    let found = inspect(run, path)?;
    match found {
        Found::Nothing => return Ok((Status::AlreadyAbsent, "")),
        Found::Edited => return Ok((Status::Preserved, "the skill was edited")),
        Found::Foreign => return Ok((Status::Preserved, FOREIGN)),
        _ if run.dry => return Ok((Status::Removed, "")),
        _ => {}
    }
    let mut event = AuditEvent::new(harness, path, TargetKind::Skill, Action::Removing);
    event.before = fs::read(path.join(FILE)).ok().map(|bytes| digest(&bytes));
    run.write_audit(&event)?;
    match found {
        Found::Link => run.disk.remove(path).map_err(|e| TargetError::io("remove", path, &e))?,
        _ => remove_folder(run, path)?,
    }
    event.action = Action::Removed;
    run.write_audit(&event)?;
    Ok((Status::Removed, ""))
}

fn inspect(run: &Run<'_>, path: &Path) -> Result<Found, TargetError> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Found::Nothing);
        }
        Err(e) => return Err(TargetError::io("read", path, &e)),
    };
    if found.is_symlink() {
        let target = fs::read_link(path).map_err(|e| TargetError::io("read", path, &e))?;
        let bundle = run.setup.bundle();
        let ours = target == bundle || is_same_file(path, &bundle);
        return Ok(if ours { Found::Link } else { Found::Foreign });
    }
    if !found.is_dir() {
        return Ok(Found::Foreign);
    }
    folder(run, path)
}

/// Determines the content of a folder. A skill with other files beside it counts as edited.
fn folder(run: &Run<'_>, path: &Path) -> Result<Found, TargetError> {
    let read = |e: &io::Error| TargetError::io("read", path, e);
    let Some(text) = run.disk.read(&path.join(FILE)).map_err(|e| read(&e))? else {
        // An interrupted run may leave an empty folder.
        let is_empty = fs::read_dir(path).map_err(|e| read(&e))?.next().is_none();
        return Ok(if is_empty { Found::Copy { current: false } } else { Found::Foreign });
    };
    let (digest, current) = (digest(&text), text == TEXT.as_bytes());
    let alone = fs::read_dir(path).map_err(|e| read(&e))?.count() == 1;
    let shipped = current || FORMER.contains(&digest.as_str()) || run.manifest.has_digest(&digest);
    Ok(if shipped && alone { Found::Copy { current } } else { Found::Edited })
}

/// Determines the state of the skill in the state directory.
fn bundle(run: &Run<'_>) -> Result<Found, TargetError> {
    let path = run.setup.bundle();
    if path.exists() { folder(run, &path) } else { Ok(Found::Nothing) }
}

/// Writes the skill that links lead to, unless the skill there is current. Replaces an edited
/// skill, or other content, only if `replace` is true. Returns whether the skill was written.
fn write_bundle(run: &Run<'_>, replace: bool) -> Result<bool, TargetError> {
    match bundle(run)? {
        Found::Copy { current: true } => Ok(false),
        Found::Edited | Found::Foreign if !replace => Ok(false),
        _ => write_file(run, &run.setup.bundle()).map(|()| true),
    }
}

fn write_file(run: &Run<'_>, folder: &Path) -> Result<(), TargetError> {
    let failed = |e: &io::Error| TargetError::io("write", &folder.join(FILE), e);
    disk::make_folder(folder, 0o755).map_err(|e| failed(&e))?;
    disk::replace(run.disk, &folder.join(FILE), TEXT.as_bytes(), 0o644).map_err(|e| failed(&e))
}

fn link(run: &Run<'_>, path: &Path) -> Result<(), TargetError> {
    let failed = |e: &io::Error| TargetError::io("create the link", path, e);
    if let Some(folder) = path.parent() {
        disk::make_folder(folder, 0o755).map_err(|e| failed(&e))?;
    }
    std::os::unix::fs::symlink(run.setup.bundle(), path).map_err(|e| failed(&e))
}

/// Removes a folder that contains nothing but the skill.
fn remove_folder(run: &Run<'_>, path: &Path) -> Result<(), TargetError> {
    let failed = |e: &io::Error| TargetError::io("remove", path, e);
    disk::missing_is_fine(run.disk.remove(&path.join(FILE))).map_err(|e| failed(&e))?;
    fs::remove_dir(path).map_err(|e| failed(&e))
}

fn remember(run: &mut Run<'_>, harness: &Harness, path: &Path, mode: SkillMode) -> Result<(), TargetError> {
    let path = path.display().to_string();
    let digest = digest(TEXT.as_bytes());
    let is_same = |record: &Record| {
        record.harness == harness.id && record.mode == Some(mode) && record.digest.as_ref() == Some(&digest)
    };
    if run.manifest.skills_at(&path).any(is_same) {
        return Ok(());
    }
    run.remember(Record {
        harness: harness.id.to_owned(),
        target: TargetKind::Skill,
        path,
        pointer: None,
        shape_id: None,
        value: None,
        cmd: None,
        mode: Some(mode),
        digest: Some(digest),
        version: VERSION.to_owned(),
        installed_at: now(),
    })
}
