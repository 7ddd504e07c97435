//! The clipboard (ICCCM 2): text that another window owns, or that our window provides as long as
//! the session exists.

use crate::display::Display;
use crate::error::{X11Error, X11Result};
use std::time::{Duration, Instant};
use x11rb::connection::{Connection, RequestConnection};
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ConnectionExt, EventMask, GetPropertyReply, PropMode, SELECTION_NOTIFY_EVENT,
    SelectionNotifyEvent, SelectionRequestEvent,
};
use x11rb::wrapper::ConnectionExt as _;

/// Timeout for each part of an owner's text.
const OWNER_TIMEOUT: Duration = Duration::from_secs(2);

/// The length in bytes from which a text is too long to be read.
const MAX_BYTES: usize = 16 << 20;

/// The text that we provide, and the state of a request to another owner.
#[derive(Debug, Default)]
pub(crate) struct Clipboard {
    /// The text that we provide.
    pub(crate) own_text: Option<String>,
    /// The owner's answer, once it has arrived: the property that holds the requested text, or
    /// `Some(None)` if the owner does not offer the requested type.
    pub(crate) answer: Option<Option<Atom>>,
    /// Whether a further part of a long text has arrived.
    pub(crate) part: bool,
}

/// Returns the text on the clipboard; empty when there is no text.
///
/// # Errors
/// Returns `Unsupported` when the owner does not answer in time or stops before the end of the
/// text, or when the text is too long.
pub fn read(d: &mut Display) -> X11Result<String> {
    let Some(bytes) = ask(d, d.atoms.UTF8_STRING)? else {
        // Old owners offer Latin-1 only. Without an owner, the server declines both.
        let latin1 = ask(d, AtomEnum::STRING.into())?.unwrap_or_default();
        return Ok(latin1.into_iter().map(char::from).collect());
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Requests the text as a type; `None` if the owner does not offer that type.
pub(crate) fn ask(d: &mut Display, target: Atom) -> X11Result<Option<Vec<u8>>> {
    let (own, place) = (d.own, d.atoms.STICKPIN_CLIPBOARD);
    d.conn.delete_property(own, place)?;
    d.handle_events()?;
    d.clipboard.answer = None;
    d.conn.convert_selection(own, d.atoms.CLIPBOARD, target, place, x11rb::CURRENT_TIME)?;
    if !d.wait_until_true(Instant::now() + OWNER_TIMEOUT, |d| Ok(d.clipboard.answer.is_some()))? {
        return Err(X11Error::Unsupported(format!(
            "the owner of the clipboard did not answer within {} s",
            OWNER_TIMEOUT.as_secs()
        )));
    }
    let Some(place) = d.clipboard.answer.flatten() else { return Ok(None) };
    d.clipboard.part = false;
    let whole = take(d, place)?;
    if whole.type_ != d.atoms.INCR {
        return Ok(Some(whole.value));
    }
    // A long text is sent in parts, each after the previous one was deleted. An empty part ends it
    // (INCR, ICCCM 2.7.2).
    let mut bytes = Vec::new();
    while bytes.len() < MAX_BYTES {
        let come = |d: &mut Display| Ok(std::mem::take(&mut d.clipboard.part));
        if !d.wait_until_true(Instant::now() + OWNER_TIMEOUT, come)? {
            return Err(X11Error::Unsupported(
                "the owner of the clipboard stopped sending before the end of the text".into(),
            ));
        }
        let part = take(d, place)?.value;
        if part.is_empty() {
            return Ok(Some(bytes));
        }
        bytes.extend(part);
    }
    Err(too_long())
}

/// Reads a property of our window and deletes it.
///
/// # Errors
/// Returns `Unsupported` when the property is too long, even if the owner did not send it in parts.
fn take(d: &Display, place: Atom) -> X11Result<GetPropertyReply> {
    let length = u32::try_from(MAX_BYTES / 4).unwrap_or(u32::MAX);
    let value = d.conn.get_property(true, d.own, place, AtomEnum::ANY, 0, length)?.reply()?;
    if value.value.len() >= MAX_BYTES {
        // The server keeps a property of which a rest is left.
        d.conn.delete_property(d.own, place)?;
        return Err(too_long());
    }
    Ok(value)
}

fn too_long() -> X11Error {
    let limit = MAX_BYTES >> 20;
    X11Error::Unsupported(format!("the text on the clipboard is too long to read: {limit} MiB or more"))
}

/// Puts a text on the clipboard, where it stays as long as the session exists, unless another
/// window takes the clipboard.
///
/// # Errors
/// Returns `Unsupported` when the text does not fit into one request, or another window keeps the
/// clipboard.
pub fn write(d: &mut Display, text: String) -> X11Result<()> {
    // Only text that fits into one request is provided; sending in parts is not implemented.
    let (bytes, most) = (text.len(), d.conn.maximum_request_bytes().saturating_sub(64));
    if bytes > most {
        return Err(X11Error::Unsupported(format!(
            "the clipboard accepts at most {most} bytes, but the text has {bytes}"
        )));
    }
    let clipboard = d.atoms.CLIPBOARD;
    d.conn.set_selection_owner(d.own, clipboard, x11rb::CURRENT_TIME)?;
    let owner = d.conn.get_selection_owner(clipboard)?.reply()?.owner;
    if owner != d.own {
        return Err(X11Error::Unsupported("another window keeps ownership of the clipboard".into()));
    }
    d.clipboard.own_text = Some(text);
    Ok(())
}

/// Answers a request for our text.
pub(crate) fn serve_request(d: &mut Display, asked: &SelectionRequestEvent) -> X11Result<()> {
    let a = d.atoms;
    let place = if asked.property == x11rb::NONE { asked.target } else { asked.property };
    let string = Atom::from(AtomEnum::STRING);
    let ours = d.clipboard.own_text.as_deref().filter(|_| asked.selection == a.CLIPBOARD);
    // `STRING` is Latin-1 (ICCCM 2.6.2), so a text with other characters is not offered as such.
    let latin1: Option<Vec<u8>> = ours.and_then(|text| text.chars().map(|c| u8::try_from(c).ok()).collect());
    let mut targets = vec![a.TARGETS, a.UTF8_STRING, a.TEXT_PLAIN_UTF8, a.TEXT_PLAIN, a.TEXT];
    targets.extend(latin1.as_ref().map(|_| string));
    let to = asked.requestor;
    let given = match ours {
        Some(_) if asked.target == a.TARGETS => {
            d.conn.change_property32(PropMode::REPLACE, to, place, AtomEnum::ATOM, &targets)?;
            true
        }
        Some(text) if targets.contains(&asked.target) => {
            let kind = if asked.target == a.TEXT { a.UTF8_STRING } else { asked.target };
            let bytes = latin1.as_deref().filter(|_| kind == string).unwrap_or(text.as_bytes());
            d.conn.change_property8(PropMode::REPLACE, to, place, kind, bytes)?;
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
    d.conn.send_event(false, to, EventMask::NO_EVENT, answer)?;
    d.conn.flush()?;
    Ok(())
}
