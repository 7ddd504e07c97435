//! How frames of JSON text travel between a client and a browser.

use std::future::Future;
use std::io;

/// Reads the frames that a browser sends.
pub trait FrameReader: Send + 'static {
    /// Returns the next frame, or `None` when the browser has closed the connection. The caller may
    /// change the bytes, which are not used again.
    ///
    /// # Errors
    /// Returns an error when reading fails, a frame is too long, or the connection ends inside a
    /// frame.
    fn next(&mut self) -> impl Future<Output = io::Result<Option<&mut [u8]>>> + Send;
}

/// Writes frames to a browser.
pub trait FrameWriter: Send + 'static {
    /// Writes the frames in the given order.
    ///
    /// # Errors
    /// Returns an error when writing fails, for example because the browser has closed the
    /// connection.
    fn write(&mut self, frames: Vec<Vec<u8>>) -> impl Future<Output = io::Result<()>> + Send;
}
