//! The content of a record, as a closed enum. A new kind requires a line in the table below, a case
//! in each `match` that lists all kinds, and a new [`super::VERSION`].

mod people;
mod recording;
mod run;

pub use people::{
    AgentSuperseded, ChildSpawned, ChildStateChanged, Evidence, LoanOpened, LoanReclaimed, MemberJoined,
    MemberKicked, MemberLeft, Message, MessageHint, NoteAdded, NoteResolved, PeerAdded, PeerRemoved,
    ReleaseReason, ReservationExpired, SurrenderReason, TurnAssigned, TurnClaimed, TurnClosed,
    TurnLeaseStale, TurnReleased, TurnSurrendered, TurnTaken,
};
pub use recording::{RecordedStep, RecordingEnded, RecordingStarted, RepairStarted};
pub use run::{
    CommandBegin, CommandEnd, CommandError, CommandId, ContextAdded, ContextCleared, DaemonStarted,
    LogRepaired, Outcome, PolicyChanged, RefPin, RepairCause, RepairedTurn, SegmentEnd, SegmentStart,
    Snapshot, StartReason,
};

use super::redacted::BlobRef;
use crate::turn::TurnState;
use serde::{Deserialize, Deserializer, Serialize};

/// A group of kinds. The group determines who reads the records, and when they must be on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Boundaries of segments.
    Segment,
    /// Commands, snapshots, recordings, and the entries of a console.
    Run,
    /// Membership.
    Member,
    /// The owner of the turn.
    Turn,
    /// Messages and notes.
    Talk,
    /// Children, loans and peers.
    Delegation,
    /// The daemon, the policy, and the log itself.
    System,
}

impl Group {
    /// Returns whether every record of this group must be on disk before anyone learns of it. In
    /// the other groups, a power failure may lose the records of the last 200 ms, except for those
    /// of a recording, as [`Kind::is_durable_at_once`] decides. Nothing is lost when the daemon
    /// dies.
    #[must_use]
    pub const fn is_durable_at_once(self) -> bool {
        !matches!(self, Group::Run | Group::Talk)
    }

    /// Returns whether the metadata must be written right after a record of this group.
    #[must_use]
    pub const fn changes_metadata(self) -> bool {
        matches!(self, Group::Segment | Group::Member | Group::Turn | Group::Delegation)
    }
}

/// Returns whether a kind ends something, from the word in its column.
macro_rules! ends {
    (other) => {
        false
    };
    (ends) => {
        true
    };
}

/// Returns the turn in a body, if its column marks the body as having one.
macro_rules! turn_in {
    ($body:ident) => {{
        let _ = $body;
        None
    }};
    ($body:ident, turn) => {
        Some(&$body.turn_after)
    };
    ($body:ident, maybe turn) => {
        $body.turn_after.as_ref()
    };
}

macro_rules! kinds {
    ($($name:ident($body:ty) = $text:literal, $group:ident, $effect:ident $(, $($turn:ident)+)?;)*) => {
        /// The kind of a record, with its content.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(tag = "kind")]
        pub enum Kind {$(
            #[doc = concat!("`", $text, "`")]
            #[serde(rename = $text)]
            $name($body),
        )*}

        /// The names of the kinds.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum KindName {$(
            #[doc = concat!("`", $text, "`")]
            #[serde(rename = $text)]
            $name,
        )*}

        impl KindName {
            /// All names.
            pub const ALL: &'static [KindName] = &[$(KindName::$name,)*];

            /// Returns the name as it is written.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(KindName::$name => $text,)* }
            }

            /// Returns the group of the kind.
            #[must_use]
            pub const fn group(self) -> Group {
                match self { $(KindName::$name => Group::$group,)* }
            }
        }

        impl Kind {
            /// Returns the name of the kind.
            #[must_use]
            pub const fn name(&self) -> KindName {
                match self { $(Kind::$name(_) => KindName::$name,)* }
            }

            /// Reads the fields of a kind.
            pub(super) fn read<'de, D: Deserializer<'de>>(name: KindName, d: D) -> Result<Self, D::Error> {
                match name { $(KindName::$name => <$body>::deserialize(d).map(Kind::$name),)* }
            }

            /// Returns the turn after this record, if the record contains it.
            #[must_use]
            pub fn turn_after(&self) -> Option<&TurnState> {
                match self { $(Kind::$name(body) => turn_in!(body $(, $($turn)+)?),)* }
            }

            /// Returns whether the record may be written when the disk is nearly full. True for
            /// most records that end, give back or repair something; false for all others.
            #[must_use]
            pub const fn ends_something(&self) -> bool {
                match self { $(Kind::$name(_) => ends!($effect),)* }
            }
        }
    };
}

