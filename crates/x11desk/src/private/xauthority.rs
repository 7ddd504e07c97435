//! The cookie that clients of a private display have to show (MIT-MAGIC-COOKIE-1), and the file that tells them.

use super::random;
use std::fmt;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use stickpin_device::{Result, io_error};

/// The name of the method.
pub(crate) const METHOD: &[u8] = b"MIT-MAGIC-COOKIE-1";

/// The family of an entry that holds for any host and display (`FamilyWild` of Xauth.h).
const WILD: u16 = 0xffff;

/// A secret of 128 bits.
#[derive(Clone)]
pub(crate) struct Cookie(pub(crate) [u8; 16]);

impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cookie")
    }
}

impl Cookie {
    pub(super) fn random() -> Result<Self> {
        let mut bytes = [0; 16];
        random(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// Writes the file that `XAUTHORITY` names.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let file = std::fs::File::options().create_new(true).write(true).mode(0o600).open(path);
        file.and_then(|mut file| file.write_all(&self.entry())).map_err(|e| io_error("write", path, &e))
    }

    /// One entry: family, address, number, name and data, each counted in two bytes, high byte first.
    fn entry(&self) -> Vec<u8> {
        let mut out = WILD.to_be_bytes().to_vec();
        for part in [&b""[..], b"", METHOD, &self.0] {
            // All of them are short.
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
