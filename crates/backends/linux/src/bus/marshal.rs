//! The bytes of D-Bus messages, as far as accessibility needs them (D-Bus specification, "Type System" and "Message
//! Protocol"): written by a few functions, read by a cursor that checks every length, because what an app answers is
//! data of a stranger.

use super::Fault;

/// Bytes that one message may have; the protocol's own limit is twice that.
pub(super) const MESSAGE_LIMIT: usize = 64 << 20;

/// How deep variants may nest.
const NESTING: usize = 16;

/// Pads to a multiple of `to`, counted from the beginning of the message.
fn pad(out: &mut Vec<u8>, from: usize, to: usize) {
    while !(out.len() - from).is_multiple_of(to) {
        out.push(0);
    }
}

/// A body that is being written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Args {
    signature: String,
    bytes: Vec<u8>,
}

impl Args {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn int(mut self, value: i32) -> Self {
        self.signature.push('i');
        pad(&mut self.bytes, 0, 4);
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn unsigned(mut self, value: u32) -> Self {
        self.signature.push('u');
        pad(&mut self.bytes, 0, 4);
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn text(mut self, value: &str) -> Self {
        self.signature.push('s');
        write_text(&mut self.bytes, 0, value);
        self
    }

    /// A variant with a floating point number in it.
    pub(crate) fn variant_double(mut self, value: f64) -> Self {
        self.signature.push('v');
        write_signature(&mut self.bytes, "d");
        pad(&mut self.bytes, 0, 8);
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// A variant with a truth value in it.
    pub(crate) fn variant_bool(mut self, value: bool) -> Self {
        self.signature.push('v');
        write_signature(&mut self.bytes, "b");
        pad(&mut self.bytes, 0, 4);
        self.bytes.extend_from_slice(&u32::from(value).to_le_bytes());
        self
    }
}

fn write_text(out: &mut Vec<u8>, from: usize, value: &str) {
    pad(out, from, 4);
    // A text of 4 GiB does not fit into a message anyway.
    out.extend_from_slice(&(value.len() as u32).to_le_bytes());
    // NUL ends a text on the wire and cannot be in one.
    out.extend(value.bytes().map(|b| if b == 0 { b' ' } else { b }));
    out.push(0);
}

fn write_signature(out: &mut Vec<u8>, value: &str) {
    out.push(value.len() as u8);
    out.extend_from_slice(value.as_bytes());
    out.push(0);
}

/// A method call.
#[derive(Debug, Clone)]
pub(crate) struct Call<'a> {
    pub(crate) path: &'a str,
    pub(crate) interface: &'a str,
    pub(crate) member: &'a str,
    pub(crate) args: Args,
}

/// Appends a method call with its header.
pub(super) fn write_call(out: &mut Vec<u8>, serial: u32, destination: Option<&str>, call: &Call<'_>) {
    let from = out.len();
    // Little endian, method call, no flags, version 1.
    out.extend_from_slice(&[b'l', 1, 0, 1]);
    out.extend_from_slice(&(call.args.bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(&serial.to_le_bytes());
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    let begin = out.len();
    let mut field = |code: u8, kind: &str, value: &str| {
        pad(out, from, 8);
        out.push(code);
        write_signature(out, kind);
        write_text(out, from, value);
    };
    field(1, "o", call.path);
    field(2, "s", call.interface);
    field(3, "s", call.member);
    if let Some(destination) = destination {
        field(6, "s", destination);
    }
    if !call.args.signature.is_empty() {
        pad(out, from, 8);
        out.push(8);
        write_signature(out, "g");
        write_signature(out, &call.args.signature);
    }
    let length = (out.len() - begin) as u32;
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
    pad(out, from, 8);
    out.extend_from_slice(&call.args.bytes);
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Call,
    Return,
    Error,
    Signal,
}

/// A message that was received.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(super) kind: Kind,
    pub(super) reply_to: u32,
    pub(super) error: String,
    pub(crate) sender: String,
    pub(crate) path: String,
    pub(crate) interface: String,
    pub(crate) member: String,
    pub(crate) signature: String,
    body: Box<[u8]>,
}

impl Message {
    pub(crate) fn body(&self) -> Cursor<'_> {
        Cursor { bytes: &self.body, at: 0 }
    }
}

/// How long the message is that these bytes begin with; none while that is not known yet.
///
/// # Errors
/// If it is none that can be read, or too long.
pub(super) fn message_length(bytes: &[u8]) -> Result<Option<usize>, Fault> {
    let Some(head) = bytes.get(..16) else { return Ok(None) };
    if head[0] != b'l' || head[3] != 1 {
        return Err(Fault::corrupt("a message in another byte order or version"));
    }
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize;
    let (body, fields) = (word(4), word(12));
    if body > MESSAGE_LIMIT || fields > MESSAGE_LIMIT {
        return Err(Fault::corrupt("a message that is too long"));
    }
    Ok(Some((16 + fields).next_multiple_of(8) + body))
}

/// Reads one whole message.
///
/// # Errors
/// If it is none.
pub(super) fn read_message(bytes: &[u8]) -> Result<Message, Fault> {
    let mut c = Cursor { bytes, at: 0 };
    c.byte()?;
    let kind = match c.byte()? {
        1 => Kind::Call,
        2 => Kind::Return,
        3 => Kind::Error,
        4 => Kind::Signal,
        _ => return Err(Fault::corrupt("a message of an unknown kind")),
    };
    let _flags_and_version = (c.byte()?, c.byte()?);
    let body_length = c.unsigned()? as usize;
    let _serial = c.unsigned()?;
    let mut message = Message {
        kind,
        reply_to: 0,
        error: String::new(),
        sender: String::new(),
        path: String::new(),
        interface: String::new(),
        member: String::new(),
        signature: String::new(),
        body: Box::default(),
    };
    let end = c.array(8)?;
    while c.at < end {
        c.align(8)?;
        let code = c.byte()?;
        let signature = c.signature()?;
        match (code, signature) {
            (1, "o") => message.path = c.text()?.to_owned(),
            (2, "s") => message.interface = c.text()?.to_owned(),
            (3, "s") => message.member = c.text()?.to_owned(),
            (4, "s") => message.error = c.text()?.to_owned(),
            (5, "u") => message.reply_to = c.unsigned()?,
            (7, "s") => message.sender = c.text()?.to_owned(),
            (8, "g") => message.signature = c.signature()?.to_owned(),
            (_, other) => {
                let other = other.to_owned();
                c.skip(&other)?;
            }
        }
    }
    c.align(8)?;
    let body = bytes.get(c.at..c.at + body_length).ok_or_else(|| Fault::corrupt("a message cut short"))?;
    message.body = body.into();
    Ok(message)
}

/// A place in a body.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Which type a function of [`Cursor`] met that it did not expect.
fn short() -> Fault {
    Fault::corrupt("a value cut short")
}

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let end = self.at.checked_add(count).ok_or_else(short)?;
        let taken = self.bytes.get(self.at..end).ok_or_else(short)?;
        self.at = end;
        Ok(taken)
    }

