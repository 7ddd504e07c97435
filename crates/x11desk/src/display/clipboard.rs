//! The clipboard (ICCCM 2): text that another window owns, or that a window of ours gives out while the session lives.

use crate::display::fault::Fault;
use crate::display::server::Display;
use std::time::{Duration, Instant};
use x11rb::connection::{Connection, RequestConnection};
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ConnectionExt, EventMask, PropMode, SELECTION_NOTIFY_EVENT, SelectionNotifyEvent,
    SelectionRequestEvent,
};
use x11rb::wrapper::ConnectionExt as _;

/// How long an owner may take for each part of its text.
const PATIENCE: Duration = Duration::from_secs(2);

/// Longest text that is read, in bytes.
const LONGEST: usize = 16 << 20;

impl Display {
    /// The text on the clipboard; empty when there is none.
    ///
    /// # Errors
    /// When whoever has it does not hand it over, or it is too long.
    pub fn read_clipboard(&mut self) -> Result<String, Fault> {
        let clipboard = self.atoms.CLIPBOARD;
        let owner = self.conn.get_selection_owner(clipboard)?.reply()?.owner;
        if owner == x11rb::NONE {
            return Ok(String::new());
        }
        if let Some(ours) = self.clipboard.ours.as_ref().filter(|_| owner == self.own) {
            return Ok(ours.clone());
        }
        let Some(bytes) = self.ask_clipboard(self.atoms.UTF8_STRING)? else {
            // An old owner has Latin-1 only.
            let latin1 = self.ask_clipboard(AtomEnum::STRING.into())?.unwrap_or_default();
            return Ok(latin1.into_iter().map(char::from).collect());
        };
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn ask_clipboard(&mut self, target: Atom) -> Result<Option<Vec<u8>>, Fault> {
        let (own, place) = (self.own, self.atoms.STICKPIN_CLIPBOARD);
        self.conn.delete_property(own, place)?;
        self.handle_events()?;
        self.clipboard.answer = None;
        self.conn.convert_selection(own, self.atoms.CLIPBOARD, target, place, x11rb::CURRENT_TIME)?;
        let answer = self.until(Instant::now() + PATIENCE, |d| Ok(d.clipboard.answer.take()))?;
        let silent = || Fault::Refused("the clipboard: its owner does not hand its text over".into());
        let Some(place) = answer.ok_or_else(silent)? else { return Ok(None) };
        self.clipboard.part = false;
        let (kind, mut bytes) = self.take(place)?;
        if kind != self.atoms.INCR {
            return Ok(Some(bytes));
        }
        // A long text comes in parts, each after the one before was taken; an empty one is the end.
        bytes.clear();
        while bytes.len() < LONGEST {
            let come = |d: &mut Self| Ok(std::mem::take(&mut d.clipboard.part).then_some(()));
            if self.until(Instant::now() + PATIENCE, come)?.is_none() {
                return Err(Fault::Refused(
                    "the clipboard: its owner stopped in the middle of its text".into(),
                ));
            }
            let (_, part) = self.take(place)?;
            if part.is_empty() {
                return Ok(Some(bytes));
            }
            bytes.extend(part);
        }
        Err(Fault::Refused(format!("the clipboard: its text is longer than {} MiB", LONGEST >> 20)))
    }

    /// Reads a property of our window and removes it.
    fn take(&self, place: Atom) -> Result<(Atom, Vec<u8>), Fault> {
        let length = u32::try_from(LONGEST / 4).unwrap_or(u32::MAX);
        let value = self.conn.get_property(true, self.own, place, AtomEnum::ANY, 0, length)?.reply()?;
        Ok((value.type_, value.value))
    }

    /// Puts a text onto the clipboard. It is there while the session lives.
    ///
    /// # Errors
    /// When it is longer than can be given out, or somebody else keeps the clipboard.
    pub fn write_clipboard(&mut self, text: String) -> Result<(), Fault> {
        let most = self.most();
        if text.len() > most {
            return Err(Fault::Refused(format!(
                "the clipboard: the text has {} bytes, and at most {most} can be given out",
                text.len()
            )));
        }
        let clipboard = self.atoms.CLIPBOARD;
        self.conn.set_selection_owner(self.own, clipboard, x11rb::CURRENT_TIME)?;
        let owner = self.conn.get_selection_owner(clipboard)?.reply()?.owner;
        if owner != self.own {
            return Err(Fault::Refused("the clipboard: another window keeps it".into()));
        }
        self.clipboard.ours = Some(text);
        Ok(())
    }

    /// Bytes of a text that fits into one request: more would have to be given in parts.
    fn most(&self) -> usize {
        self.conn.maximum_request_bytes().saturating_sub(64)
    }

    /// Gives our text to who asks for it.
    pub(super) fn give_clipboard(&mut self, asked: &SelectionRequestEvent) -> Result<(), Fault> {
        let a = self.atoms;
        let place = if asked.property == x11rb::NONE { asked.target } else { asked.property };
        let texts = [a.UTF8_STRING, a.TEXT_PLAIN_UTF8, a.TEXT_PLAIN, a.TEXT, AtomEnum::STRING.into()];
        let ours = self.clipboard.ours.as_deref().filter(|_| asked.selection == a.CLIPBOARD);
        let to = asked.requestor;
        let given = match ours {
            Some(_) if asked.target == a.TARGETS => {
                let mut targets = vec![a.TARGETS];
                targets.extend(texts);
                self.conn.change_property32(PropMode::REPLACE, to, place, AtomEnum::ATOM, &targets)?;
                true
            }
            Some(text) if texts.contains(&asked.target) => {
                let kind = if asked.target == a.TEXT { a.UTF8_STRING } else { asked.target };
                self.conn.change_property8(PropMode::REPLACE, to, place, kind, text.as_bytes())?;
                true
            }
            _ => false,
        };
        let answer = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: asked.time,
            requestor: to,
            selection: asked.selection,
            target: asked.target,
            property: if given { place } else { x11rb::NONE },
        };
        self.conn.send_event(false, to, EventMask::NO_EVENT, answer)?;
        self.conn.flush()?;
        Ok(())
    }
}
