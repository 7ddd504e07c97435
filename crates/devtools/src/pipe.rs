//! Frames on a pair of pipes: JSON text terminated by NUL.

use crate::transport::{FrameReader, FrameWriter};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The maximum length of a frame, in bytes. The largest legitimate frames are a capture of 100,000
/// nodes (30 MB) and a screenshot of a long page; a browser that sends more is broken.
const MAX_FRAME: usize = 256 << 20;

/// The minimum space reserved for a read, in bytes.
const CHUNK: usize = 64 << 10;

/// The buffer size in bytes above which an empty buffer is freed.
const MAX_IDLE_BUFFER: usize = 1 << 20;

/// Splits the bytes that a browser writes to a pipe into frames.
#[derive(Debug)]
pub struct PipeReader<R> {
    source: R,
    buffer: Vec<u8>,
    /// The number of bytes of `buffer` that have been returned.
    consumed: usize,
    /// The number of bytes of `buffer` that contain no NUL or have been returned.
    scanned: usize,
    max: usize,
}

impl<R: AsyncRead + Unpin> PipeReader<R> {
    /// Creates a reader of the pipe that the browser writes to.
    pub fn new(source: R) -> Self {
        Self::with_limit(source, MAX_FRAME)
    }

    fn with_limit(source: R, max: usize) -> Self {
        Self { source, buffer: Vec::new(), consumed: 0, scanned: 0, max }
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> FrameReader for PipeReader<R> {
    async fn next(&mut self) -> io::Result<Option<&mut [u8]>> {
        loop {
            if let Some(at) = self.buffer[self.scanned..].iter().position(|&b| b == 0) {
                let (from, to) = (self.consumed, self.scanned + at);
                self.consumed = to + 1;
                self.scanned = self.consumed;
                return Ok(Some(&mut self.buffer[from..to]));
            }
            self.buffer.drain(..self.consumed);
            self.consumed = 0;
            if self.buffer.is_empty() && self.buffer.capacity() > MAX_IDLE_BUFFER {
                self.buffer = Vec::new();
            }
            self.scanned = self.buffer.len();
            if self.scanned > self.max {
                let text = format!("a message from the browser is longer than {} bytes", self.max);
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
            self.buffer.reserve(CHUNK);
            if self.source.read_buf(&mut self.buffer).await? == 0 {
                if self.buffer.is_empty() {
                    return Ok(None);
                }
                let text = "the browser closed the connection in the middle of a message";
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
            }
        }
    }
}

/// Writes frames to the pipe that a browser reads from.
#[derive(Debug)]
pub struct PipeWriter<W>(W);

impl<W: AsyncWrite + Unpin> PipeWriter<W> {
    /// Creates a writer to the pipe that the browser reads from.
    pub fn new(pipe: W) -> Self {
        Self(pipe)
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static> FrameWriter for PipeWriter<W> {
    async fn write(&mut self, frames: Vec<Vec<u8>>) -> io::Result<()> {
        // Write in one piece, so that the browser wakes up once.
        let mut bytes = Vec::with_capacity(frames.iter().map(|frame| frame.len() + 1).sum());
        for frame in frames {
            bytes.extend_from_slice(&frame);
            bytes.push(0);
        }
        self.0.write_all(&bytes).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read_all(pieces: &[&[u8]], max: usize) -> (Vec<String>, Option<io::ErrorKind>) {
        let (mut ours, theirs) = tokio::io::duplex(4);
        let pieces: Vec<Vec<u8>> = pieces.iter().map(|p| p.to_vec()).collect();
        tokio::spawn(async move {
            for piece in pieces {
                // The reader may have stopped; some of these tests cover that.
                if ours.write_all(&piece).await.is_err() {
                    return;
                }
            }
        });
        let mut frames = PipeReader::with_limit(theirs, max);
        let mut seen = Vec::new();
        loop {
            match frames.next().await {
                Ok(Some(frame)) => seen.push(String::from_utf8(frame.to_vec()).unwrap()),
                Ok(None) => return (seen, None),
                Err(e) => return (seen, Some(e.kind())),
            }
        }
    }

    #[tokio::test]
    async fn frames_are_cut_at_nul_wherever_the_reads_end() {
        let (seen, end) = read_all(&[b"{\"a\":1}\0{\"b", b"\":2}\0\0", b"last\0"], 100).await;
        assert_eq!(seen, ["{\"a\":1}", "{\"b\":2}", "", "last"]);
        assert_eq!(end, None);
    }

    #[tokio::test]
    async fn a_frame_beyond_the_bound_ends_the_connection() {
        let (seen, end) = read_all(&[b"ok\0", &[b'x'; 200]], 64).await;
        assert_eq!(seen, ["ok"]);
        assert_eq!(end, Some(io::ErrorKind::InvalidData));
    }

    #[tokio::test]
    async fn half_a_frame_is_an_error() {
        let (seen, end) = read_all(&[b"one\0tw"], 64).await;
        assert_eq!(seen, ["one"]);
        assert_eq!(end, Some(io::ErrorKind::UnexpectedEof));
    }
}
