//! Entries of the session log, as the daemon sends them.

use serde::Deserialize;
use serde_json::Value;

/// An entry of the feed, without the fields that the console does not show.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FeedEvent {
    /// The `seq` of the record.
    pub(crate) seq: u64,
    /// The time, as RFC 3339 in UTC.
    pub(crate) ts: String,
    /// The kind of the record.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The id of the agent that caused the event; `None` for the daemon.
    pub(crate) from: Option<String>,
    /// The agent that the entry concerns.
    pub(crate) to: Option<String>,
    /// The text of a message or note.
    pub(crate) body: Option<Value>,
    /// The reason for the event.
    pub(crate) reason: Option<Value>,
    /// All other content of the record.
    #[serde(default)]
    pub(crate) payload: Value,
}

/// A part of the feed.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FeedPage {
    /// The entries, oldest first.
    pub(crate) events: Vec<FeedEvent>,
    /// The record after which reading continues.
    pub(crate) cursor_seq: u64,
    /// Whether the session is closed.
    #[serde(default)]
    pub(crate) closed: bool,
}

/// The output of `turn state`, without the fields that the console does not use.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct TurnView {
    /// The name of the session.
    pub(crate) session: String,
    /// The number of the turn.
    pub(crate) turn_id: u64,
    /// The id of the turn's owner; `None` if the turn has no owner.
    pub(crate) owner: Option<String>,
    /// The id of the agent that may claim the turn next, if the turn is reserved.
    pub(crate) reserved_for: Option<String>,
    /// The members of the session.
    pub(crate) members: Vec<Member>,
    /// The number of unresolved notes.
    pub(crate) open_notes: usize,
}

/// A member of the session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Member {
    /// The id of the agent.
    pub(crate) agent_id: String,
    /// The role: `driver` or `observer`.
    #[serde(default)]
    pub(crate) role: String,
    /// Whether the member is this console.
    #[serde(default)]
    pub(crate) you: bool,
}

impl TurnView {
    /// Returns the member that represents this console; `None` if the console is not among the
    /// members.
    pub(crate) fn me(&self) -> Option<&Member> {
        self.members.iter().find(|member| member.you)
    }

    /// Returns a text that names the owner of the turn, or else the agent for which the turn is
    /// reserved; `turn idle` if there is neither.
    pub(crate) fn holder(&self) -> String {
        let is_me = |agent: &str| self.me().is_some_and(|me| me.agent_id == agent);
        match (&self.owner, &self.reserved_for) {
            (Some(owner), _) if is_me(owner) => "your turn".to_owned(),
            (Some(owner), _) => format!("turn of {owner}"),
            (None, Some(next)) => format!("reserved for {next}"),
            (None, None) => "turn idle".to_owned(),
        }
    }
}
