//! The former ways to write arguments and to read bodies, for callers that do not use those of `body` yet.

use crate::bus::body::on_the_wire;
use crate::bus::fault::Fault;
use zbus::Variant;

/// The arguments of a call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Args<'a>(pub(super) Vec<Variant<'a>>);

impl Args<'_> {
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

    /// A variant with a floating point number in it.
    pub(crate) fn variant_double(self, value: f64) -> Self {
        self.with(Variant::Variant(Box::new(Variant::F64(value))))
    }
}

/// A place in a body.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

fn short() -> Fault {
    Fault::Corrupt("a value cut short")
}

impl<'a> Cursor<'a> {
    pub(super) fn over(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

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
        std::str::from_utf8(bytes).map_err(|_| Fault::Corrupt("a signature that is no text"))
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

/// A reference to an object: bus name and path.
pub(crate) fn reference(c: &mut Cursor<'_>) -> Result<(String, String), Fault> {
    c.fields()?;
    Ok((c.text()?.to_owned(), c.text()?.to_owned()))
}
