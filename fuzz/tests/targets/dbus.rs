//! Bodies of D-Bus messages that an app sends.

use serde::de::DeserializeOwned;
use std::collections::HashMap;
use stickpin_backend_linux::fuzzing::read_property;
use stickpin_fuzz::{Target, run};
use zbus::wire::{LE, serialized};
use zbus::{OwnedVariant, Type};

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

/// A reference to an object: bus name and path.
type Reference = (String, String);

/// Reads bytes as each type of the answers and signals of apps. Returns how many types the bytes
/// are valid for.
fn readings(bytes: &[u8]) -> usize {
    let read = [
        is::<String>,
        is::<bool>,
        is::<u32>,
        is::<Reference>,
        is::<Vec<Reference>>,
        is::<Vec<String>>,
        is::<Vec<u32>>,
        is::<Vec<bool>>,
        is::<HashMap<String, String>>,
        is::<Vec<(u32, Vec<Reference>)>>,
        is::<Vec<(String, String, String)>>,
        is::<(Vec<(String, String)>, i32, i32)>,
        is::<(String, i32, i32, OwnedVariant)>,
        is::<[i32; 4]>,
        |bytes: &[u8]| body::<OwnedVariant>(bytes).inspect(read_property).is_some(),
    ];
    read.iter().filter(|is| is(bytes)).count()
}

fn body<T: DeserializeOwned + Type>(bytes: &[u8]) -> Option<T> {
    let data = serialized::Data::new(bytes, serialized::Context::new(LE, 0));
    data.deserialize().ok().map(|(value, _)| value)
}

fn is<T: DeserializeOwned + Type>(bytes: &[u8]) -> bool {
    body::<T>(bytes).is_some()
}

#[test]
fn dbus() {
    run(Target {
        name: "dbus",
        seeds: Vec::new(),
        pieces: PIECES,
        read: &|bytes, _| Ok(readings(bytes) > 0),
    });
}
