//! The conversations of consoles: what a prompt can refer to because an earlier prompt established
//! it.

use super::authority::{SessionAuthority, State};
use crate::error;
use crate::participant::Participant;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_session::log::{ContextAdded, ContextCleared, Kind};
use stickpin_store::Phase;

/// An entry of a conversation with its position in the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextEntry {
    /// The `seq` of the record.
    pub seq: u64,
    /// The content of the entry.
    #[serde(flatten)]
    pub entry: ContextAdded,
}

/// A part of a conversation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextPage {
    /// The entries that are not cleared, oldest first.
    pub entries: Vec<ContextEntry>,
    /// Whether the entries of earlier pages are cleared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cleared: bool,
    /// The last record that was examined. Reading continues after it.
    pub cursor_seq: u64,
}

/// The conversations of a session.
#[derive(Debug, Clone, Copy)]
pub struct Conversations<'s>(pub &'s SessionAuthority);

impl Conversations<'_> {
    /// Adds a completed entry and returns the `seq` of its record.
    ///
    /// # Errors
    /// Returns `BODY_TOO_LARGE`, `IDENTITY_AMBIGUOUS`, and errors from the log.
    pub fn add(&self, who: &Participant, entry: ContextAdded) -> Result<u64> {
        self.0.change_for(who, |state, now| {
            let texts = [&entry.body, &entry.result, &entry.cwd].into_iter().chain(&entry.target);
            let bytes: u64 = texts.filter_map(|text| text.text()).map(|text| text.len() as u64).sum();
            let most = state.log.meta().policy.max_text_bytes;
            if bytes > most {
                let message = format!("the entry is {bytes} bytes long; the maximum is {most}");
                return Err(Error::new(ErrorCode::BodyTooLarge, message)
                    .hint("write long text to a file, and name the file instead"));
            }
            state.append(&State::origin(who, now), Kind::ContextAdded(Box::new(entry)))
        })
    }

    /// Clears the context of a conversation. The entries of the conversation stay in the log.
    /// Returns the `seq` of the new record.
    ///
    /// # Errors
    /// Returns `IDENTITY_AMBIGUOUS` and errors from the log.
    pub fn clear(&self, who: &Participant, context: String) -> Result<u64> {
        self.0.change_for(who, |state, now| {
            let upto_seq = state.log.meta().applied_seq;
            let cleared = ContextCleared { context, upto_seq };
            state.append(&State::origin(who, now), Kind::ContextCleared(cleared))
        })
    }

    /// Reads a conversation after the record `after`.
    ///
    /// # Errors
    /// Returns errors from reading the log.
    pub fn read(&self, context: &str, after: u64) -> Result<ContextPage> {
        let state = self.0.lock();
        let last = state.log.meta().applied_seq;
        let mut page = ContextPage { cursor_seq: last, ..ContextPage::default() };
        if after >= last {
            return Ok(page);
        }
        let scanned = stickpin_store::scan(&state.log, after, Phase::Feed, &mut |record| {
            match &record.kind {
                Kind::ContextAdded(entry) if entry.context == context => {
                    page.entries.push(ContextEntry { seq: record.seq, entry: (**entry).clone() });
                }
                Kind::ContextCleared(cleared) if cleared.context == context => {
                    page.entries.retain(|entry| entry.seq > cleared.upto_seq);
                    page.cleared = true;
                }
                _ => {}
            }
            if record.seq < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        scanned.map_err(error::of_store)?;
        Ok(page)
    }
}
