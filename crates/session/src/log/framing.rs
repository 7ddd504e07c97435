//! The encoding of a record: one line of JSON that begins with its checksum.
//!
//! `{"crc":"0123abcd","v":1,"seq":1,...}` and a newline. The checksum is the CRC-32 of everything
//! between the checksum and the newline, so that a change of any single bit is detected. The
//! beginning, up to and including the version, has the same format in all versions.

use super::record::{Record, VERSION, Written};

/// The maximum size of a record in bytes, including its newline.
pub const MAX_RECORD: usize = 1 << 20;

const BEFORE: &[u8] = br#"{"crc":""#;
const AFTER: &[u8] = br#"","#;
const DIGITS: usize = 8;

/// The number of bytes before the part that the checksum covers.
const PREFIX: usize = BEFORE.len() + DIGITS + AFTER.len();

/// The error for a record that is longer than [`MAX_RECORD`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a log record would have {bytes} bytes, more than the maximum of {MAX_RECORD}")]
pub struct RecordTooLarge {
    /// The size of the record in bytes.
    pub bytes: usize,
}

/// Why a committed line is not a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    /// The bytes differ from those that were written.
    #[error("the checksum does not match")]
    Checksum,
    /// The line was written by a newer or older version of the program.
    #[error("record format version {0} is not supported")]
    Version(u64),
    /// The bytes are unchanged but are not a record of this version.
    #[error("{0}")]
    Content(String),
    /// The record is complete, but its newline was replaced by another byte.
    #[error("the newline that ends the record is damaged")]
    CommitMark,
}

/// Appends the line of a record, with its newline.
///
/// # Errors
/// Returns [`RecordTooLarge`] for a record that is too long; `out` is then unchanged.
pub fn encode(record: &Record, out: &mut Vec<u8>) -> Result<(), RecordTooLarge> {
    let from = out.len();
    // The last byte of the prefix overwrites the opening brace of the JSON text.
    out.resize(from + PREFIX - 1, 0);
    serde_json::to_writer(&mut *out, &Written::new(record)).expect("records have string keys");
    out.push(b'\n');
    let bytes = out.len() - from;
    if bytes > MAX_RECORD {
        out.truncate(from);
        return Err(RecordTooLarge { bytes });
    }
    let sum = crc32fast::hash(&out[from + PREFIX..from + bytes - 1]);
    let line = &mut out[from..];
    line[..BEFORE.len()].copy_from_slice(BEFORE);
    line[BEFORE.len()..BEFORE.len() + DIGITS].copy_from_slice(format!("{sum:08x}").as_bytes());
    line[BEFORE.len() + DIGITS..PREFIX].copy_from_slice(AFTER);
    Ok(())
}

/// Returns the part of a line that the checksum covers, if the checksum matches.
pub(super) fn covered_part(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(BEFORE)?;
    let (digits, rest) = rest.split_at_checked(DIGITS)?;
    let covered = rest.strip_prefix(AFTER)?;
    let written = digits.iter().try_fold(0_u32, |sum, digit| {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        Some(sum << 4 | u32::from(value))
    })?;
    (written == crc32fast::hash(covered)).then_some(covered)
}

/// Returns the version at the beginning of the part that the checksum covers.
fn version(covered: &[u8]) -> Option<u64> {
    let rest = covered.strip_prefix(br#""v":"#)?;
    let digits = rest.iter().take_while(|b| b.is_ascii_digit());
    digits.enumerate().try_fold(0_u64, |v, (at, digit)| (at < 18).then(|| v * 10 + u64::from(digit - b'0')))
}

/// Returns the version of the record on a line, given without its newline.
///
/// # Errors
/// Returns an error if the line is damaged or has no version.
pub(super) fn line_version(line: &[u8]) -> Result<u64, LineFault> {
    let covered = covered_part(line).ok_or(LineFault::Checksum)?;
    version(covered).ok_or_else(|| LineFault::Content("the record has no version".to_owned()))
}

/// Parses a record from its line, without the newline.
///
/// # Errors
/// Returns [`LineFault`] if the line is damaged, of another version, or not a record.
pub fn decode(line: &[u8]) -> Result<Record, LineFault> {
    match line_version(line)? {
        v if v == u64::from(VERSION) => {
            serde_json::from_slice(line).map_err(|e| LineFault::Content(e.to_string()))
        }
        v => Err(LineFault::Version(v)),
    }
}
