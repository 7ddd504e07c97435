//! The rules of a log as a whole, checked record by record in one pass.

use super::check::{Illegal, legal_turn};
use super::fold::FoldFault;
use super::kind::{CommandId, Kind, Outcome, RepairCause};
use super::record::Record;
use crate::turn::TurnState;
use std::collections::BTreeMap;

/// A violation of a log's rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    /// A record is missing or duplicated, or belongs to the wrong lifetime.
    #[error(transparent)]
    Order(#[from] FoldFault),
    /// A segment begins with neither `segment_start` nor the repair of a damaged line, names a
    /// wrong predecessor, or contains a boundary record in the middle.
    #[error("segment {segment} has a wrong boundary at record {seq}")]
    Boundary {
        /// The number of the segment.
        segment: u32,
        /// The `seq` of the record.
        seq: u64,
    },
    /// The id of a `command_begin` differs from its `seq`.
    #[error("record {seq} begins a command with id {id} instead of c{seq}")]
    CommandName {
        /// The `seq` of the record.
        seq: u64,
        /// The id in the record.
        id: CommandId,
    },
    /// A `command_end` names a command that is not open: one that never began, has already ended,
    /// or began in an earlier lifetime.
    #[error("record {seq} ends command {id}, which is not open")]
    NotOpen {
        /// The `seq` of the record.
        seq: u64,
        /// The id in the record.
        id: CommandId,
    },
    /// A new lifetime began although a command had neither ended nor been recorded as interrupted.
    #[error("command {id} never ended")]
    NeverEnded {
        /// The id of the command.
        id: CommandId,
    },
    /// A record names a turn other than the one in which it was written. The end of a command must
    /// name the turn in which the command began. If `expected` equals `found`, a command ended
    /// after its turn without being marked as late.
    #[error("{}", wrong_turn(*seq, *expected, *found))]
    Turn {
        /// The `seq` of the record.
        seq: u64,
        /// The turn that the record should name.
        expected: u64,
        /// The turn that the record names.
        found: u64,
    },
    /// A record changes the turn in violation of the rules.
    #[error("record {seq}: {illegal}")]
    Illegal {
        /// The `seq` of the record.
        seq: u64,
        /// The broken rule.
        illegal: Illegal,
    },
}

/// Describes a [`Finding::Turn`].
fn wrong_turn(seq: u64, expected: u64, found: u64) -> String {
    match expected == found {
        true => format!("record {seq} ends a command after turn {found}, but is not marked as late"),
        false => format!("record {seq} names turn {found} instead of turn {expected}"),
    }
}

/// How many segments, records and open commands a log contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// The number of segments.
    pub segments: u64,
    /// The number of records.
    pub records: u64,
    /// The number of commands that are still open.
    pub open_commands: u64,
}

/// Checks a log. The caller passes all segments and their records in order.
#[derive(Debug, Default)]
pub struct Verifier {
    summary: Summary,
    segment: u32,
    starts: bool,
    ended: bool,
    last: Option<(u64, u32)>,
    /// The open commands, with the turn in which each began.
    open: BTreeMap<CommandId, u64>,
    turn: TurnState,
    /// The number of placeholders for records that a repair discarded. The lost records explain a
    /// `command_end` without a `command_begin`, and skipped turns.
    gaps: u64,
    findings: Vec<Finding>,
}

impl Verifier {
    /// The maximum number of findings that are kept.
    pub const MAX_FINDINGS: usize = 100;

    /// Begins the next segment.
    pub fn segment(&mut self, number: u32) {
        (self.segment, self.starts) = (number, true);
        self.summary.segments += 1;
    }

    /// Checks the next record.
    pub fn record(&mut self, record: &Record) {
        let seq = record.seq;
        self.summary.records += 1;
        let (expected, lifetime) = self.last.map_or((1, 0), |(seq, lifetime)| (seq + 1, lifetime));
        if seq != expected {
            self.find(FoldFault::Sequence { expected, found: seq }.into());
        }
        self.boundary(record);
        let begins = record.begins_lifetime();
        let lifetime = lifetime + u32::from(begins);
        if record.lifetime != lifetime {
            self.find(FoldFault::Lifetime { seq, expected: lifetime, found: record.lifetime }.into());
        }
        if begins {
            for id in std::mem::take(&mut self.open).into_keys() {
                self.find(Finding::NeverEnded { id });
            }
        }
        self.command(record);
        self.turn(record);
        self.last = Some((seq, record.lifetime));
    }

    fn boundary(&mut self, record: &Record) {
        let starts = std::mem::take(&mut self.starts);
        let ended = std::mem::take(&mut self.ended);
        let stub = matches!(&record.kind, Kind::LogRepaired(r) if r.cause == RepairCause::CorruptLine);
        let fits = match &record.kind {
            // Segments are numbered from 1, and each names the one before it.
            Kind::SegmentStart(start) => {
                starts && start.prev_segment == self.segment.checked_sub(1).filter(|&n| n > 0)
            }
            _ if starts => stub,
            _ => !ended,
        };
        if !fits {
            self.find(Finding::Boundary { segment: self.segment, seq: record.seq });
        }
        self.ended = matches!(record.kind, Kind::SegmentEnd(_));
        self.gaps += u64::from(stub);
    }

    fn command(&mut self, record: &Record) {
        let seq = record.seq;
        match &record.kind {
            Kind::CommandBegin(begin) => {
                if begin.cmd_id.seq() != seq {
                    self.find(Finding::CommandName { seq, id: begin.cmd_id });
                }
                self.open.insert(begin.cmd_id, record.turn_id);
            }
            Kind::CommandEnd(end) => {
                let id = end.cmd_id;
                let Some(began_in) = self.open.remove(&id) else {
                    if self.gaps == 0 {
                        self.find(Finding::NotOpen { seq, id });
                    }
                    return;
                };
                let late =
                    began_in != self.turn.turn_id && end.outcome != Outcome::Interrupted && self.gaps == 0;
                if record.turn_id != began_in || (late && !end.late) {
                    self.find(Finding::Turn { seq, expected: began_in, found: record.turn_id });
                }
            }
            _ => {}
        }
    }

    fn turn(&mut self, record: &Record) {
        let seq = record.seq;
        if let Err(illegal) = legal_turn(&record.kind, &self.turn)
            && self.gaps == 0
        {
            self.find(Finding::Illegal { seq, illegal });
        }
        if let Some(after) = record.kind.turn_after() {
            self.turn = after.clone();
        }
        let found = record.turn_id;
        if found != self.turn.turn_id && !matches!(record.kind, Kind::CommandEnd(_)) && self.gaps == 0 {
            self.find(Finding::Turn { seq, expected: self.turn.turn_id, found });
        }
    }

    fn find(&mut self, finding: Finding) {
        if self.findings.len() < Self::MAX_FINDINGS {
            self.findings.push(finding);
        }
    }

    /// Ends the check and returns the results.
    #[must_use]
    pub fn finish(mut self) -> (Summary, Vec<Finding>) {
        self.summary.open_commands = self.open.len() as u64;
        (self.summary, self.findings)
    }
}
