//! `events`, `msg recv`, `session log`: the events of a session.

mod show;

pub(super) use self::show::show_events;

use crate::api::spec::Follow;
use crate::commands::coordinate::claim::{self, ALLOWANCE, LONGEST};
use crate::commands::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use stickpin_coordinator::{
    Audience, Breadth, Event, EventQuery, Events as Found, Filter, Participant, SessionAuthority, Talk,
    Visibility,
};
use stickpin_session::log::KindName;
use stickpin_session::turn::AgentId;
use stickpin_tree::quote_whole;

/// The default maximum number of events in a response without a wait.
const PAGE: usize = 50;

/// The maximum number of events in a response to a wait.
const BATCH: usize = 500;

/// The arguments with which a front end follows one of these commands.
const FOLLOW: Follow = Follow { wait: "wait", timeout: "timeout", after: "after", cursors: None };

/// Show what happened in the session: messages, turns, notes and members. Claims no turn.
///
/// With `--wait`, exits with 0 after the first events that are for you, 3 when the wait times out,
/// and 11 when the session is closed. After an event about the turn, always run `turn wait`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Events {
    /// Start after this record; 0 is the beginning. By default the last events, or the end with
    /// `--wait`.
    pub after: Option<u64>,
    /// Wait until there is an event.
    pub wait: bool,
    /// With `--wait`: milliseconds to wait; by default until there is an event, or 25 seconds over
    /// MCP.
    pub timeout: Option<u64>,
    /// Maximum number of events (default 50, with `--wait` 500).
    pub limit: Option<usize>,
    /// Whose events: `self` (those that concern you), `any`, or a member (those addressed to it).
    /// By default `any`, or `self` with `--wait`.
    #[schemars(extend("x-placeholder" = "WHO"))]
    pub target: Option<String>,
    /// Only events from this agent.
    #[schemars(extend("x-placeholder" = "AGENT"))]
    pub from: Option<String>,
    /// Only these kinds, such as `message,turn_assigned`.
    #[schemars(extend("x-placeholder" = "KIND"))]
    pub event: Vec<String>,
    /// Also commands and snapshots.
    pub include: Option<Include>,
    /// Start where your last response with `--resume` ended.
    pub resume: bool,
    /// Events of all sessions that you are a member of. The limit applies to each session.
    pub all_sessions: bool,
    /// With `--all-sessions`: start after this record in this session; may be repeated.
    #[schemars(extend("x-placeholder" = "NAME=SEQ"))]
    pub cursor: Vec<String>,
}

/// What a response may also contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Include {
    /// Commands and snapshots.
    Run,
}

/// Show your messages. Does not show turns that are handed to you; `events` shows both.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct MsgRecv {
    /// Start after this record; 0 is the beginning. By default the last messages, or the end with
    /// `--wait`.
    pub after: Option<u64>,
    /// Wait until there is a message.
    pub wait: bool,
    /// With `--wait`: milliseconds to wait; by default until there is a message, or 25 seconds over
    /// MCP.
    pub timeout: Option<u64>,
    /// Maximum number of messages (default 50, with `--wait` 500).
    pub limit: Option<usize>,
    /// Only messages from this agent.
    #[schemars(extend("x-placeholder" = "AGENT"))]
    pub from: Option<String>,
    /// Start where your last response with `--resume` ended.
    pub resume: bool,
}

/// Show the log of the session: every command with its caller, outcome and duration.
///
/// The records of stored trees are omitted unless `--after` is given.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SessionLog {
    /// Start after this record; 0 is the beginning. By default the last records, or the end with
    /// `--wait`.
    pub after: Option<u64>,
    /// Wait until there is a record.
    pub wait: bool,
    /// With `--wait`: milliseconds to wait; by default until there is a record, or 25 seconds over
    /// MCP.
    pub timeout: Option<u64>,
    /// Maximum number of records (default 50, with `--wait` 500).
    pub limit: Option<usize>,
}

/// How reading the feed ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedStatus {
    /// Events were found, or no wait was requested.
    Ok,
    /// The wait timed out.
    NotYet,
    /// The wait ended without events, because the session is closed.
    Closed,
}

/// Events, oldest first.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventsOutput {
    /// How the read ended.
    pub status: FeedStatus,
    /// The events, oldest first.
    pub events: Vec<Event>,
    /// The last record that was examined: reading continues after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor_seq: Option<u64>,
    /// The last record that was examined in each session, with `allSessions`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cursors: BTreeMap<String, u64>,
    /// Whether the session is closed or, with `allSessions`, every session, so that no events
    /// follow in this lifetime.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
}

/// Records of the log, oldest first.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionLogOutput(pub EventsOutput);

