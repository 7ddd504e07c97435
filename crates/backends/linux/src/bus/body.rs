//! What a message holds: written by a few functions, read by a cursor over the body (D-Bus specification, "Type
//! System"), because what an app answers is data of a stranger. Reading by type would lose an answer about a thousand
//! objects for one name among them that is no text; the cursor checks every length and goes on.

use crate::bus::fault::Fault;
use crate::bus::names::DAEMON;
use zbus::message::{Body, EndianSig, Type};
use zbus::{Structure, Variant};

/// The arguments of a call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Args(Vec<Variant<'static>>);

impl Args {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn with(mut self, value: Variant<'static>) -> Self {
        self.0.push(value);
        self
    }

    pub(crate) fn int(self, value: i32) -> Self {
        self.with(Variant::I32(value))
    }

    pub(crate) fn unsigned(self, value: u32) -> Self {
        self.with(Variant::U32(value))
    }

    pub(crate) fn text(self, value: &str) -> Self {
        self.with(Variant::from(on_the_wire(value)))
    }

    pub(crate) fn bool(self, value: bool) -> Self {
        self.with(Variant::Bool(value))
    }

    /// A rule of `Collection` that every object of a role fulfils (`(aiia{ss}iaiiasib)`: states, attributes, roles and
    /// interfaces, each with how many of them it takes; roles and states are sets of bits).
    pub(crate) fn of_role(self, role: u32) -> Self {
        const ALL: i32 = 1;
        const ANY: i32 = 2;
        let mut roles = vec![0_i32; 5];
        if let Some(word) = roles.get_mut(role as usize / 32) {
            *word = (1_u32 << (role % 32)).cast_signed();
        }
        let attributes = std::collections::BTreeMap::<String, String>::new();
        let interfaces = Vec::<String>::new();
        let rule = (vec![0_i32; 2], ALL, attributes, ALL, roles, ANY, interfaces, ALL, false);
        self.with(Variant::from(rule))
    }

    /// A variant with a floating point number in it.
    pub(crate) fn variant_double(self, value: f64) -> Self {
        self.with(Variant::Variant(Box::new(Variant::F64(value))))
    }

    /// A variant with a truth value in it.
    pub(crate) fn variant_bool(self, value: bool) -> Self {
        self.with(Variant::Variant(Box::new(Variant::Bool(value))))
    }
}

/// NUL ends a text on the wire and cannot be in one.
fn on_the_wire(text: &str) -> String {
    text.replace('\0', " ")
}

/// A method call.
#[derive(Debug, Clone)]
pub(crate) struct Call<'a> {
    pub(crate) path: &'a str,
    pub(crate) interface: &'a str,
    pub(crate) member: &'a str,
    pub(crate) args: Args,
}

impl Call<'_> {
    /// The message that it is.
    ///
    /// # Errors
    /// `Vanished` for an object of a path that is none: what an app named so is not there.
    pub(super) fn message(&self, destination: Option<&str>) -> Result<zbus::Message, Fault> {
        let mut message = zbus::Message::method_call(self.path, self.member).interface(self.interface);
        if let Some(destination) = destination {
            message = message.destination(destination);
        }
        let built = if self.args.0.is_empty() {
            message.build(&())
        } else {
            let fields = Structure::builder();
            let fields = self.args.0.iter().cloned().fold(fields, |fields, field| fields.append_field(field));
            fields.build().and_then(|body| message.build(&body))
        };
        built.map_err(|e| {
            tracing::debug!("{} of {:?} is not asked: {e}", self.member, self.path);
            Fault::Vanished
        })
    }
}

/// A message that was received.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    message: zbus::Message,
    body: Body,
}

impl Message {
    pub(crate) fn new(message: zbus::Message) -> Self {
        let body = message.body();
        Self { message, body }
    }

    /// Bytes in another order than ours are not read: everything is on this machine.
    pub(crate) fn body(&self) -> Cursor<'_> {
        let ours = self.message.primary_header().endian_sig() == EndianSig::Little;
        Cursor { bytes: if ours { self.body.data() } else { &[] }, at: 0 }
    }

    /// What its body is made of: `a(so)`, `siiv`.
    pub(crate) fn signature(&self) -> String {
        self.body.signature().to_string_no_parens()
    }

    /// How many bytes its body has.
    pub(crate) fn size(&self) -> usize {
        self.body.len()
    }

    /// Who sent it: a name on the bus; empty from an app itself.
    pub(crate) fn sender(&self) -> String {
        self.message.header().sender().map(ToString::to_string).unwrap_or_default()
    }

    /// The interface that the signal is of.
    pub(crate) fn interface(&self) -> String {
        self.message.header().interface().map(ToString::to_string).unwrap_or_default()
    }

    /// The object that the signal is of.
    pub(crate) fn path(&self) -> String {
        self.message.header().path().map(ToString::to_string).unwrap_or_default()
    }

    /// What the signal is.
    pub(crate) fn member(&self) -> String {
        self.message.header().member().map(ToString::to_string).unwrap_or_default()
    }

    /// The error that it is, if it is one.
    pub(super) fn fault(&self) -> Option<Fault> {
        if self.message.message_type() != Type::Error {
            return None;
        }
        let header = self.message.header();
        let name = header.error_name().map(ToString::to_string).unwrap_or_default();
        let said = if self.signature().starts_with('s') { self.body().text().unwrap_or("") } else { "" };
        Some(Fault::of(&name, said))
    }
}

