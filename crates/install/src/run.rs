//! One run over the targets: its lock, its audit and its manifest.

use crate::audit::{Action, Audit, AuditEvent, Reason, now};
use crate::disk::{self, Disk};
use crate::error::TargetError;
use crate::manifest::{Manifest, Record, TargetKind};
use crate::outcome::{Outcome, Status};
use crate::setup::{Setup, VERSION};
use crate::state::CleanupState;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use stickpin_kernel::{Result, io_error};

/// The context of a run.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub(crate) setup: &'a Setup,
    pub(crate) disk: &'a dyn Disk,
    pub(crate) audit: Audit,
    pub(crate) manifest: Manifest,
    /// Whether to report what would happen without changing anything.
    pub(crate) dry: bool,
    /// The lock, held for as long as the run lasts; `None` in a dry run.
    _lock: Option<File>,
}

impl<'a> Run<'a> {
    /// Waits until other runs have ended, then begins a run that changes files. With `dry`, begins
    /// a run that changes nothing, without waiting.
    ///
    /// # Errors
    /// Returns `IO` or `STORAGE_FULL` if the folder or the manifest of the installation cannot be
    /// used.
    pub(crate) fn begin(setup: &'a Setup, disk: &'a dyn Disk, reason: Reason, dry: bool) -> Result<Self> {
        if dry {
            return Self::new(setup, disk, reason, None);
        }
        let (path, lock) = open_lock(setup)?;
        lock.lock().map_err(|e| io_error("lock", &path, &e))?;
        Self::new(setup, disk, reason, Some(lock))
    }

    /// Begins a run that changes files. Returns `None` if another run is in progress.
    ///
    /// # Errors
    /// Returns the errors of [`Self::begin`].
    pub(crate) fn try_begin(setup: &'a Setup, disk: &'a dyn Disk, reason: Reason) -> Result<Option<Self>> {
        let (_, lock) = open_lock(setup)?;
        lock.try_lock().ok().map(|()| Self::new(setup, disk, reason, Some(lock))).transpose()
    }

    fn new(setup: &'a Setup, disk: &'a dyn Disk, reason: Reason, lock: Option<File>) -> Result<Self> {
        let audit = Audit {
            path: setup.folder().join("install-audit.jsonl"),
            run_id: format!("{:032x}", rand::random::<u128>()),
            reason,
            version_from: CleanupState::read(disk, setup).and_then(|state| state.cleanup_version),
            version_to: VERSION,
            clock: now,
        };
        let manifest = Manifest::read(disk, &setup.manifest())?;
        Ok(Self { setup, disk, audit, manifest, dry: lock.is_none(), _lock: lock })
    }

    /// Writes the manifest.
    pub(crate) fn save(&self) -> Result<(), TargetError> {
        let path = self.setup.manifest();
        self.manifest.write(self.disk, &path).map_err(|e| TargetError::io("write", &path, &e))
    }

    /// Records what is about to be written. The record precedes the change, and older records stay
    /// until the change is complete, so that an interrupted run leaves nothing unrecognized.
    pub(crate) fn remember(&mut self, record: Record) -> Result<(), TargetError> {
        self.manifest.0.push(record);
        self.save().inspect_err(|_| drop(self.manifest.0.pop()))
    }

    /// Drops all records of a target except the last, because the change of the target is complete.
    pub(crate) fn settle(&mut self, harness: &str, target: TargetKind) -> Result<(), TargetError> {
        match self.manifest.settle(harness, target) {
            true => self.save(),
            false => Ok(()),
        }
    }

    /// Drops all records of a target. Does nothing in a dry run.
    pub(crate) fn forget(&mut self, harness: &str, target: TargetKind) -> Result<(), TargetError> {
        match !self.dry && self.manifest.drop(harness, target) {
            true => self.save(),
            false => Ok(()),
        }
    }

    /// Appends an audit line. Removals happen only after this function has returned.
    pub(crate) fn write_audit(&self, event: &AuditEvent<'_>) -> Result<(), TargetError> {
        let failed = |e: &std::io::Error| TargetError::io("write", &self.audit.path, e);
        self.audit.record(self.disk, event).map_err(|e| failed(&e))
    }

    /// Appends the audit line of a target that was preserved or failed.
    pub(crate) fn audit_unchanged(&self, outcome: &Outcome) {
        let action = match outcome.status {
            Status::Failed => Action::Failed,
            Status::Preserved | Status::UpdateAvailable => Action::Preserved,
            _ => return,
        };
        if self.dry {
            return;
        }
        let mut event = AuditEvent::new(outcome.harness, &outcome.path, outcome.target, action);
        event.detail = Some(outcome.message.clone());
        // Without this line, the outcome still reports what happened.
        let _ = self.write_audit(&event);
    }
}

/// Opens the file that a run locks.
fn open_lock(setup: &Setup) -> Result<(PathBuf, File)> {
    let folder = setup.folder();
    disk::make_folder(&folder, 0o700).map_err(|e| io_error("create the folder", &folder, &e))?;
    let path = folder.join("lock");
    let lock = OpenOptions::new().write(true).create(true).truncate(false).mode(disk::PRIVATE).open(&path);
    let lock = lock.map_err(|e| io_error("open", &path, &e))?;
    Ok((path, lock))
}