impl Command for Events {
    const SPEC: Spec = Spec {
        name: "events",
        follows: Some(Follow { cursors: Some("cursor"), ..FOLLOW }),
        examples: &[
            "stickpin events --after 41",
            "stickpin events --wait --timeout 60000",
            "stickpin --session shop events --follow --json",
            "stickpin events --all-sessions --follow --json",
        ],
        ..Spec::HOST
    };
    type Output = EventsOutput;

    fn time_limits(&self) -> TimeLimits {
        limits(self.wait, self.timeout)
    }

    async fn run(self, cx: &mut Cx) -> Result<EventsOutput> {
        if self.all_sessions {
            return self.read_all(cx).await;
        }
        if !self.cursor.is_empty() {
            return Err(Error::invalid_args("`--cursor` works only with `--all-sessions`")
                .hint("use `--after SEQ` for one session"));
        }
        let (session, who) = authority::require(cx)?;
        let filter = Filter {
            audience: audience(&session, &who, self.target.as_deref(), self.wait)?,
            from: self.from.as_deref().map(|name| sender(&session, name)).transpose()?,
            kinds: kinds(&self.event)?,
            breadth: if self.include.is_some() { Breadth::Run } else { Breadth::People },
        };
        let query = EventQuery { filter, resume: self.resume, ..query(self.after, self.wait, self.limit) };
        read(cx, &session, &who, query, self.timeout).await
    }
}

impl Events {
    /// Reads the feeds of all sessions that the caller is a member of.
    async fn read_all(self, cx: &mut Cx) -> Result<EventsOutput> {
        if self.after.is_some() {
            return Err(Error::invalid_args(
                "`--after` works only with one session, not with `--all-sessions`",
            )
            .hint("use `--cursor NAME=SEQ` for each session"));
        }
        let (coordinator, who) = authority::coordinator(cx)?;
        let cursors = cursors(&self.cursor)?;
        let listed = coordinator.list(Some(&who), &BTreeSet::new(), false)?.sessions;
        let own = listed.into_iter().filter(|session| session.visibility == Visibility::Own);
        // A session that was closed after the last answer is read one more time, to report that it
        // is closed.
        let names: BTreeSet<String> = own.map(|own| own.name).chain(cursors.keys().cloned()).collect();
        let mut sessions = Vec::new();
        for name in names {
            match coordinator.session(&name) {
                Ok(session) if session.is_member(&who.agent) => sessions.push(session),
                Ok(_) => {}
                Err(e) => cx.warn(format!("Session `{name}` cannot be read: {e}.")),
            }
        }
        let Some(first) = sessions.first() else {
            let message = format!("{} is not a member of any open session", who.agent);
            return Err(Error::unknown_member(message).hint("run `stickpin --session NAME turn join` first"));
        };
        let target = self.target.as_deref();
        let from = self.from.as_deref().map(|name| in_any(&sessions, |session| sender(session, name)));
        let filter = Filter {
            audience: in_any(&sessions, |session| audience(session, &who, target, self.wait))?,
            from: from.transpose()?,
            kinds: kinds(&self.event)?,
            breadth: if self.include.is_some() { Breadth::Run } else { Breadth::People },
        };
        let timeout = claim::limit(cx, first, self.timeout);
        let query = EventQuery { filter, resume: self.resume, timeout, ..query(None, self.wait, self.limit) };
        let found = query.read_all(&sessions, &who, &cursors, &cx.cancel).await?;
        Ok(EventsOutput {
            status: status(self.wait && found.events.is_empty(), found.closed),
            events: found.events,
            cursor_seq: None,
            cursors: found.cursors,
            closed: found.closed,
        })
    }
}

/// Returns the result of `find` for the first session in which it succeeds. If it fails in all of
/// them, returns the error for the first session.
fn in_any<T>(sessions: &[Arc<SessionAuthority>], find: impl Fn(&SessionAuthority) -> Result<T>) -> Result<T> {
    let found = sessions.iter().find_map(|session| find(session).ok());
    found.map_or_else(|| find(&sessions[0]), Ok)
}

/// Parses positions in the form `NAME=SEQ`.
fn cursors(words: &[String]) -> Result<BTreeMap<String, u64>> {
    let read = |word: &String| {
        let (name, seq) = word.split_once('=')?;
        Some((name.to_owned(), seq.parse().ok()?))
    };
    let cursor = |word: &String| {
        read(word).ok_or_else(|| {
            Error::invalid_args(format!("{} is not of the form `NAME=SEQ`", quote_whole(word)))
                .hint("write the name of a session, `=` and the number of a record, such as `shop=41`")
        })
    };
    words.iter().map(cursor).collect()
}

impl Command for MsgRecv {
    const SPEC: Spec = Spec {
        name: "msg recv",
        follows: Some(FOLLOW),
        examples: &["stickpin msg recv", "stickpin msg recv --wait --timeout 60000"],
        ..Spec::HOST
    };
    type Output = EventsOutput;

