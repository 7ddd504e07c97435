//! Message bodies. Answers come from another program, so zbus checks each length, text and path
//! while it reads them as the requested type. Invalid values are errors.

use crate::bus::error::{BusError, BusResult};
use serde::de::DeserializeOwned;
use zbus::message::{Body, Header};
use zbus::{OwnedVariant, Structure, Variant};

/// A reference to an object: the bus name of its process, which may be empty for an object of the
/// app that answers, and the object path.
pub(crate) type Reference = (String, String);

/// A method call.
#[derive(Debug, Clone)]
pub(crate) struct Call<'a> {
    pub(crate) path: &'a str,
    pub(crate) interface: &'a str,
    pub(crate) member: &'a str,
    pub(super) args: Vec<Variant<'a>>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(path: &'a str, interface: &'a str, member: &'a str) -> Self {
        Self { path, interface, member, args: Vec::new() }
    }

    /// Sets the arguments, as a tuple.
    pub(crate) fn with(self, args: impl Into<Structure<'a>>) -> Self {
        Self { args: args.into().into_fields(), ..self }
    }

    /// Builds the message.
    ///
    /// # Errors
    /// Returns `Vanished` if the path is not valid: an object with such a path cannot exist.
    pub(super) fn message(&self, destination: Option<&str>) -> BusResult<zbus::Message> {
        let mut message = zbus::Message::method_call(self.path, self.member).interface(self.interface);
        if let Some(destination) = destination {
            message = message.destination(destination);
        }
        let built = if self.args.is_empty() {
            message.build(&())
        } else {
            let fields =
                self.args.iter().cloned().fold(Structure::builder(), |body, arg| body.append_field(arg));
            fields.build().and_then(|body| message.build(&body))
        };
        built.map_err(|e| {
            tracing::debug!("{} of {:?} is not sent: {e}", self.member, self.path);
            BusError::Vanished
        })
    }
}

/// Makes a text valid as an argument, which must not contain NUL.
pub(crate) fn on_the_wire(text: &str) -> String {
    text.replace('\0', " ")
}

/// A received message.
#[derive(Debug, Clone)]
pub(crate) struct Message(Body);

impl Message {
    pub(crate) fn new(message: zbus::Message) -> Self {
        Self(message.body())
    }

    /// Returns the names in the header: the sender, the path, the interface and the member.
    pub(crate) fn header(&self) -> Header<'_> {
        self.0.message().header()
    }

    /// Reads the body as a value, or its first values as a tuple.
    ///
    /// # Errors
    /// Returns `Corrupt` if the body has another type.
    pub(crate) fn read<T: DeserializeOwned + zbus::Type>(&self) -> BusResult<T> {
        self.0.deserialize_ignore_signature().map_err(|_| BusError::Corrupt("a value of an unexpected type"))
    }

    /// Reads a property that is a text or an object path; empty for any other value.
    ///
    /// # Errors
    /// Returns the errors of [`Message::read`].
    pub(crate) fn property_text(&self) -> BusResult<String> {
        Ok(text(&self.read()?))
    }

    /// Reads a numeric property; `None` for any other value.
    ///
    /// # Errors
    /// Returns the errors of [`Message::read`].
    pub(crate) fn property_number(&self) -> BusResult<Option<f64>> {
        Ok(match *self.read::<OwnedVariant>()? {
            Variant::F64(number) => Some(number),
            Variant::I32(number) => Some(f64::from(number)),
            Variant::U32(number) => Some(f64::from(number)),
            _ => None,
        })
    }

    /// Returns the signature of the body, such as `a(so)` or `siiv`.
    pub(crate) fn signature(&self) -> String {
        self.0.signature().to_string_no_parens()
    }

    /// Returns the size of the body in bytes.
    pub(crate) fn size(&self) -> usize {
        self.0.len()
    }

    /// Returns the error that an error message reports.
    pub(super) fn fault(&self) -> BusError {
        let header = self.header();
        let name = header.error_name().map(ToString::to_string).unwrap_or_default();
        let said =
            if self.signature().starts_with('s') { self.read().unwrap_or_default() } else { String::new() };
        BusError::of(&name, &said)
    }
}

/// Returns the object that a variant refers to; `None` for another value.
pub(crate) fn referred(value: &OwnedVariant) -> Option<Reference> {
    let Variant::Structure(fields) = &**value else { return None };
    match fields.fields() {
        [Variant::Str(bus), Variant::ObjectPath(path)] => Some((bus.to_string(), path.to_string())),
        _ => None,
    }
}

/// Returns the text or object path in a variant; empty for another value.
pub(crate) fn text(value: &OwnedVariant) -> String {
    match &**value {
        Variant::Str(text) => text.to_string(),
        Variant::ObjectPath(path) => path.to_string(),
        _ => String::new(),
    }
}

/// Converts a whole number to an integer; -1 if it is missing.
#[expect(clippy::cast_possible_truncation, reason = "counts are whole numbers of 32 bits on the wire")]
pub(crate) fn whole(number: Option<f64>) -> i32 {
    number.map_or(-1, |n| n as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a call as read by its receiver.
    fn sent(call: &Call<'_>) -> Message {
        Message::new(call.message(Some(":1.9")).unwrap())
    }

    #[test]
    fn a_call_reads_back_as_it_was_written() {
        let values = (Variant::from(0.5), Variant::from(true));
        let call =
            Call::new("/a/b", "c.d", "E").with(("ä\"", -3, 9_u32, values.0, values.1, on_the_wire("b\0")));
        let message = sent(&call);
        assert_eq!(message.signature(), "siuvvs");
        let header = message.header();
        assert_eq!((header.interface().unwrap().as_str(), header.member().unwrap().as_str()), ("c.d", "E"));
        let (text, int, unsigned, half, yes, end): (String, i32, u32, OwnedVariant, OwnedVariant, String) =
            message.read().unwrap();
        assert_eq!((&*text, int, unsigned, &*end), ("ä\"", -3, 9, "b "));
        assert_eq!((&*half, &*yes), (&Variant::F64(0.5), &Variant::Bool(true)));
        assert!(message.read::<Vec<Reference>>().is_err());
    }

    #[test]
    fn what_is_no_path_is_not_asked() {
        let call = Call::new("/a#row", "c.d", "E");
        assert_eq!(call.message(None).unwrap_err(), BusError::Vanished);
    }
}