    fn align(&mut self, to: usize) -> Result<(), Fault> {
        let at = self.at.next_multiple_of(to);
        if at > self.bytes.len() {
            return Err(short());
        }
        self.at = at;
        Ok(())
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        Ok(self.take(1)?[0])
    }

    fn words<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        self.align(N)?;
        Ok(self.take(N)?.try_into().expect("as many bytes as were taken"))
    }

    pub(crate) fn unsigned(&mut self) -> Result<u32, Fault> {
        Ok(u32::from_le_bytes(self.words()?))
    }

    pub(crate) fn int(&mut self) -> Result<i32, Fault> {
        Ok(i32::from_le_bytes(self.words()?))
    }

    pub(crate) fn bool(&mut self) -> Result<bool, Fault> {
        Ok(self.unsigned()? != 0)
    }

    pub(crate) fn double(&mut self) -> Result<f64, Fault> {
        Ok(f64::from_le_bytes(self.words()?))
    }

    /// A string or an object path. Apps have been seen to send what is not UTF-8: that is no text then.
    pub(crate) fn text(&mut self) -> Result<&'a str, Fault> {
        let length = self.unsigned()? as usize;
        let bytes = self.take(length)?;
        self.take(1)?;
        Ok(match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(e) => std::str::from_utf8(&bytes[..e.valid_up_to()]).unwrap_or(""),
        })
    }

    fn signature(&mut self) -> Result<&'a str, Fault> {
        let length = usize::from(self.byte()?);
        let bytes = self.take(length)?;
        self.take(1)?;
        std::str::from_utf8(bytes).map_err(|_| Fault::corrupt("a signature that is no text"))
    }

    /// Enters an array: where it ends.
    pub(crate) fn array(&mut self, align: usize) -> Result<usize, Fault> {
        let length = self.unsigned()? as usize;
        self.align(align)?;
        let end = self.at.checked_add(length).ok_or_else(short)?;
        if end > self.bytes.len() {
            return Err(short());
        }
        Ok(end)
    }

    /// Reads the items of an array.
    pub(crate) fn items<T>(
        &mut self,
        align: usize,
        mut read: impl FnMut(&mut Self) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let end = self.array(align)?;
        let mut items = Vec::new();
        while self.at < end {
            items.push(read(self)?);
        }
        Ok(items)
    }

    /// Begins a struct.
    pub(crate) fn fields(&mut self) -> Result<(), Fault> {
        self.align(8)
    }

    /// Enters a variant: its signature.
    pub(crate) fn variant(&mut self) -> Result<&'a str, Fault> {
        self.signature()
    }

    /// A variant that should hold a text; any other is empty.
    pub(crate) fn variant_text(&mut self) -> Result<&'a str, Fault> {
        match self.variant()? {
            "s" | "o" => self.text(),
            other => self.skip(other).map(|()| ""),
        }
    }

    /// A variant that should hold a number.
    pub(crate) fn variant_number(&mut self) -> Result<Option<f64>, Fault> {
        Ok(match self.variant()? {
            "d" => Some(self.double()?),
            "i" => Some(f64::from(self.int()?)),
            "u" => Some(f64::from(self.unsigned()?)),
            other => {
                self.skip(other)?;
                None
            }
        })
    }

    fn skip(&mut self, signature: &str) -> Result<(), Fault> {
        let mut rest = signature;
        while !rest.is_empty() {
            rest = self.skip_one(rest, 0)?;
        }
        Ok(())
    }

    /// Skips one value; the signature behind it.
    fn skip_one<'s>(&mut self, signature: &'s str, depth: usize) -> Result<&'s str, Fault> {
        if depth > NESTING {
            return Err(Fault::corrupt("values nested too deep"));
        }
        let (first, rest) = signature.split_at_checked(1).ok_or_else(short)?;
        match first {
            "y" => self.byte().map(drop)?,
            "n" | "q" => self.words::<2>().map(drop)?,
            "i" | "u" | "b" | "h" => self.words::<4>().map(drop)?,
            "x" | "t" | "d" => self.words::<8>().map(drop)?,
            "s" | "o" => self.text().map(drop)?,
            "g" => self.signature().map(drop)?,
            "v" => {
                let inner = self.signature()?;
                self.skip_one(inner, depth + 1)?;
            }
            "a" => {
                let align = match rest.as_bytes().first() {
                    Some(b'x' | b't' | b'd' | b'(' | b'{') => 8,
                    Some(b'n' | b'q') => 2,
                    Some(b'y' | b'g' | b'v') => 1,
                    _ => 4,
                };
                self.at = self.array(align)?;
                return Ok(&rest[one_type(rest)?..]);
            }
            "(" | "{" => {
                self.align(8)?;
                let mut inner = rest;
                while !inner.starts_with([')', '}']) {
                    inner = self.skip_one(inner, depth + 1)?;
                }
                return Ok(&inner[1..]);
            }
            _ => return Err(Fault::corrupt("an unknown type")),
        }
        Ok(rest)
    }
}

