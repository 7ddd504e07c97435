//! Records of earlier versions, which are converted version by version.

use super::framing::{self, LineFault};
use super::record::{Record, VERSION};
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// A step that converts the records of one version to the next version.
#[derive(Debug, Clone, Copy)]
pub struct Converter {
    /// The version that the step reads.
    pub from: u32,
    /// Changes the fields of a record, except for its version and its checksum. Returns a
    /// description of what it cannot convert.
    pub convert: fn(&mut Map<String, Value>) -> Result<(), String>,
}

/// The steps from each earlier version to the current one. There is no earlier version yet.
pub const CONVERTERS: &[Converter] = &[];

/// The fields of the envelope, in order.
const ENVELOPE: [&str; 9] = ["seq", "ts", "lifetime", "turnId", "agent", "to", "bcast", "via", "kind"];

/// Converts the line of a record, without its newline. Returns the converted record with the
/// version in which the line was written, or `None` for a record of the current version.
///
/// # Errors
/// Returns an error if the line is damaged or of a newer version, if no converter reads its
/// version, or if a converter fails.
pub fn convert(line: &[u8], converters: &[Converter]) -> Result<Option<(u32, Record)>, LineFault> {
    let written = framing::line_version(line)?;
    if written == u64::from(VERSION) {
        return framing::decode(line).map(|_| None);
    }
    let from = u32::try_from(written).ok().filter(|v| *v < VERSION).ok_or(LineFault::Version(written))?;
    let mut fields: Map<String, Value> =
        serde_json::from_slice(line).map_err(|e| LineFault::Content(e.to_string()))?;
    for version in from..VERSION {
        let step = converters.iter().find(|converter| converter.from == version);
        let step = step.ok_or(LineFault::Version(written))?;
        (step.convert)(&mut fields).map_err(LineFault::Content)?;
    }
    fields.remove("crc");
    fields.remove("v");
    // The order of the envelope is part of the format.
    let mut text = format!(r#"{{"crc":"","v":{VERSION}"#);
    let envelope = ENVELOPE.map(|name| (name.to_owned(), fields.remove(name).unwrap_or_default()));
    for (name, value) in envelope.into_iter().chain(fields) {
        // Writing to a string cannot fail.
        let _ = write!(text, ",{}:{value}", Value::from(name));
    }
    text.push('}');
    let record = serde_json::from_str(&text);
    record.map(|record| Some((from, record))).map_err(|e| LineFault::Content(e.to_string()))
}
