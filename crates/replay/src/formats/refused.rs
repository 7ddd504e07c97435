//! Commands of other formats that have no counterpart here.

/// The name of a command, why it has none, and what to write instead.
pub(super) type Refused = (&'static str, &'static str, &'static str);

/// Why a command of a format is not read, and what to write instead, where the format's table lists it.
pub(super) fn unsupported(table: &[Refused], format: &str, name: &str) -> Option<(String, &'static str)> {
    let (_, why, hint) = table.iter().find(|(listed, ..)| *listed == name)?;
    Some((format!("`{name}` of {format} is not supported: {why}"), hint))
}
