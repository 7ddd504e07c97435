//! What an object offers to do.

use crate::bus::body::{Call, Message};
use crate::bus::fault::Fault;
use crate::bus::link::Link;
use crate::bus::names::ACTION;

/// Asks which actions an object has.
///
/// # Errors
/// Why there is no answer.
pub(crate) async fn listed(link: &Link, path: &str) -> Result<Vec<String>, Fault> {
    actions(&link.one(Call::new(path, ACTION, "GetActions")).await?)
}

/// The names of actions, in their order.
pub(crate) fn actions(answer: &Message) -> Result<Vec<String>, Fault> {
    let actions: Vec<(String, String, String)> = answer.read()?;
    Ok(actions.into_iter().map(|(name, ..)| name).take(ACTIONS).collect())
}

/// Actions of one object that are kept: GTK 4 lists those of the window before its own.
pub(crate) const ACTIONS: usize = 1_000;
