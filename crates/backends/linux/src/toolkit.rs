//! Toolkits and their peculiarities. No other folder names a toolkit (`tests/floors.rs`): the other
//! folders use a fact of the [`profile`], or leave a step of a capture to the [`ToolkitReader`].

mod bridges;
mod gecko;
mod gtk3;
mod gtk4;
pub(crate) mod profile;
mod qt;

pub(crate) use bridges::missing_bridge;
pub(crate) use gtk4::PagePoint;

use crate::bus::{BusResult, Link};
use crate::capture::question::Question;
use crate::model::{Object, ObjectTree};
use crate::toolkit::profile::Toolkit;
use async_trait::async_trait;
use hashbrown::{HashMap, HashSet};

/// The steps of a capture that differ by toolkit. The defaults are right for most toolkits.
#[async_trait]
pub(crate) trait ToolkitReader: Sync {
    /// Returns the paths of popups that the app shows but does not list. `shown` contains the paths
    /// of objects that have signaled that they are shown, and `known` contains the objects that
    /// were read.
    ///
    /// # Errors
    /// Returns an error if the app is gone or silent.
    async fn unlisted_popups(
        &self,
        _link: &Link,
        _shown: &[String],
        _known: &HashMap<String, usize>,
    ) -> BusResult<Vec<String>> {
        Ok(Vec::new())
    }

    /// Returns the only queries that an object needs before its details, if it merely contains
    /// text; `None` if the object needs all queries.
    fn plain_questions(&self, _object: &Object) -> Option<&'static [Question]> {
        None
    }

    /// Derives facts from the answers to [`ToolkitReader::plain_questions`].
    fn keep_plain(&self, _object: &mut Object) {}

    /// Returns whether a query about the details of an object is unnecessary.
    fn skips(&self, _object: &Object, _question: Question) -> bool {
        false
    }

    /// Returns the queries that follow from the details of an object.
    fn late_questions(&self, _object: &Object) -> Vec<Question> {
        Vec::new()
    }

    /// Returns the objects whose rectangles show whether they are visible.
    fn positioned(&self, _picture: &ObjectTree) -> Vec<usize> {
        Vec::new()
    }

    /// Hides objects whose rectangles are not visible.
    fn hide_by_position(&self, _picture: &mut ObjectTree) {}

    /// Completes a capture whose details have been read.
    ///
    /// # Errors
    /// Returns an error if the app is gone or silent.
    async fn complete(&self, _link: &Link, _picture: &mut ObjectTree) -> BusResult<()> {
        Ok(())
    }

    /// Returns the objects that wrongly report the focus.
    fn unfocused(&self, _picture: &ObjectTree) -> HashSet<usize> {
        HashSet::new()
    }

    /// Returns the objects that are row headers regardless of their reported role.
    fn row_headers(&self, _picture: &ObjectTree) -> HashSet<usize> {
        HashSet::new()
    }

    /// Returns whether a window reports all of its content as hidden because others cover it.
    fn shows_nothing(&self, _picture: &ObjectTree, _window: usize) -> bool {
        false
    }

    /// Returns the position of an object on a page of a stack, which the app may switch without a
    /// signal. `above` contains the parent of each object.
    fn page_point(&self, _picture: &ObjectTree, _above: &[usize], _at: usize) -> Option<PagePoint> {
        None
    }
}

/// The reader for most toolkits.
struct Common;

impl ToolkitReader for Common {}

impl Toolkit {
    /// Returns the toolkit's own steps of a capture.
    pub(crate) fn reader(self) -> &'static dyn ToolkitReader {
        match self {
            Self::Gtk4 => &gtk4::Gtk4,
            Self::Gtk3 => &gtk3::Gtk3,
            Self::Qt => &qt::Qt,
            Self::Gecko => &gecko::Gecko,
            Self::Chromium | Self::Office | Self::AccessKit | Self::Other => &Common,
        }
    }
}
