//! `events`: reading and following the feed.

use super::authority::{SessionAuthority, State};
use crate::error;
use crate::feed::{Event, Filter};
use crate::participant::Participant;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::ops::{ControlFlow, Deref};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_session::log::{CommandId, Kind, KindName, Record};
use stickpin_session::turn::{AgentId, TurnPhase};
use stickpin_store::Phase;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The part of the feed to read, and whether to wait for events.
#[derive(Debug, Clone, Default)]
pub struct EventQuery {
    /// The selection of events.
    pub filter: Filter,
    /// The record after which reading begins. By default, the last `limit` events are read, and a
    /// wait begins at the newest record.
    pub after: Option<u64>,
    /// Whether to begin after the last event that the reading agent has read, and to store the
    /// agent's new read position.
    pub resume: bool,
    /// The maximum number of events per session. The last record may add one more.
    pub limit: usize,
    /// Whether to wait until there is an event.
    pub wait: bool,
    /// How long to wait; `None` for no limit.
    pub timeout: Option<Duration>,
}

/// A part of the feed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Events {
    /// The events, oldest first.
    pub events: Vec<Event>,
    /// The last record that was examined: reading continues after it.
    pub cursor_seq: u64,
    /// Whether the session is closed and its log was read to the end, so that no further events
    /// follow in this lifetime.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
}

/// A connected reader that is waiting.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    number: u64,
    pub(super) agent: AgentId,
    pub(super) filter: Filter,
}

/// Ends a registration when the reader ends, even if its client disappears.
struct Reading<'s> {
    session: &'s SessionAuthority,
    number: u64,
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.session.lock().readers.retain(|reader| reader.number != self.number);
    }
}

/// Parts of the feeds of several sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventsOfAll {
    /// The events by time, oldest first. Events of one session keep their order.
    pub events: Vec<Event>,
    /// The last examined record of each session, by session name.
    pub cursors: BTreeMap<String, u64>,
    /// Whether all sessions are closed and their logs were read to the end.
    pub closed: bool,
}

impl EventQuery {
    /// Reads the feed of a session, and waits for an event if requested. Claims, renews and
    /// authorizes nothing, and does not count as activity of the reader.
    ///
    /// # Errors
    /// Returns `INVALID_CURSOR` for a cursor beyond the end, and errors from reading the log.
    pub async fn read(
        &self,
        session: &SessionAuthority,
        who: &Participant,
        cancel: &CancellationToken,
    ) -> Result<Events> {
        let cursors = self.after.map(|after| (session.name.clone(), after)).into_iter().collect();
        let found = self.read_all(&[session], who, &cursors, cancel).await?;
        let EventsOfAll { events, cursors, closed } = found;
        Ok(Events { events, cursor_seq: cursors.into_values().next().unwrap_or_default(), closed })
    }

    /// Reads the feeds of several sessions, and waits for an event in any of them if the query
    /// requests it. In a session that `cursors` contains, reading begins after the given record. In
    /// any other session, it begins as the query specifies, but without `after`, which is ignored.
    ///
    /// # Errors
    /// Returns the errors of [`Self::read`].
    pub async fn read_all(
        &self,
        sessions: &[impl Deref<Target = SessionAuthority> + Sync],
        who: &Participant,
        cursors: &BTreeMap<String, u64>,
        cancel: &CancellationToken,
    ) -> Result<EventsOfAll> {
        let until = self.timeout.map(|timeout| Instant::now() + timeout);
        let mut readers = Vec::new();
        for session in sessions {
            let feed = session.feed();
            let query = Self { after: cursors.get(session.name()).copied(), ..self.clone() };
            let (after, reading) = query.begin(session, who)?;
            readers.push((session, feed, after, reading));
        }
        loop {
            let (mut found, mut closed) = (Vec::new(), true);
            for (session, feed, cursor, _) in &mut readers {
                feed.mark_unchanged();
                let part = self.read_once(session, *cursor)?;
                *cursor = Some(part.cursor_seq);
                closed &= part.closed;
                found.push(part.events.into_iter().peekable());
            }
            let over = until.is_some_and(|until| Instant::now() >= until);
            let events = merge_by_time(found);
            if !events.is_empty() || !self.wait || closed || over || cancel.is_cancelled() {
                let mut cursors = BTreeMap::new();
                for (session, _, cursor, _) in &readers {
                    let cursor = cursor.unwrap_or_default();
                    cursors.insert(session.name().to_owned(), cursor);
                    if self.resume {
                        session.lock().unconfirmed.insert(who.agent.clone(), cursor);
                    }
                }
                return Ok(EventsOfAll { events, cursors, closed });
            }
            let changes = readers.iter_mut().map(|(_, feed, ..)| Box::pin(feed.changed()));
            tokio::select! {
                _ = any(changes) => {}
                () = sleep_until(until) => {}
                () = cancel.cancelled() => {}
            }
        }
    }