/// How long the first complete type of a signature is.
fn one_type(signature: &str) -> Result<usize, Fault> {
    let mut open = 0usize;
    for (at, b) in signature.bytes().enumerate() {
        match b {
            b'a' => continue,
            b'(' | b'{' => open += 1,
            b')' | b'}' => open = open.checked_sub(1).ok_or_else(short)?,
            _ => {}
        }
        if open == 0 {
            return Ok(at + 1);
        }
    }
    Err(short())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A call as its receiver reads it, without its destination.
    fn sent(args: Args) -> Message {
        let mut out = vec![0; 8];
        let call = Call { path: "/a/b", interface: "c.d", member: "E", args };
        write_call(&mut out, 7, Some(":1.9"), &call);
        let bytes = &out[8..];
        assert_eq!(message_length(bytes).unwrap(), Some(bytes.len()));
        read_message(bytes).unwrap()
    }

    #[test]
    fn a_call_reads_back_as_it_was_written() {
        let args = Args::new().text("ä\"").int(-3).unsigned(9).variant_double(0.5).variant_bool(true);
        let message = sent(args);
        assert_eq!((message.kind, message.signature.as_str()), (Kind::Call, "siuvv"));
        assert_eq!((&*message.path, &*message.interface, &*message.member), ("/a/b", "c.d", "E"));
        let mut c = message.body();
        assert_eq!(c.text().unwrap(), "ä\"");
        assert_eq!((c.int().unwrap(), c.unsigned().unwrap()), (-3, 9));
        assert_eq!(c.variant_number().unwrap(), Some(0.5));
        assert_eq!(c.variant().unwrap(), "b");
        assert!(c.bool().unwrap());
        assert!(c.int().is_err());
    }

    #[test]
    fn values_of_any_type_are_skipped_whole() {
        // An array of two structs with a text and a variant each.
        let mut bytes = vec![0; 4];
        for text in ["one", "three"] {
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            write_text(&mut bytes, 0, text);
            write_signature(&mut bytes, "i");
            pad(&mut bytes, 0, 4);
            bytes.extend_from_slice(&7i32.to_le_bytes());
        }
        let length = bytes.len() as u32 - 8;
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        write_text(&mut bytes, 0, "next");
        let mut c = Cursor { bytes: &bytes, at: 0 };
        assert_eq!(c.skip_one("a(sv)s", 0).unwrap(), "s");
        assert_eq!(c.text().unwrap(), "next");
        assert_eq!(one_type("a{sv}i").unwrap(), 5);
        assert_eq!(one_type("aai").unwrap(), 3);
        assert!(one_type("a(i").is_err());
    }

    #[test]
    fn what_claims_to_be_huge_or_foreign_is_refused() {
        let mut out = Vec::new();
        let call = Call { path: "/", interface: "i", member: "M", args: Args::new() };
        write_call(&mut out, 1, None, &call);
        out[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(message_length(&out).is_err());
        out[0] = b'B';
        assert!(message_length(&out).is_err());
        assert_eq!(message_length(&out[..15]).unwrap(), None);
    }

    proptest! {
        #[test]
        fn no_bytes_of_a_stranger_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), kind in "[asuivo(){}gdb]{0,8}") {
            if let Ok(message) = read_message(&bytes) {
                prop_assert!(message.body().bytes.len() <= bytes.len());
            }
            // Only that it ends counts.
            drop(Cursor { bytes: &bytes, at: 0 }.skip(&kind));
        }
    }
}
