//! Lists, trees and spreadsheets that manage their descendants: only what is on the screen is read of them.

use crate::bus::{Fault, Link};
use crate::model::Picture;

/// Reads the visible cells of every table that manages its descendants.
///
/// # Errors
/// When the app is gone or silent.
pub(crate) async fn read(_link: &Link, _picture: &mut Picture) -> Result<(), Fault> {
    Ok(())
}
