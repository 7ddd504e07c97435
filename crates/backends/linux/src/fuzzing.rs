//! The readers of D-Bus values, for `fuzz`.

use crate::bus::{referred, text, whole};
use std::hint::black_box;
use zbus::{OwnedVariant, Variant};

/// Reads a value in each of the ways in which properties are read.
pub fn read_property(value: &OwnedVariant) {
    let number = if let Variant::F64(number) = **value { Some(number) } else { None };
    black_box((text(value), referred(value), whole(number)));
}
