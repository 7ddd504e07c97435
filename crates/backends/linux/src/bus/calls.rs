//! Questions that are asked in several places.

use crate::bus::body::{Call, Message};
use crate::bus::fault::Fault;
use crate::bus::link::Link;
use crate::bus::names::{ACCESSIBLE, ACTION, COMPONENT, DAEMON, PROPERTIES, ROOT, SCREEN};
use std::collections::BTreeMap;
use zbus::Variant;

/// The question for a property; [`Message::property_text`](super::Message::property_text) reads the
/// answer.
pub(crate) fn property<'a>(path: &'a str, interface: &'a str, name: &'a str) -> Call<'a> {
    Call::new(path, PROPERTIES, "Get").with((interface, name))
}

/// The order to give a property a value.
pub(crate) fn set<'a>(path: &'a str, interface: &'a str, name: &'a str, value: Variant<'a>) -> Call<'a> {
    Call::new(path, PROPERTIES, "Set").with((interface, name, value))
}

/// A question that every app can answer.
pub(crate) fn role() -> Call<'static> {
    Call::new(ROOT, ACCESSIBLE, "GetRole")
}

/// The question for a child of an object, by its place among the children.
pub(crate) fn child(path: &str, index: i32) -> Call<'_> {
    Call::new(path, ACCESSIBLE, "GetChildAtIndex").with((index,))
}

/// The question for where an object is on the screen.
pub(crate) fn extents(path: &str) -> Call<'_> {
    Call::new(path, COMPONENT, "GetExtents").with((SCREEN,))
}

/// The question for what an object has at a point, in coordinates of this type.
pub(crate) fn at_point(path: &str, (x, y): (i32, i32), coordinates: u32) -> Call<'_> {
    Call::new(path, COMPONENT, "GetAccessibleAtPoint").with((x, y, coordinates))
}

/// The question for what below an object has a role (`Collection.GetMatches`), at most so many.
pub(crate) fn in_role(path: &str, role: u32, order: u32, most: i32) -> Call<'_> {
    const ALL: i32 = 1;
    const ANY: i32 = 2;
    // States, attributes, roles and interfaces, each with how many of them it takes; roles and
    // states
    // are sets of bits.
    let mut roles = vec![0_i32; 5];
    if let Some(word) = roles.get_mut(role as usize / 32) {
        *word = (1_u32 << (role % 32)).cast_signed();
    }
    let (attributes, interfaces) = (BTreeMap::<String, String>::new(), Vec::<String>::new());
    let rule = (vec![0_i32; 2], ALL, attributes, ALL, roles, ANY, interfaces, ALL, false);
    Call::new(path, "org.a11y.atspi.Collection", "GetMatches").with((rule, order, most, true))
}

/// A question to the bus itself.
pub(crate) fn of_bus(member: &str) -> Call<'_> {
    Call::new("/org/freedesktop/DBus", DAEMON, member)
}

/// Asks which actions an object has.
///
/// # Errors
/// Why there is no answer.
pub(crate) async fn listed(link: &Link, path: &str) -> Result<Vec<String>, Fault> {
    actions(&link.call(Call::new(path, ACTION, "GetActions")).await?)
}

/// The names of actions, in their order.
pub(crate) fn actions(answer: &Message) -> Result<Vec<String>, Fault> {
    let actions: Vec<(String, String, String)> = answer.read()?;
    Ok(actions.into_iter().map(|(name, ..)| name).take(ACTIONS).collect())
}

/// Actions of one object that are kept: GTK 4 lists those of the window before its own.
pub(crate) const ACTIONS: usize = 1_000;