    /// Returns the record after which reading begins; `None` to read the last events. Registers the
    /// reader if the query waits.
    fn begin<'s>(
        &self,
        session: &'s SessionAuthority,
        who: &Participant,
    ) -> Result<(Option<u64>, Option<Reading<'s>>)> {
        let mut state = session.lock();
        let last = state.log.meta().applied_seq;
        check_cursor(&session.name, self.after, last)?;
        let saved = match self.resume {
            true => session.saved_cursor(&state, &who.agent)?,
            false => None,
        };
        let after = self.after.or(saved.map(|saved| saved.min(last))).or(self.wait.then_some(last));
        let reading = self.wait.then(|| {
            state.registrations += 1;
            let number = state.registrations;
            state.readers.push(Reader { number, agent: who.agent.clone(), filter: self.filter.clone() });
            Reading { session, number }
        });
        Ok((after, reading))
    }

    fn read_once(&self, session: &SessionAuthority, cursor: Option<u64>) -> Result<Events> {
        let state = session.lock();
        match cursor {
            Some(cursor) => state.read(&self.filter, cursor, self.limit),
            None => state.read_last(&self.filter, self.limit),
        }
    }
}

/// Merges the events of several sessions by time. The order within a session is preserved.
fn merge_by_time(mut of_each: Vec<Peekable<std::vec::IntoIter<Event>>>) -> Vec<Event> {
    let mut events = Vec::new();
    loop {
        let heads = of_each.iter_mut().filter_map(|rest| {
            let ts = rest.peek()?.ts;
            Some((ts, rest))
        });
        let Some((_, first)) = heads.min_by_key(|(ts, _)| *ts) else { return events };
        events.extend(first.next());
    }
}

