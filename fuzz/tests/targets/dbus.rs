//! Bodies of D-Bus messages that an app sends.

use stickpin_fuzz::{Target, run};

const PIECES: &[&str] = &[
    "\0",
    "\0\0\0\0",
    "\u{1}\0\0\0",
    "\u{7f}\u{7f}\u{7f}\u{7f}",
    "\u{1}s\0",
    "\u{1}v\0",
    "\u{1}d\0",
    "\u{4}(so)\0",
    "\u{5}a{sv}\0",
    "\u{2}as\0",
    "\u{4}\0\0\0/a/b\0",
    "\u{2}\0\0\0:1\0",
    "/",
    "//",
    "é",
];

#[test]
fn dbus() {
    run(Target {
        name: "dbus",
        seeds: Vec::new(),
        pieces: PIECES,
        read: &|bytes, _| Ok(stickpin_backend_linux::fuzzing::readings(bytes) > 0),
    });
}
