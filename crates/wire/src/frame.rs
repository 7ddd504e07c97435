//! One JSON value per line, bounded. Pure: bytes in, frames out; both ends use it.

use serde::Serialize;

/// The longest frame in bytes, without its newline. Ten megabytes of text fit, whatever has to be escaped in them.
pub const MAX_FRAME: usize = 64 << 20;

/// A buffer larger than this is given back once it is empty: one large frame must not cost memory for ever.
const KEEP: usize = 256 << 10;

/// Cuts a stream of bytes into frames.
#[derive(Debug)]
pub struct Frames {
    buf: Vec<u8>,
    /// Bytes at the front of `buf` that hold no newline.
    scanned: usize,
    /// Whether the rest of a frame that was too long is being dropped.
    skipping: bool,
    max: usize,
}

/// What a stream of bytes holds next.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    /// A line without its newline. Empty lines are not reported.
    Line(Vec<u8>),
    /// A line longer than the bound; reported once, and dropped up to its newline.
    TooLong,
}

impl Default for Frames {
    fn default() -> Self {
        Self::with_max(MAX_FRAME)
    }
}

impl Frames {
    /// Frames of at most `max` bytes.
    #[must_use]
    pub fn with_max(max: usize) -> Self {
        Self { buf: Vec::new(), scanned: 0, skipping: false, max }
    }

    /// Takes in what was read.
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

    /// How many bytes of frames that were not taken yet are held.
    #[must_use]
    pub fn held(&self) -> usize {
        self.buf.len()
    }

    /// The next frame, if one is complete.
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
        self.buf.shrink_to(KEEP);
        self.scanned = 0;
    }
}

/// A value as a frame, with its newline.
///
/// # Panics
/// Never for the types of this crate: their maps have string keys.
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
    fn frames_are_the_same_however_the_bytes_arrive() {
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
    fn a_frame_that_is_too_long_is_reported_once_and_the_next_one_is_read() {
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
    fn an_encoded_value_is_one_line() {
        let bytes = encode(&serde_json::json!({"text": "a\nb\u{2028}"}));
        let mut frames = Frames::default();
        frames.push(&bytes);
        assert_eq!(all(&mut frames).len(), 1);
        assert_eq!(bytes.iter().filter(|&&b| b == b'\n').count(), 1);
    }
}
