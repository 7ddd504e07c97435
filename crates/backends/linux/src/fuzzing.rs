//! The reader of D-Bus bodies, for `fuzz`.

use crate::bus::body::{Reference, referred, text, whole};
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::hint::black_box;
use zbus::wire::{LE, serialized};
use zbus::{OwnedVariant, Type, Variant};

/// Reads bytes as each of the types that answers and signals of apps are read as. Returns how many
/// of them are what the bytes hold.
#[must_use]
pub fn readings(bytes: &[u8]) -> usize {
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
        is_value,
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

/// Whether it is a value of any type, of which everything is asked that is asked of properties.
fn is_value(bytes: &[u8]) -> bool {
    let Some(value) = body::<OwnedVariant>(bytes) else { return false };
    let number = if let Variant::F64(number) = *value { Some(number) } else { None };
    black_box((text(&value), referred(&value), whole(number)));
    true
}