    fn time_limits(&self) -> TimeLimits {
        limits(self.wait, self.timeout)
    }

    async fn run(self, cx: &mut Cx) -> Result<EventsOutput> {
        let (session, who) = authority::require(cx)?;
        let filter = Filter {
            audience: Audience::Member(who.agent.clone()),
            from: self.from.as_deref().map(|name| sender(&session, name)).transpose()?,
            kinds: Some(BTreeSet::from([KindName::Message])),
            breadth: Breadth::People,
        };
        let query = EventQuery { filter, resume: self.resume, ..query(self.after, self.wait, self.limit) };
        read(cx, &session, &who, query, self.timeout).await
    }
}

impl Command for SessionLog {
    const SPEC: Spec = Spec {
        name: "session log",
        follows: Some(FOLLOW),
        examples: &["stickpin session log --limit 20", "stickpin --session shop session log --after 100"],
        ..Spec::HOST
    };
    type Output = SessionLogOutput;

    fn time_limits(&self) -> TimeLimits {
        limits(self.wait, self.timeout)
    }

    async fn run(self, cx: &mut Cx) -> Result<SessionLogOutput> {
        let (session, who) = authority::require(cx)?;
        let but_trees = || KindName::ALL.iter().copied().filter(|kind| *kind != KindName::Snapshot).collect();
        let filter = match self.after {
            Some(_) => Filter { breadth: Breadth::All, ..Filter::default() },
            None => Filter { kinds: Some(but_trees()), ..Filter::default() },
        };
        let query = EventQuery { filter, ..query(self.after, self.wait, self.limit) };
        read(cx, &session, &who, query, self.timeout).await.map(SessionLogOutput)
    }
}

fn limits(wait: bool, timeout: Option<u64>) -> TimeLimits {
    let waits = if wait { timeout.map_or(LONGEST, Duration::from_millis) } else { Duration::ZERO };
    TimeLimits { deadline: waits + ALLOWANCE, response_limit: None }
}

fn query(after: Option<u64>, wait: bool, limit: Option<usize>) -> EventQuery {
    let limit = if wait { limit.unwrap_or(BATCH).clamp(1, BATCH) } else { limit.unwrap_or(PAGE).max(1) };
    EventQuery { after, wait, limit, ..EventQuery::default() }
}

async fn read(
    cx: &mut Cx,
    session: &SessionAuthority,
    who: &Participant,
    query: EventQuery,
    timeout: Option<u64>,
) -> Result<EventsOutput> {
    let (waited, query) = (query.wait, EventQuery { timeout: claim::limit(cx, session, timeout), ..query });
    let Found { events, cursor_seq, closed } = query.read(session, who, &cx.cancel).await?;
    Ok(EventsOutput {
        status: status(waited && events.is_empty(), closed),
        events,
        cursor_seq: Some(cursor_seq),
        cursors: BTreeMap::new(),
        closed,
    })
}

fn status(in_vain: bool, closed: bool) -> FeedStatus {
    match (in_vain, closed) {
        (false, _) => FeedStatus::Ok,
        (true, true) => FeedStatus::Closed,
        (true, false) => FeedStatus::NotYet,
    }
}

fn audience(
    session: &SessionAuthority,
    who: &Participant,
    target: Option<&str>,
    wait: bool,
) -> Result<Audience> {
    match target.unwrap_or(if wait { "self" } else { "any" }) {
        "self" => Ok(Audience::Member(who.agent.clone())),
        "any" => Ok(Audience::Any),
        name => Talk(session).member(name).map(Audience::AddressedTo),
    }
}

/// Returns the member with a given name, or any agent, such as a former member, by its id.
fn sender(session: &SessionAuthority, name: &str) -> Result<AgentId> {
    match Talk(session).member(name) {
        Err(e) if e.code == ErrorCode::UnknownRecipient && name.contains(':') => Ok(AgentId::new(name)),
        found => found,
    }
}

fn kinds(words: &[String]) -> Result<Option<BTreeSet<KindName>>> {
    let mut kinds = BTreeSet::new();
    for word in words.iter().flat_map(|word| word.split(',')).map(str::trim) {
        let kind = KindName::ALL.iter().find(|kind| kind.as_str() == word).ok_or_else(|| {
            let names: Vec<_> = KindName::ALL.iter().map(|kind| kind.as_str()).collect();
            Error::invalid_event_type_filter(format!("there is no event kind {}", quote_whole(word)))
                .hint(format!("the kinds are {}", names.join(", ")))
        })?;
        kinds.insert(*kind);
    }
    Ok((!kinds.is_empty()).then_some(kinds))
}
