//! Questions that every app can answer.

use crate::bus::body::{Args, Call};
use crate::bus::names::{ACCESSIBLE, PROPERTIES, ROOT};

/// The question for a property.
pub(crate) fn property<'a>(path: &'a str, interface: &str, name: &str) -> Call<'a> {
    Call { path, interface: PROPERTIES, member: "Get", args: Args::new().text(interface).text(name) }
}

/// A question that every app can answer.
pub(crate) fn role() -> Call<'static> {
    Call { path: ROOT, interface: ACCESSIBLE, member: "GetRole", args: Args::new() }
}