/// Completes when one of several futures has completed.
async fn any<F: Future + Unpin>(futures: impl Iterator<Item = F>) {
    let mut futures: Vec<F> = futures.collect();
    std::future::poll_fn(|cx| {
        let ready = futures.iter_mut().any(|future| Pin::new(future).poll(cx).is_ready());
        if ready { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

async fn sleep_until(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}

fn check_cursor(session: &str, after: Option<u64>, last: u64) -> Result<()> {
    match after {
        Some(after) if after > last => {
            let message = format!("session `{session}` has no record {after}: its last record is {last}");
            Err(Error::new(ErrorCode::InvalidCursor, message)
                .hint("continue with the `cursorSeq` of an earlier response, or with `--after 0`")
                .details(json!({ "maxSeq": last })))
        }
        _ => Ok(()),
    }
}

impl SessionAuthority {
    /// Returns an agent's confirmed read position.
    fn saved_cursor(&self, state: &State, agent: &AgentId) -> Result<Option<u64>> {
        let uid = &state.log.meta().session_uid;
        self.shared.store.cursor(agent.as_str(), uid).map_err(error::of_store)
    }

    /// Returns the record after which a wait reads events: the given one, or the last one that the
    /// agent read. An agent that has read no record begins at its join if this host recorded the
    /// join, and otherwise at the newest record.
    pub(super) fn read_position(&self, who: &Participant, after: Option<u64>) -> Result<u64> {
        let state = self.lock();
        let last = state.log.meta().applied_seq;
        check_cursor(&self.name, after, last)?;
        if let Some(after) = after {
            return Ok(after);
        }
        let saved = self.saved_cursor(&state, &who.agent)?;
        let position = state.positions.get(&who.agent).copied().max(saved);
        Ok(position.map_or(last, |position| position.min(last)))
    }

    /// Stores an agent's read position, now that the response has been delivered.
    pub(super) fn confirm_cursor(&self, state: &mut State, agent: &AgentId) {
        let Some(seq) = state.unconfirmed.remove(agent) else { return };
        let uid = &state.log.meta().session_uid;
        if let Err(e) = self.shared.store.save_cursor(agent.as_str(), uid, seq, self.now().wall) {
            // The events will be read again.
            tracing::warn!("the read position of {agent} could not be stored: {e}");
        }
    }
}

impl State {
    /// Reads events after a record until `limit` events are found. The last record may add one
    /// more.
    pub(super) fn read(&self, filter: &Filter, after: u64, limit: usize) -> Result<Events> {
        let meta = self.log.meta();
        let mut begun = Commands::default();
        let (mut events, mut cursor_seq) = (Vec::new(), meta.applied_seq.max(after));
        let scanned = stickpin_store::scan(&self.log, after, Phase::Feed, &mut |record| {
            if events.len() >= limit {
                return ControlFlow::Break(());
            }
            begun.remember(record);
            events.extend(filter.events(&meta.name, &meta.session_uid, record));
            if events.len() >= limit {
                cursor_seq = record.seq;
            }
            ControlFlow::Continue(())
        });
        scanned.map_err(error::of_store)?;
        self.name_commands(&mut events, &begun)?;
        let closed = meta.turn.state == TurnPhase::Closed && cursor_seq >= meta.applied_seq;
        Ok(Events { events, cursor_seq, closed })
    }

    /// Reads the last `limit` events.
    fn read_last(&self, filter: &Filter, limit: usize) -> Result<Events> {
        let last = self.log.meta().applied_seq;
        let mut span = (limit as u64).saturating_mul(4).max(64);
        loop {
            let from = last.saturating_sub(span);
            let mut found = self.read(filter, from, usize::MAX)?;
            if found.events.len() >= limit || from == 0 {
                let over = found.events.len().saturating_sub(limit);
                found.events.drain(..over);
                return Ok(found);
            }
            span = span.saturating_mul(4);
        }
    }

    /// Adds a command's name and summary to the event for the command's end.
    fn name_commands(&self, events: &mut [Event], begun: &Commands) -> Result<()> {
        for event in events.iter_mut().filter(|event| event.kind == KindName::CommandEnd) {
            let Some(Value::Object(payload)) = &mut event.payload else { continue };
            let Some(seq) = payload.get("cmdId").and_then(Value::as_u64) else { continue };
            let named = match begun.0.get(&CommandId::new(seq)) {
                Some(named) => Some(named.clone()),
                None => {
                    let found = self.log.records_after(seq.saturating_sub(1), 1, Phase::Feed);
                    found.map_err(error::of_store)?.first().and_then(|record| name_of(record))
                }
            };
            if let Some((verb, summary)) = named {
                payload.insert("verb".to_owned(), verb.into());
                payload.insert("summary".to_owned(), summary);
            }
        }
        Ok(())
    }
}

/// The names and summaries of commands that began in the part of the log that was read.
#[derive(Default)]
struct Commands(BTreeMap<CommandId, (String, Value)>);

impl Commands {
    fn remember(&mut self, record: &Record) {
        if let Some(named) = name_of(record) {
            self.0.insert(CommandId::new(record.seq), named);
        }
    }
}

fn name_of(record: &Record) -> Option<(String, Value)> {
    match &record.kind {
        Kind::CommandBegin(begin) => Some((begin.verb.clone(), json!(begin.summary))),
        _ => None,
    }
}
