//! The lifetimes of a session: creating, restarting and adopting a session.

use super::{FoundDamage, Origin, SessionLog};
use crate::error::{Result, StoreError};
use crate::files::Files;
use crate::recover;
use crate::store::Store;
use crate::unsynced::Unsynced;
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::sync::Arc;
use stickpin_session::Timestamp;
use stickpin_session::log::{
    Arguments, Kind, LogRepaired, Parent, RepairCause, SegmentEnd, SegmentStart, SessionMeta, StartReason,
    Status,
};
use stickpin_session::turn::{BaseScope, Policy, TargetRef, TurnPhase, TurnState, machine};

/// The initial values of a lifetime.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// The platform of the device.
    pub platform: String,
    /// The resolved parameters of `open`, without secrets.
    pub manifest: Arguments,
    /// The effective policy.
    pub policy: Policy,
    /// The targets that the session drives.
    pub targets: Vec<TargetRef>,
    /// The base scope of the session.
    pub base_scope: BaseScope,
}

impl SessionLog {
    /// Creates a session and begins its first lifetime. `uid` is random and stays the same across
    /// all lifetimes.
    ///
    /// # Errors
    /// Returns an error if the name is in use, or if the session cannot be written. In the latter
    /// case, a pending session may remain, which can be opened and restarted.
    pub fn create(store: &Store, name: &str, uid: &str, start: Start, origin: &Origin) -> Result<Self> {
        let mut this = Self::pending(store, name, uid, None, origin.ts)?;
        this.restart(StartReason::Open, start, origin)?;
        Ok(this)
    }

    /// Creates a child session, whose scope is lent by its parent, and begins its first lifetime.
    ///
    /// # Errors
    /// Returns the errors of [`Self::create`].
    pub fn create_child(
        store: &Store,
        name: &str,
        uid: &str,
        parent: Parent,
        start: Start,
        origin: &Origin,
    ) -> Result<Self> {
        let mut this = Self::pending(store, name, uid, Some(parent), origin.ts)?;
        this.restart(StartReason::Open, start, origin)?;
        Ok(this)
    }

    fn pending(store: &Store, name: &str, uid: &str, parent: Option<Parent>, ts: Timestamp) -> Result<Self> {
        let dir = store.dir(name)?;
        if !matches!(recover::meta(&*store.files, &dir), Err(StoreError::Missing(_))) {
            return Err(StoreError::Exists(name.to_owned()));
        }
        for folder in [dir.log(), dir.blobs()] {
            store.files.make_dir(&folder).map_err(|e| StoreError::io("create", &folder, e))?;
        }
        sync_names(&*store.files, &dir.root)?;
        let mut meta = SessionMeta::pending(name, ts);
        uid.clone_into(&mut meta.session_uid);
        meta.parent = parent;
        let mut this = Self::over(store, dir, meta);
        this.store_meta()?;
        Ok(this)
    }

    pub(super) fn over(store: &Store, dir: crate::layout::SessionDir, meta: SessionMeta) -> Self {
        Self {
            store: store.clone(),
            dir,
            stored_seq: meta.applied_seq,
            is_anchor_due: false,
            meta,
            writer: None,
            unsynced: Arc::new(Unsynced::new(Arc::clone(&store.files))),
            meta_fault: None,
            pending_ends: Vec::new(),
            broken: None,
            damage: FoundDamage::default(),
            recent: VecDeque::new(),
        }
    }

    /// Begins a new lifetime in a new segment: after `open`, or after the device was lost. With
    /// [`StartReason::Revoke`], the lifetime continues with these values. Commands that never ended
    /// become interrupted. Grants no turn; the turn of a closed session becomes idle.
    ///
    /// # Errors
    /// Returns an error if the segment cannot be written. The previous lifetime then stays current.
    pub fn restart(&mut self, reason: StartReason, start: Start, origin: &Origin) -> Result<()> {
        self.flush_ends()?;
        if !self.store.reserve.is_over() {
            return Err(StoreError::Full { doing: "write", path: self.dir.log() });
        }
        if self.writer.as_ref().is_some_and(|writer| !writer.ended) {
            self.interrupt_commands(origin)?;
            let end = self.record(&Origin::daemon(origin.ts), Kind::SegmentEnd(SegmentEnd {}));
            self.write(end)?;
        }
        let turn = &self.meta.turn;
        let turn_after = match turn.state {
            TurnPhase::Closed => machine::reopen(turn),
            _ => turn.clone(),
        };
        let Start { platform, manifest, policy, targets, base_scope } = start;
        let mut start = self.start_of_meta(reason);
        start = SegmentStart { platform, manifest, policy, targets, base_scope, turn_after, ..start };
        self.begin_segment(origin, start)
    }

    /// Returns the first record of a new segment, with the current values of the metadata.
    pub(super) fn start_of_meta(&self, reason: StartReason) -> SegmentStart {
        let meta = &self.meta;
        SegmentStart {
            session_uid: meta.session_uid.clone(),
            platform: meta.platform.clone(),
            manifest: meta.manifest.clone(),
            policy: meta.policy.clone(),
            targets: meta.targets.clone(),
            base_scope: meta.base_scope.clone(),
            parent: meta.parent.clone(),
            prev_segment: meta.active.map(|active| active.segment),
            reason,
            turn_after: meta.turn.clone(),
        }
    }

    /// Rebuilds the metadata from the log, for a session whose metadata was removed or is damaged.
    /// The turn becomes idle under a number that no earlier fence matches. Call this function only
    /// at a person's request.
    ///
    /// # Errors
    /// Returns an error if there is readable metadata, or if the log is missing, damaged or
    /// inconsistent.
    pub fn adopt(store: &Store, name: &str, ts: Timestamp) -> Result<Self> {
        let dir = store.dir(name)?;
        match recover::meta(&*store.files, &dir) {
            Err(StoreError::Missing(_)) => {}
            Err(StoreError::MetaCorrupt { .. }) => recover::quarantine_meta(&*store.files, &dir)?,
            Err(e) => return Err(e),
            Ok(_) => return Err(StoreError::Exists(name.to_owned())),
        }
        let mut this = Self::over(store, dir, SessionMeta::pending(name, ts));
        this.recover(ts)?;
        if this.meta.status == Status::Pending {
            return Err(StoreError::Missing(name.to_owned()));
        }
        this.skip_turn(RepairCause::MetaLost, ts)?;
        this.store_meta()?;
        Ok(this)
    }

    /// Makes the turn idle, under the next number.
    pub(super) fn skip_turn(&mut self, cause: RepairCause, ts: Timestamp) -> Result<()> {
        let turn_id = self.meta.turn.turn_id + 1;
        let repair = LogRepaired {
            cause,
            segment: self.meta.active.map_or(1, |active| active.segment),
            dropped_bytes: 0,
            sha256: None,
            turn_after: Some(TurnState { turn_id, ..TurnState::default() }),
        };
        self.commit(&Origin::daemon(ts), Kind::LogRepaired(Box::new(repair))).map(drop)
    }
}

/// Syncs the folders that contain the names of a new session: its own folder, the folder of all
/// sessions, and the state directory.
fn sync_names(files: &dyn Files, root: &std::path::Path) -> Result<()> {
    for dir in root.ancestors().take(3) {
        match files.sync_dir(dir) {
            // The path of the state directory may be empty, and an empty path cannot be opened.
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            synced => synced.map_err(|e| StoreError::io("sync", dir, e))?,
        }
    }
    Ok(())
}