// The variant with its body, its name and group, whether it ends something, and whether its body
// contains the turn after the record.
kinds! {
    SegmentStart(Box<SegmentStart>) = "segment_start", Segment, other, turn;
    SegmentEnd(SegmentEnd) = "segment_end", Segment, ends;
    CommandBegin(Box<CommandBegin>) = "command_begin", Run, other;
    CommandEnd(CommandEnd) = "command_end", Run, ends;
    Snapshot(Snapshot) = "snapshot", Run, other;
    RecordingStarted(Box<RecordingStarted>) = "recording_started", Run, other;
    RepairStarted(Box<RepairStarted>) = "repair_started", Run, other;
    RecordingEnded(RecordingEnded) = "recording_ended", Run, ends;
    MemberJoined(Box<MemberJoined>) = "member_joined", Member, other;
    MemberLeft(Box<MemberLeft>) = "member_left", Member, ends, maybe turn;
    MemberKicked(Box<MemberKicked>) = "member_kicked", Member, ends, maybe turn;
    AgentSuperseded(AgentSuperseded) = "agent_superseded", Member, other;
    TurnClaimed(Box<TurnClaimed>) = "turn_claimed", Turn, other, turn;
    TurnReleased(Box<TurnReleased>) = "turn_released", Turn, ends, turn;
    TurnAssigned(Box<TurnAssigned>) = "turn_assigned", Turn, other, turn;
    TurnTaken(Box<TurnTaken>) = "turn_taken", Turn, ends, turn;
    TurnSurrendered(Box<TurnSurrendered>) = "turn_surrendered", Turn, ends, turn;
    ReservationExpired(Box<ReservationExpired>) = "reservation_expired", Turn, ends, turn;
    TurnLeaseStale(Box<TurnLeaseStale>) = "turn_lease_stale", Turn, ends, turn;
    TurnClosed(Box<TurnClosed>) = "turn_closed", Turn, ends, turn;
    Message(Message) = "message", Talk, other;
    NoteAdded(NoteAdded) = "note_added", Talk, other;
    NoteResolved(NoteResolved) = "note_resolved", Talk, other;
    ChildSpawned(Box<ChildSpawned>) = "child_spawned", Delegation, other;
    ChildStateChanged(Box<ChildStateChanged>) = "child_state", Delegation, ends;
    LoanOpened(Box<LoanOpened>) = "loan_opened", Delegation, other;
    LoanReclaimed(Box<LoanReclaimed>) = "loan_reclaimed", Delegation, ends;
    PeerAdded(PeerAdded) = "peer_added", Delegation, other;
    PeerRemoved(PeerRemoved) = "peer_removed", Delegation, other;
    DaemonStarted(DaemonStarted) = "daemon_started", System, ends;
    LogRepaired(Box<LogRepaired>) = "log_repaired", System, ends, maybe turn;
    ContextAdded(Box<ContextAdded>) = "context", Run, other;
    ContextCleared(ContextCleared) = "context_cleared", Run, other;
    PolicyChanged(Box<PolicyChanged>) = "policy_changed", System, other;
}

