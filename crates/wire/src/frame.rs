//! Frames: one JSON value per line, with a maximum length. No I/O: both ends push bytes in and take
//! frames out.

use serde::Serialize;

/// The maximum length of a frame in bytes, without its newline. Ten megabytes of text fit even when
/// every character is escaped.
pub const MAX_FRAME: usize = 64 << 20;

/// The capacity in bytes to which the buffer shrinks after an overlong frame, so that the buffer
/// does not keep the memory of that frame.
const MAX_KEPT_CAPACITY: usize = 256 << 10;

/// Splits a stream of bytes into frames.
#[derive(Debug)]
pub struct Frames {
    buf: Vec<u8>,
    /// The number of bytes at the front of `buf` that contain no newline.
    scanned: usize,
    /// Whether the rest of an overlong frame is being skipped.
    skipping: bool,
    max: usize,
}

/// A frame, or a report that a line was too long.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    /// A line without its newline. Empty lines are skipped.
    Line(Vec<u8>),
    /// A line above the maximum length; reported once, and skipped up to its newline.
    TooLong,
}

impl Default for Frames {
    fn default() -> Self {
        Self::with_max(MAX_FRAME)
    }
}

impl Frames {
    /// Creates a splitter for frames of at most `max` bytes.
    #[must_use]
    pub fn with_max(max: usize) -> Self {
        Self { buf: Vec::new(), scanned: 0, skipping: false, max }
    }

    /// Appends bytes that were read.
    pub fn push(&mut self, bytes: &[u8]) {
        let bytes = if self.skipping {
            let Some(end) = bytes.iter().position(|&b| b == b'\n') else { return };
            self.skipping = false;
            &bytes[end + 1..]
        } else {
            bytes
        };
        self.buf.extend_from_slice(bytes);
    }

    /// Returns the number of buffered bytes that have not yet been returned as frames.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.buf.len()
    }

    /// Returns the next frame; `None` until a line is complete or known to be too long.
    pub fn next_frame(&mut self) -> Option<Frame> {
        loop {
            let Some(end) = self.buf[self.scanned..].iter().position(|&b| b == b'\n') else {
                self.scanned = self.buf.len();
                if self.buf.len() > self.max {
                    self.reset();
                    self.skipping = true;
                    return Some(Frame::TooLong);
                }
                return None;
            };
            let end = self.scanned + end;
            let rest = self.buf.split_off(end + 1);
            let mut line = std::mem::replace(&mut self.buf, rest);
            self.scanned = 0;
            line.pop();
            if line.len() > self.max {
                return Some(Frame::TooLong);
            }
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            return Some(Frame::Line(line));
        }
    }

    fn reset(&mut self) {
        self.buf.clear();
        self.buf.shrink_to(MAX_KEPT_CAPACITY);
        self.scanned = 0;
    }
}

/// Encodes a value as a frame, with its newline.
///
/// # Panics
/// Never panics for this crate's types: their maps have string keys.
#[must_use]
pub fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(value).expect("frames have string keys and serialize");
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(frames: &mut Frames) -> Vec<Frame> {
        std::iter::from_fn(|| frames.next_frame()).collect()
    }

    fn line(text: &str) -> Frame {
        Frame::Line(text.as_bytes().to_vec())
    }

    #[test]
    fn frames_do_not_depend_on_chunking() {
        let stream = b"{\"a\":1}\n\n  \r\n{\"b\":2}\n[3]";
        for size in 1..stream.len() {
            let mut frames = Frames::default();
            let mut seen = Vec::new();
            for chunk in stream.chunks(size) {
                frames.push(chunk);
                seen.extend(all(&mut frames));
            }
            assert_eq!(seen, [line("{\"a\":1}"), line("{\"b\":2}")], "chunks of {size}");
            frames.push(b"\n");
            assert_eq!(all(&mut frames), [line("[3]")]);
        }
    }

    #[test]
    fn overlong_frame_is_reported_once_and_skipped() {
        let stream = b"0123456789abcdef\nok\n";
        for size in 1..=stream.len() {
            let mut frames = Frames::with_max(8);
            let mut seen = Vec::new();
            for chunk in stream.chunks(size) {
                frames.push(chunk);
                seen.extend(all(&mut frames));
            }
            assert_eq!(seen, [Frame::TooLong, line("ok")], "chunks of {size}");
        }
    }

    #[test]
    fn encoded_value_is_one_line() {
        let bytes = encode(&serde_json::json!({"text": "a\nb\u{2028}"}));
        let mut frames = Frames::default();
        frames.push(&bytes);
        assert_eq!(all(&mut frames).len(), 1);
        assert_eq!(bytes.iter().filter(|&&b| b == b'\n').count(), 1);
    }
}