/// A place in a body.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

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

    /// A variant that should hold a text; any other is empty, and what stands behind it cannot be read then.
    pub(crate) fn variant_text(&mut self) -> Result<&'a str, Fault> {
        match self.variant()? {
            "s" | "o" => self.text(),
            _ => Ok(""),
        }
    }

    /// A variant that should hold a number; behind any other nothing can be read.
    pub(crate) fn variant_number(&mut self) -> Result<Option<f64>, Fault> {
        Ok(match self.variant()? {
            "d" => Some(self.double()?),
            "i" => Some(f64::from(self.int()?)),
            "u" => Some(f64::from(self.unsigned()?)),
            _ => None,
        })
    }
}

/// A question to the bus itself.
pub(crate) fn of_bus(member: &str, args: Args) -> Call<'_> {
    Call { path: "/org/freedesktop/DBus", interface: DAEMON, member, args }
}

/// The object that another one lies in, as the answer to its property `Parent` says it.
///
/// # Errors
/// Where the answer is no reference.
pub(crate) fn parent(answer: &Message) -> Result<(String, String), Fault> {
    let mut c = answer.body();
    match c.variant()? {
        "(so)" => reference(&mut c),
        _ => Err(Fault::Corrupt("a parent that is no reference")),
    }
}

/// A reference to an object: bus name and path.
pub(crate) fn reference(c: &mut Cursor<'_>) -> Result<(String, String), Fault> {
    c.fields()?;
    Ok((c.text()?.to_owned(), c.text()?.to_owned()))
}

/// A place and a size.
pub(crate) fn extents(c: &mut Cursor<'_>) -> Result<[i32; 4], Fault> {
    c.fields()?;
    Ok([c.int()?, c.int()?, c.int()?, c.int()?])
}

#[expect(clippy::cast_possible_truncation, reason = "counts are whole numbers of 32 bits on the wire")]
pub(crate) fn whole(number: Option<f64>) -> i32 {
    number.map_or(-1, |n| n as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A call as its receiver reads it.
    fn sent(args: Args) -> Message {
        let call = Call { path: "/a/b", interface: "c.d", member: "E", args };
        Message::new(call.message(Some(":1.9")).unwrap())
    }

    #[test]
    fn rule_for_a_role_sets_its_bit_alone() {
        let rules: [(u32, [i32; 5]); 3] =
            [(56, [0, 1 << 24, 0, 0, 0]), (31, [i32::MIN, 0, 0, 0, 0]), (130, [0, 0, 0, 0, 4])];
        for (role, expected) in rules {
            let message = sent(Args::new().of_role(role).unsigned(1));
            assert_eq!(message.signature(), "(aiia{ss}iaiiasib)u");
            let mut c = message.body();
            c.fields().unwrap();
            assert_eq!((c.items(4, Cursor::int).unwrap(), c.int().unwrap()), (vec![0; 2], 1));
            assert_eq!((c.items(8, |_| Ok(())).unwrap(), c.int().unwrap()), (vec![], 1));
            assert_eq!((c.items(4, Cursor::int).unwrap(), c.int().unwrap()), (expected.to_vec(), 2));
            assert_eq!((c.items(4, |_| Ok(())).unwrap(), c.int().unwrap()), (vec![], 1));
            assert!(!c.bool().unwrap());
            assert_eq!(c.unsigned().unwrap(), 1);
        }
    }

    #[test]
    fn a_call_reads_back_as_it_was_written() {
        let args = Args::new().text("ä\"").int(-3).unsigned(9).variant_double(0.5).variant_bool(true);
        let message = sent(args.text("b\0"));
        assert_eq!(message.signature(), "siuvvs");
        assert_eq!((&*message.interface(), &*message.member()), ("c.d", "E"));
        let mut c = message.body();
        assert_eq!(c.text().unwrap(), "ä\"");
        assert_eq!((c.int().unwrap(), c.unsigned().unwrap()), (-3, 9));
        assert_eq!(c.variant_number().unwrap(), Some(0.5));
        assert_eq!(c.variant().unwrap(), "b");
        assert!(c.bool().unwrap());
        assert_eq!(c.text().unwrap(), "b ");
        assert!(c.int().is_err());
    }

    #[test]
    fn what_is_no_path_is_not_asked() {
        let call = Call { path: "/a#row", interface: "c.d", member: "E", args: Args::new() };
        assert_eq!(call.message(None).unwrap_err(), Fault::Vanished);
    }

    proptest! {
        #[test]
        fn no_bytes_of_a_stranger_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let pair = |c: &mut Cursor<'_>| reference(c);
            let start = Cursor { bytes: &bytes, at: 0 };
            // Any of these may fail; each ends, and inside.
            let read: [fn(&mut Cursor<'_>) -> bool; 5] = [
                |c| c.items(8, |c| reference(c)).is_ok(),
                |c| c.items(4, Cursor::text).is_ok(),
                |c| c.variant_text().is_ok(),
                |c| c.variant_number().is_ok(),
                |c| extents(c).is_ok(),
            ];
            for read in read {
                let mut c = start.clone();
                let _read = read(&mut c) && pair(&mut c).is_ok();
                prop_assert!(c.at <= bytes.len());
            }
        }
    }
}
