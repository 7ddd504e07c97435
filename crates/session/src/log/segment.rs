//! The records of a segment, in order, and the damage that a crash or a disk error left.

use super::framing::{self, LineFault};
use super::record::Record;
use memchr::{memchr, memrchr};

/// A line that cannot be read as a record. Such a line is never skipped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read line {line} at byte {offset}: {fault}")]
pub struct Corruption {
    /// The number of the line, from 1.
    pub line: u64,
    /// Where the line begins, in bytes from the beginning of the segment.
    pub offset: u64,
    /// Why the line is not a record.
    pub fault: LineFault,
}

/// A record and its position.
#[derive(Debug, Clone, PartialEq)]
pub struct Located {
    /// The record at this position.
    pub record: Record,
    /// The number of its line, from 1.
    pub line: u64,
    /// Where the line begins, in bytes from the beginning of the segment.
    pub offset: u64,
}

/// Iterates over the committed records of a segment and ends at the first damaged line. Bytes after
/// the last newline belong to no record. They are an error only if they are a complete record whose
/// newline was replaced by another byte.
#[derive(Debug)]
pub struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
    base: u64,
    failed: bool,
}

impl<'a> Records<'a> {
    /// Reads a segment from its first byte.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self::part(bytes, 0, 0)
    }

    /// Reads the part of a segment that begins at byte `base`, after `lines` lines.
    #[must_use]
    pub fn part(bytes: &'a [u8], base: u64, lines: u64) -> Self {
        Self { bytes, at: 0, line: lines, base, failed: false }
    }

    /// Returns where the uncommitted bytes begin, counted from the first of the given bytes. Valid
    /// after the iterator has ended. `None` if there are no such bytes, or if the iterator ended at
    /// a damaged line.
    #[must_use]
    pub fn torn_tail(&self) -> Option<usize> {
        (!self.failed && self.at < self.bytes.len()).then_some(self.at)
    }

    fn corrupt(&mut self, offset: u64, fault: LineFault) -> Corruption {
        self.failed = true;
        Corruption { line: self.line, offset, fault }
    }
}

impl Iterator for Records<'_> {
    type Item = Result<Located, Corruption>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let rest = &self.bytes[self.at..];
        let offset = self.base + self.at as u64;
        let Some(end) = memchr(b'\n', rest) else {
            // A crash cuts a record short; it never writes a complete record followed by a wrong
            // byte.
            let (_, whole) = rest.split_last()?;
            framing::covered_part(whole)?;
            self.line += 1;
            return Some(Err(self.corrupt(offset, LineFault::CommitMark)));
        };
        self.line += 1;
        match framing::decode(&rest[..end]) {
            Ok(record) => {
                self.at += end + 1;
                Some(Ok(Located { record, line: self.line, offset }))
            }
            Err(fault) => Some(Err(self.corrupt(offset, fault))),
        }
    }
}

/// Returns the number of bytes up to and including the last newline; 0 without a newline.
#[must_use]
pub fn last_commit(bytes: &[u8]) -> usize {
    memrchr(b'\n', bytes).map_or(0, |at| at + 1)
}