impl Kind {
    /// Returns whether this record may make the metadata longer by more than a few bytes.
    #[must_use]
    pub fn grows_metadata(&self) -> bool {
        match self {
            Kind::NoteAdded(_) | Kind::PolicyChanged(_) => true,
            Kind::CommandEnd(end) => end.address.is_some(),
            other => other.name().group().changes_metadata() && !other.ends_something(),
        }
    }

    /// Returns whether the record must be on disk before anyone learns of it. This applies to some
    /// groups, and to all records of a recording, so that a recorded step survives a power cut.
    #[must_use]
    pub const fn is_durable_at_once(&self) -> bool {
        match self {
            Kind::CommandEnd(end) => end.recorded.is_some(),
            Kind::RecordingStarted(_) | Kind::RepairStarted(_) | Kind::RecordingEnded(_) => true,
            _ => self.name().group().is_durable_at_once(),
        }
    }

    /// Moves texts longer than `limit` bytes out of the record.
    ///
    /// # Errors
    /// Returns the errors of `offload`.
    pub fn offload<E>(
        &mut self,
        limit: usize,
        offload: &mut dyn FnMut(&str) -> Result<BlobRef, E>,
    ) -> Result<(), E> {
        match self {
            Kind::SegmentStart(body) => body.manifest.offload(limit, offload),
            Kind::CommandBegin(body) => {
                body.args_raw.offload(limit, offload)?;
                body.args_resolved.offload(limit, offload)?;
                body.summary.offload(limit, offload)
            }
            Kind::CommandEnd(body) => {
                let error = body.error.as_mut().map(|error| &mut error.message);
                let lines = match &mut body.recorded {
                    Some(RecordedStep::Lines(lines)) => Some(lines),
                    Some(RecordedStep::ScriptResumed) | None => None,
                };
                let mut texts = error.into_iter().chain(&mut body.address).chain(lines);
                texts.try_for_each(|text| text.offload(limit, offload))
            }
            Kind::ContextAdded(entry) => {
                let target = entry.target.as_mut();
                let mut texts =
                    [&mut entry.body, &mut entry.result, &mut entry.cwd].into_iter().chain(target);
                texts.try_for_each(|text| text.offload(limit, offload))
            }
            Kind::RepairStarted(body) => {
                body.text.offload(limit, offload)?;
                body.pass.as_mut().map_or(Ok(()), |pass| pass.offload(limit, offload))
            }
            Kind::MemberKicked(body) => {
                body.reason.as_mut().map_or(Ok(()), |reason| reason.offload(limit, offload))
            }
            Kind::TurnTaken(body) => body.note.as_mut().map_or(Ok(()), |note| note.offload(limit, offload)),
            Kind::Message(Message { body, .. }) | Kind::NoteAdded(NoteAdded { body, .. }) => {
                body.offload(limit, offload)
            }
            // In these kinds, no text is longer than a name or than the limit for a handoff.
            Kind::SegmentEnd(_)
            | Kind::Snapshot(_)
            | Kind::RecordingStarted(_)
            | Kind::RecordingEnded(_)
            | Kind::MemberJoined(_)
            | Kind::MemberLeft(_)
            | Kind::AgentSuperseded(_)
            | Kind::TurnClaimed(_)
            | Kind::TurnReleased(_)
            | Kind::TurnAssigned(_)
            | Kind::TurnSurrendered(_)
            | Kind::ReservationExpired(_)
            | Kind::TurnLeaseStale(_)
            | Kind::TurnClosed(_)
            | Kind::NoteResolved(_)
            | Kind::ChildSpawned(_)
            | Kind::ChildStateChanged(_)
            | Kind::LoanOpened(_)
            | Kind::LoanReclaimed(_)
            | Kind::PeerAdded(_)
            | Kind::PeerRemoved(_)
            | Kind::DaemonStarted(_)
            | Kind::LogRepaired(_)
            | Kind::ContextCleared(_)
            | Kind::PolicyChanged(_) => Ok(()),
        }
    }
}
