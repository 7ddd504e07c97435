//! The record of a session log: the envelope that all kinds share.

use super::kind::{Kind, KindName};
use crate::timestamp::Timestamp;
use crate::turn::AgentId;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// The version of the records that this crate reads and writes. A new kind, or a kind with a new
/// meaning, requires a new version.
pub const VERSION: u32 = 1;

/// The front end that a record came through, or the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Via {
    /// The command line.
    Cli,
    /// An MCP server.
    Mcp,
    /// The interactive console.
    Repl,
    /// A replayed script.
    Replay,
    /// The daemon itself.
    Daemon,
}

/// One entry of a session log.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The position in the log, from 1, without gaps across all segments. Also the cursor of
    /// readers.
    pub seq: u64,
    /// The wall time. Times may go backwards: `seq` determines the order.
    pub ts: Timestamp,
    /// The lifetime of the session.
    pub lifetime: u32,
    /// The turn in which the event happened. For a record that grants a turn, that turn; for the
    /// end of a command, the turn in which the command began.
    pub turn_id: u64,
    /// The agent that caused the event; `None` for the daemon.
    pub agent: Option<AgentId>,
    /// The agent that the event concerns.
    pub to: Option<AgentId>,
    /// Whether the event is meant for all members.
    pub bcast: bool,
    /// The front end that the event came through, or the daemon.
    pub via: Via,
    /// The event.
    pub kind: Kind,
}

impl Record {
    /// Returns whether the record begins a lifetime of the session.
    pub(super) fn begins_lifetime(&self) -> bool {
        matches!(&self.kind, Kind::SegmentStart(start) if start.reason.begins_lifetime())
    }
}

/// A record as it is written, without its checksum. The order of the keys is fixed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Written<'a> {
    v: u32,
    seq: u64,
    ts: Timestamp,
    lifetime: u32,
    turn_id: u64,
    agent: &'a Option<AgentId>,
    to: &'a Option<AgentId>,
    bcast: bool,
    via: Via,
    #[serde(flatten)]
    kind: &'a Kind,
}

impl<'a> Written<'a> {
    pub(super) fn new(record: &'a Record) -> Self {
        let Record { seq, ts, lifetime, turn_id, agent, to, bcast, via, kind } = record;
        Self {
            v: VERSION,
            seq: *seq,
            ts: *ts,
            lifetime: *lifetime,
            turn_id: *turn_id,
            agent,
            to,
            bcast: *bcast,
            via: *via,
            kind,
        }
    }
}

/// Reads the next entry of an object, which must have this key. The order of keys is part of the
/// format, so that a record is read in one pass without a buffer.
fn entry<'de, A: MapAccess<'de>, T: Deserialize<'de>>(map: &mut A, key: &'static str) -> Result<T, A::Error> {
    match map.next_key::<&str>()? {
        Some(found) if found == key => map.next_value(),
        Some(found) => Err(de::Error::custom(format_args!("expected the key `{key}`, found `{found}`"))),
        None => Err(de::Error::missing_field(key)),
    }
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Envelope;
        impl<'de> Visitor<'de> for Envelope {
            type Value = Record;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a record")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record, A::Error> {
                entry::<_, IgnoredAny>(&mut map, "crc")?;
                let v: u32 = entry(&mut map, "v")?;
                if v != VERSION {
                    return Err(de::Error::custom(format_args!(
                        "record format version {v} is not supported"
                    )));
                }
                Ok(Record {
                    seq: entry(&mut map, "seq")?,
                    ts: entry(&mut map, "ts")?,
                    lifetime: entry(&mut map, "lifetime")?,
                    turn_id: entry(&mut map, "turnId")?,
                    agent: entry(&mut map, "agent")?,
                    to: entry(&mut map, "to")?,
                    bcast: entry(&mut map, "bcast")?,
                    via: entry(&mut map, "via")?,
                    kind: {
                        let name: KindName = entry(&mut map, "kind")?;
                        Kind::read(name, MapAccessDeserializer::new(map))?
                    },
                })
            }
        }
        deserializer.deserialize_map(Envelope)
    }
}
