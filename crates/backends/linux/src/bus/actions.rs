//! What an object offers to do.

use crate::bus::body::{Args, Message};
use crate::bus::fault::Fault;
use crate::bus::link::Link;
use crate::bus::names::ACTION;

/// Asks which actions an object has.
///
/// # Errors
/// Why there is no answer.
pub(crate) async fn listed(link: &Link, path: &str) -> Result<Vec<String>, Fault> {
    actions(&link.call(path, ACTION, "GetActions", Args::new()).await?)
}

/// The names of actions, in their order.
pub(crate) fn actions(answer: &Message) -> Result<Vec<String>, Fault> {
    let mut names = answer.body().items(8, |c| {
        c.fields()?;
        let name = c.text()?.to_owned();
        c.text()?;
        c.text()?;
        Ok(name)
    })?;
    names.truncate(ACTIONS);
    Ok(names)
}

/// Actions of one object that are kept: GTK 4 lists those of the window before its own.
pub(crate) const ACTIONS: usize = 1_000;
