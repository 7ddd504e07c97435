//! Memory that the server writes screenshots to (MIT-SHM 1.2), so that the pixels of a screen are
//! not sent over the connection. This process reads the memory through a file descriptor and never
//! maps it.

use crate::error::{X11Error, X11Result};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use x11rb::connection::RequestConnection as _;
use x11rb::protocol::shm::{self, ConnectionExt as _};
use x11rb::protocol::xproto::ImageFormat;
use x11rb::rust_connection::RustConnection;

/// A shared memory segment that is attached to the server.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    segment: shm::Seg,
    file: std::fs::File,
    size: usize,
}

impl SharedMemory {
    /// Creates a segment of `size` bytes.
    ///
    /// # Errors
    /// Returns `Refused` when the server or the system does not support it.
    fn attach(conn: &RustConnection, size: usize) -> X11Result<Self> {
        let refused = |why: &dyn std::fmt::Display| X11Error::Refused(format!("shared memory: {why}"));
        if conn.extension_information(shm::X11_EXTENSION_NAME)?.is_none() {
            return Err(refused(&"the extension is missing"));
        }
        let version = conn.shm_query_version()?.reply()?;
        if (version.major_version, version.minor_version) < (1, 2) {
            return Err(refused(&"the extension does not accept file descriptors"));
        }
        let fd: OwnedFd = memfd_create("stickpin", MemfdFlags::CLOEXEC).map_err(|e| refused(&e))?;
        ftruncate(&fd, size as u64).map_err(|e| refused(&e))?;
        let segment = x11rb::connection::Connection::generate_id(conn)?;
        conn.shm_attach_fd(segment, fd.try_clone().map_err(|e| refused(&e))?, false)?.check()?;
        Ok(Self { segment, file: fd.into(), size })
    }
}

/// Returns the pixels of a part of a window in the format of the server, four bytes each. `kept`
/// holds the memory between screenshots.
///
/// # Errors
/// Returns `Refused` when the server or the system does not support shared memory.
pub(crate) fn pixels(
    conn: &RustConnection,
    kept: &mut Option<SharedMemory>,
    window: u32,
    (x, y, width, height): (i16, i16, u16, u16),
) -> X11Result<Vec<u8>> {
    let size = usize::from(width) * usize::from(height) * 4;
    if kept.as_ref().is_none_or(|memory| memory.size < size)
        && let Some(old) = kept.replace(SharedMemory::attach(conn, size)?)
    {
        conn.shm_detach(old.segment)?;
    }
    let Some(memory) = kept else { return Err(X11Error::Refused("shared memory".to_owned())) };
    let format = u8::from(ImageFormat::Z_PIXMAP);
    conn.shm_get_image(window, x, y, width, height, u32::MAX, format, memory.segment, 0)?.reply()?;
    let mut pixels = vec![0; size];
    let read = memory.file.read_exact_at(&mut pixels, 0);
    read.map_err(|e| X11Error::Refused(format!("shared memory: {e}")))?;
    Ok(pixels)
}
