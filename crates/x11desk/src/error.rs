//! Errors from a display.

use std::time::Duration;
use stickpin_device::{Error, ErrorCode};
use x11rb::errors::ReplyOrIdError;

/// The reason why the display did not carry out a request.
#[derive(Debug, thiserror::Error)]
pub enum X11Error {
    /// The connection broke.
    #[error("{0}")]
    Lost(String),
    /// The server refused a request, usually because a window has gone, or the keyboard or the
    /// screen does not support the request.
    #[error("{0}")]
    Refused(String),
    /// The owner of the clipboard, or a limit of this crate, prevented a request.
    #[error("{0}")]
    Unsupported(String),
}

/// The result of a job on a display.
pub type X11Result<T> = Result<T, X11Error>;

impl<E: Into<ReplyOrIdError>> From<E> for X11Error {
    fn from(e: E) -> Self {
        match e.into() {
            ReplyOrIdError::ConnectionError(e) => Self::Lost(e.to_string()),
            ReplyOrIdError::IdsExhausted => Self::Lost("no more resource ids are available".to_owned()),
            ReplyOrIdError::X11Error(e) => {
                let request = e.request_name.unwrap_or("a request");
                Self::Refused(format!("the server refused {request} ({:?})", e.error_kind))
            }
        }
    }
}

impl From<X11Error> for Error {
    fn from(fault: X11Error) -> Self {
        let code = match fault {
            X11Error::Lost(_) => ErrorCode::BackendLost,
            X11Error::Refused(_) => ErrorCode::ElementNotFound,
            X11Error::Unsupported(_) => return Self::unsupported(fault.to_string()),
        };
        Self::new(code, format!("the X display: {fault}")).hint("run `stickpin doctor`")
    }
}

/// Timeout for one job on a display.
pub const JOB_TIMEOUT: Duration = Duration::from_secs(5);

/// Timeout for a window to be restored, moved or resized, or to get the keyboard.
pub(crate) const RESTORE_TIMEOUT: Duration = Duration::from_secs(2);
