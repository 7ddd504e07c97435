//! Pop-ups that an app does not list among its windows.
//!
//! Qt lists its windows, and leaves out those that are pop-ups. The menu of a menu bar stands below the entry that opens it;
//! a menu that nothing else has (what a right click opens, the menu that a button was given without being its parent) and
//! the list that completes a field stand nowhere. They say that they are shown when they appear, and name the app as what
//! they stand in: so they are listed beside the windows, as long as they are shown.

use crate::bus::Link;
use crate::bus::fault::Fault;
use crate::bus::names::ROOT;

/// What is known of objects that have said that they are shown.
#[derive(Debug, Clone, Default)]
pub(crate) struct Appeared {
    /// Their paths, the oldest first.
    pub(crate) paths: Vec<String>,
    /// Those of them that stand in something else than the app.
    inside: Vec<String>,
}

impl Appeared {
    /// The paths of those that stand in the app itself and that it was not found to list.
    ///
    /// # Errors
    /// When the app is gone or silent.
    pub(super) async fn unlisted(
        &mut self,
        link: &Link,
        is_known: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>, Fault> {
        let Self { paths, inside } = self;
        inside.retain(|path| paths.contains(path));
        let asked = paths.iter().map(String::as_str);
        let asked: Vec<&str> =
            asked.filter(|path| !is_known(path) && !inside.iter().any(|other| other == path)).collect();
        let mut out = Vec::new();
        for (path, above) in asked.iter().zip(link.parents(&asked).await?) {
            // What does not say it is gone.
            let list = if above.is_some_and(|(_, above)| above == ROOT) { &mut out } else { &mut *inside };
            list.push((*path).to_owned());
        }
        Ok(out)
    }
}
