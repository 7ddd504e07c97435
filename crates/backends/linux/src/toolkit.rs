//! Toolkits and their peculiarities. No other folder names a toolkit (`tests/floors.rs`): the other
//! folders use a fact of the [`profile`], or call the step of a capture that a toolkit has to
//! itself. For all other toolkits, such a step does nothing, or its condition is never met.

mod bridges;
mod gecko;
mod gtk3;
mod gtk4;
pub(crate) mod profile;
mod qt;

pub(crate) use bridges::missing_bridge;
pub(crate) use gecko::{keep_plain, late_questions, plain_questions, row_headers, shows_nothing, skips};
pub(crate) use gtk4::{PagePoint, page_point};
pub(crate) use qt::{hide_by_position, positioned, unfocused, unlisted_popups};

use crate::bus::{BusResult, Link};
use crate::model::ObjectTree;
use crate::toolkit::profile::Toolkit;

/// Completes a capture whose details have been read.
///
/// # Errors
/// Returns an error if the app is gone or silent.
pub(crate) async fn complete(link: &Link, picture: &mut ObjectTree) -> BusResult<()> {
    match picture.toolkit {
        Toolkit::Gtk3 => gtk3::read_chosen_options(link, picture).await,
        Toolkit::Gtk4 => gtk4::hide_other_pages(link, picture).await,
        _ => Ok(()),
    }
}
