//! Errors from a display.

use std::time::Duration;
use stickpin_device::{Error, ErrorCode};
use x11rb::errors::ReplyOrIdError;
use x11rb::protocol::ErrorKind;

/// The reason why the display did not carry out a request.
#[derive(Debug, thiserror::Error)]
pub enum X11Error {
    /// The connection broke.
    #[error("{0}")]
    Lost(String),
    /// A window is no longer there, or no longer shown.
    #[error("{0}")]
    WindowGone(String),
    /// The server refused a request for another reason.
    #[error("{0}")]
    Refused(String),
    /// The owner of the clipboard, the keyboard, the screen, or a limit of this crate prevented a
    /// request.
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
                let message = format!("the server refused {request} ({:?})", e.error_kind);
                match (e.error_kind, e.request_name) {
                    (ErrorKind::Window | ErrorKind::Drawable, _) => Self::WindowGone(message),
                    // The only mismatch of this request is a window that is not viewable.
                    (ErrorKind::Match, Some("XISetFocus")) => Self::WindowGone(message),
                    _ => Self::Refused(message),
                }
            }
        }
    }
}

impl From<X11Error> for Error {
    fn from(fault: X11Error) -> Self {
        let (code, hint) = match fault {
            X11Error::Lost(_) => (ErrorCode::BackendLost, "run `stickpin doctor`"),
            X11Error::WindowGone(_) => (ErrorCode::ElementNotFound, "run `stickpin snapshot -i`"),
            X11Error::Refused(_) => (ErrorCode::Io, "run `stickpin doctor`"),
            X11Error::Unsupported(_) => return Self::unsupported(fault.to_string()),
        };
        Self::new(code, format!("the X display: {fault}")).hint(hint)
    }
}

/// Timeout for one job on a display.
pub const JOB_TIMEOUT: Duration = Duration::from_secs(5);

/// Timeout for a window to be restored, moved or resized, or to get the keyboard.
pub(crate) const RESTORE_TIMEOUT: Duration = Duration::from_secs(2);
