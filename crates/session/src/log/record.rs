//! A record: the envelope that all kinds share.

use super::kind::{Kind, KindName};
use crate::timestamp::Timestamp;
use crate::turn::AgentId;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// The version of the records that this crate reads and writes. A new kind, or a kind with another
/// meaning, is another version.
pub const VERSION: u32 = 1;

/// The surface through which a record came.
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
    /// The place in the log, from 1, without gaps over all segments. Also the cursor of readers.
    pub seq: u64,
    /// When, in wall time. May go backwards: `seq` is the order.
    pub ts: Timestamp,
    /// The lifetime of the session.
    pub lifetime: u32,
    /// The turn in which it happened; for a record that grants a turn, the turn that it grants.
    pub turn_id: u64,
    /// Who did it; `None` for the daemon.
    pub agent: Option<AgentId>,
    /// Whom it concerns.
    pub to: Option<AgentId>,
    /// Meant for all members.
    pub bcast: bool,
    /// The surface through which it came.
    pub via: Via,
    /// What happened.
    pub kind: Kind,
}

/// A record as it is written, without its checksum. The keys stay in this order.
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

/// Reads the next entry of an object, which has to have this key: the order of keys is part of the
/// format, so that one pass without a buffer reads a record.
fn entry<'de, A: MapAccess<'de>, T: Deserialize<'de>>(map: &mut A, key: &'static str) -> Result<T, A::Error> {
    match map.next_key::<&str>()? {
        Some(found) if found == key => map.next_value(),
        Some(found) => Err(de::Error::custom(format_args!("expected `{key}`, found `{found}`"))),
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
                    return Err(de::Error::custom(format_args!("version {v}")));
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
