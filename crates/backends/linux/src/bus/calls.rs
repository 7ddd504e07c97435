//! Common calls that are made in several places.

use crate::bus::body::{Call, Message};
use crate::bus::error::BusResult;
use crate::bus::link::Link;
use crate::bus::names::{ACCESSIBLE, ACTION, COMPONENT, DAEMON, PROPERTIES, ROOT, SCREEN, WINDOW};
use crate::toolkit::profile::Toolkit;
use zbus::Variant;

/// Creates the call that gets a property; [`Message::property_text`](super::Message::property_text)
/// reads the answer.
pub(crate) fn property<'a>(path: &'a str, interface: &'a str, name: &'a str) -> Call<'a> {
    Call::new(path, PROPERTIES, "Get").with((interface, name))
}

/// Creates the call that sets a property.
pub(crate) fn set<'a>(path: &'a str, interface: &'a str, name: &'a str, value: Variant<'a>) -> Call<'a> {
    Call::new(path, PROPERTIES, "Set").with((interface, name, value))
}

/// Creates the call that gets the role of the app's root object, which every app can answer.
pub(crate) fn role() -> Call<'static> {
    Call::new(ROOT, ACCESSIBLE, "GetRole")
}

/// Creates the call that gets a child of an object by its index.
pub(crate) fn child(path: &str, index: i32) -> Call<'_> {
    Call::new(path, ACCESSIBLE, "GetChildAtIndex").with((index,))
}

/// Creates the call that gets the rectangle of an object in the toolkit's coordinates.
pub(crate) fn extents(path: &str, toolkit: Toolkit) -> Call<'_> {
    Call::new(path, COMPONENT, "GetExtents").with((coordinates(toolkit),))
}

/// Creates the call that gets the object at a point, given in the toolkit's coordinates.
pub(crate) fn at_point(path: &str, (x, y): (i32, i32), toolkit: Toolkit) -> Call<'_> {
    Call::new(path, COMPONENT, "GetAccessibleAtPoint").with((x, y, coordinates(toolkit)))
}

/// Returns the type of a toolkit's coordinates (`AtspiCoordType`). GTK 4 writes a warning to the
/// app's output for each query in the coordinates of the screen.
const fn coordinates(toolkit: Toolkit) -> u32 {
    if toolkit.profile().places_are_in_the_window { WINDOW } else { SCREEN }
}

/// Creates a call to the bus itself.
pub(crate) fn of_bus(member: &str) -> Call<'_> {
    Call::new("/org/freedesktop/DBus", DAEMON, member)
}

/// Queries the names of an object's actions.
///
/// # Errors
/// Returns the error of the answer.
pub(crate) async fn query_actions(link: &Link, path: &str) -> BusResult<Vec<String>> {
    actions(&link.call(Call::new(path, ACTION, "GetActions")).await?)
}

/// Returns the names of the actions that an answer lists, in order.
pub(crate) fn actions(answer: &Message) -> BusResult<Vec<String>> {
    let actions: Vec<(String, String, String)> = answer.read()?;
    Ok(actions.into_iter().map(|(name, ..)| name).take(ACTIONS).collect())
}

/// The maximum number of actions that are kept for one object. GTK 4 lists those of the window
/// before the object's own.
pub(crate) const ACTIONS: usize = 1_000;
