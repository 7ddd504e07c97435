//! Addresses of displays, and the authorization to use them: the cookie of a private display
//! (MIT-MAGIC-COOKIE-1) and the file that passes it to clients.

use crate::error::{X11Error, X11Result};
use std::fmt;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use stickpin_device::{Result, io_error};
use x11rb::connection::Connection;
use x11rb::errors::ConnectError;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt};
use x11rb::reexports::x11rb_protocol::parse_display::parse_display;
use x11rb::rust_connection::{DefaultStream, RustConnection};

/// The name of a display and the authorization to use it.
#[derive(Debug, Clone)]
pub struct Address {
    /// The display name, such as `:7`.
    pub(crate) name: String,
    /// The cookie of a private display. If `None`, the file that `XAUTHORITY` names applies, or
    /// else `~/.Xauthority`.
    pub(crate) cookie: Option<Cookie>,
    /// Whether a person may be using the display. For its first input, the connection then gets
    /// its own pointer and keyboard.
    pub(crate) shared: bool,
}

impl Address {
    /// Returns the address of the display with this name, which a person may be using.
    #[must_use]
    pub fn shared(name: &str) -> Self {
        Self { name: name.to_owned(), cookie: None, shared: true }
    }

    /// Connects to the server. Returns the connection and the number of the screen.
    pub(crate) fn open(&self) -> Result<(RustConnection, usize), ConnectError> {
        let Some(Cookie(secret)) = &self.cookie else { return RustConnection::connect(Some(&self.name)) };
        let parsed = parse_display(Some(&self.name))?;
        let mut failed = ConnectError::from(std::io::Error::from(std::io::ErrorKind::NotFound));
        for at in parsed.connect_instruction() {
            match DefaultStream::connect(&at) {
                Ok((stream, _)) => {
                    let screen = usize::from(parsed.screen);
                    let (method, secret) = (METHOD.to_vec(), secret.to_vec());
                    let conn =
                        RustConnection::connect_to_stream_with_auth_info(stream, screen, method, secret)?;
                    return Ok((conn, screen));
                }
                Err(e) => failed = e.into(),
            }
        }
        Err(failed)
    }

    /// Returns a text property of the root window over a separate connection; `None` if it is
    /// absent, empty, of a type other than `STRING`, or not UTF-8. Blocks.
    ///
    /// # Errors
    /// Returns `Lost` when the display cannot be used.
    pub fn root_text(&self, property: &str) -> X11Result<Option<String>> {
        let (conn, screen) = self.open().map_err(|e| X11Error::Lost(e.to_string()))?;
        let atom = conn.intern_atom(true, property.as_bytes())?.reply()?.atom;
        if atom == x11rb::NONE {
            return Ok(None);
        }
        let root = conn.setup().roots[screen].root;
        let asked = conn.get_property(false, root, atom, AtomEnum::STRING, 0, ROOT_TEXT_WORDS)?;
        Ok(String::from_utf8(asked.reply()?.value).ok().filter(|text| !text.is_empty()))
    }
}

/// The maximum length of a text property of the root window, in units of four bytes.
const ROOT_TEXT_WORDS: u32 = 1024;

/// The name of the authorization method.
const METHOD: &[u8] = b"MIT-MAGIC-COOKIE-1";

/// The family of an entry that applies to any host and display (`FamilyWild` in Xauth.h).
const WILD: u16 = 0xffff;

/// A 128-bit secret.
#[derive(Clone)]
pub(crate) struct Cookie(pub(crate) [u8; 16]);

impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cookie")
    }
}

impl Cookie {
    /// Writes the cookie to a file that `XAUTHORITY` can name.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let file = std::fs::File::options().create_new(true).write(true).mode(0o600).open(path);
        file.and_then(|mut file| file.write_all(&self.entry())).map_err(|e| io_error("write", path, &e))
    }

    /// Returns the file's only entry: family, address, number, name and data. The family and the
    /// length before each other part take two bytes, big-endian.
    fn entry(&self) -> Vec<u8> {
        let mut out = WILD.to_be_bytes().to_vec();
        for part in [&b""[..], b"", METHOD, &self.0] {
            // All parts are short.
            out.extend((part.len() as u16).to_be_bytes());
            out.extend(part);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_reads_as_libxau_reads_it() {
        let entry = Cookie([7; 16]).entry();
        assert_eq!(entry[..6], [255, 255, 0, 0, 0, 0]);
        assert_eq!(entry[6..8], [0, 18]);
        assert_eq!(&entry[8..26], METHOD);
        assert_eq!(entry[26..28], [0, 16]);
        assert_eq!(entry.len(), 28 + 16);
        assert_eq!(format!("{:?}", Cookie([7; 16])), "Cookie");
    }
}
