//! Applies records to the metadata. Records contain post-images, so their values only need to be
//! stored.

use super::kind::{Kind, StartReason};
use super::meta::{ActiveSegment, OpenCommand, OpenRecording, SessionMeta, Status};
use super::record::Record;
use crate::turn::{AgentId, Child, TurnPhase};

/// The error for a record that does not follow the records folded so far.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FoldFault {
    /// A record is missing, or was already folded.
    #[error("found record {found} where record {expected} was expected")]
    Sequence {
        /// The next `seq`.
        expected: u64,
        /// The `seq` of the record.
        found: u64,
    },
    /// The record belongs to another lifetime.
    #[error("record {seq} belongs to lifetime {found}, not {expected}")]
    Lifetime {
        /// The `seq` of the record.
        seq: u64,
        /// The lifetime that the record must have.
        expected: u32,
        /// The lifetime of the record.
        found: u32,
    },
}

impl SessionMeta {
    /// Applies a record of `segment`. The caller must skip records with a `seq` up to
    /// `applied_seq`.
    ///
    /// # Errors
    /// Returns [`FoldFault`] if the record is not the next one. Nothing is changed in that case.
    pub fn fold(&mut self, segment: u32, record: &Record) -> Result<(), FoldFault> {
        let expected = self.applied_seq + 1;
        if record.seq != expected {
            return Err(FoldFault::Sequence { expected, found: record.seq });
        }
        let expected = self.lifetime + u32::from(record.begins_lifetime());
        if record.lifetime != expected {
            return Err(FoldFault::Lifetime { seq: record.seq, expected, found: record.lifetime });
        }
        self.apply(segment, record);
        if let Some(turn) = record.kind.turn_after() {
            self.turn = turn.clone();
            self.note_owner();
        }
        if record.seq == 1 {
            // Metadata that is rebuilt from the log is newer than the session.
            self.created_at = self.created_at.min(record.ts);
        }
        self.applied_seq = record.seq;
        self.lifetime = record.lifetime;
        self.updated_at = record.ts;
        Ok(())
    }

    fn apply(&mut self, segment: u32, record: &Record) {
        match &record.kind {
            Kind::SegmentStart(start) => {
                self.session_uid.clone_from(&start.session_uid);
                self.platform.clone_from(&start.platform);
                self.manifest.clone_from(&start.manifest);
                self.policy.clone_from(&start.policy);
                self.targets.clone_from(&start.targets);
                self.base_scope.clone_from(&start.base_scope);
                self.parent.clone_from(&start.parent);
                if start.reason.begins_lifetime() {
                    self.status = Status::Open;
                }
                if start.reason == StartReason::Revoke {
                    self.lose_device();
                }
                self.active = Some(ActiveSegment { segment, first_seq: record.seq });
            }
            Kind::CommandBegin(begin) => {
                self.last_command = Some(begin.cmd_id);
                self.open_commands.push(OpenCommand {
                    cmd_id: begin.cmd_id,
                    verb: begin.verb.clone(),
                    turn_id: record.turn_id,
                    began_at: record.ts,
                });
            }
            Kind::CommandEnd(end) => {
                self.open_commands.retain(|open| open.cmd_id != end.cmd_id);
                let address = end.address.as_ref().and_then(|address| address.text());
                if let Some((target, address)) = self.targets.first_mut().zip(address) {
                    address.clone_into(&mut target.device_key);
                }
            }
            Kind::Snapshot(snapshot) => {
                self.last_snapshot_generation = Some(snapshot.generation);
                self.last_snapshot_blob = Some(snapshot.blob.blob.clone());
            }
            Kind::RecordingStarted(_) => self.recording = Some(OpenRecording { first_seq: record.seq }),
            Kind::RecordingEnded(_) => self.recording = None,
            Kind::MemberJoined(joined) => {
                self.remove_member(&joined.member.agent_id);
                self.members.push(joined.member.clone());
                self.members.sort_by_key(|member| member.ordinal);
            }
            Kind::MemberLeft(left) => self.remove_member(&left.agent_id),
            Kind::MemberKicked(kicked) => self.remove_member(&kicked.agent_id),
            Kind::TurnClosed(_) => self.status = Status::Closed,
            Kind::DaemonStarted(_) => self.lose_device(),
            Kind::NoteAdded(note) => {
                self.open_notes.ids.insert(note.note_id);
                self.open_notes.max_note_seq = record.seq;
            }
            Kind::NoteResolved(note) => {
                self.open_notes.ids.remove(&note.note_id);
            }
            Kind::ChildSpawned(spawned) => self.put_child(&spawned.child),
            Kind::ChildStateChanged(changed) => self.put_child(&changed.child),
            Kind::LoanOpened(opened) => {
                self.loans.retain(|loan| loan.loan_id != opened.loan.loan_id);
                self.loans.push(opened.loan.clone());
            }
            Kind::LoanReclaimed(back) => {
                self.loans.retain(|loan| loan.loan_id != back.loan.loan_id);
                self.reclaimed.push(back.loan.clone());
                let over = self.reclaimed.len().saturating_sub(Self::MAX_RECLAIMED);
                self.reclaimed.drain(..over);
            }
            Kind::PeerAdded(added) => {
                self.peers.insert(added.peer.clone());
            }
            Kind::PeerRemoved(removed) => {
                self.peers.remove(&removed.peer);
            }
            Kind::PolicyChanged(changed) => {
                self.policy.clone_from(&changed.policy);
                if let Some(deny) = &changed.deny {
                    self.base_scope.deny.clone_from(deny);
                }
            }
            // These kinds change nothing, or only the turn, which the caller stores.
            Kind::SegmentEnd(_)
            | Kind::RepairStarted(_)
            | Kind::AgentSuperseded(_)
            | Kind::TurnClaimed(_)
            | Kind::TurnReleased(_)
            | Kind::TurnAssigned(_)
            | Kind::TurnTaken(_)
            | Kind::TurnSurrendered(_)
            | Kind::ReservationExpired(_)
            | Kind::TurnLeaseStale(_)
            | Kind::Message(_)
            | Kind::LogRepaired(_)
            | Kind::ContextAdded(_)
            | Kind::ContextCleared(_) => {}
        }
    }

    /// Notes that the session's device is gone. A child session has no device of its own.
    fn lose_device(&mut self) {
        if self.status == Status::Open && self.parent.is_none() {
            self.status = Status::Interrupted;
        }
    }

    /// Records in the owner's member entry which turn the owner held last. This turn determines the
    /// order of waiters.
    fn note_owner(&mut self) {
        if self.turn.state == TurnPhase::Owned
            && let Some(owner) =
                self.members.iter_mut().find(|m| Some(&m.agent_id) == self.turn.owner.as_ref())
        {
            owner.last_held_turn = Some(self.turn.turn_id);
        }
    }

    fn remove_member(&mut self, agent: &AgentId) {
        self.members.retain(|member| member.agent_id != *agent);
    }

    fn put_child(&mut self, child: &Child) {
        match self.children.iter_mut().find(|known| known.session == child.session) {
            Some(known) => known.clone_from(child),
            None => self.children.push(child.clone()),
        }
    }
}
