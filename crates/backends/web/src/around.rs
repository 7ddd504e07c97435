//! What is known of a browser beyond its pages.

use crate::downloads::Coming;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Shared by the task that reads events and by the device. Locked behind the state of the pages, never before it.
#[derive(Debug, Default)]
pub(crate) struct Around(Mutex<Known>);

/// What is known.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Downloads, the last ones, oldest first.
    pub(crate) downloads: Vec<Coming>,
    /// The last number that was given to a tab.
    pub(crate) last_tab: u64,
    /// The folders whose files pages may show; none where nothing confines them.
    pub(crate) file_roots: Option<Vec<PathBuf>>,
    /// The size of the viewport that every tab gets.
    pub(crate) viewport: Option<(u32, u32)>,
    /// The tab that was last brought to the front, and the newest tab by then: one that opens later is in front of it.
    pub(crate) front: Option<(String, u64)>,
}

impl Around {
    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        // Nothing panics while it is held; if something did, what is known would still be whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The folders whose files pages may show.
    pub(crate) fn file_roots(&self) -> Option<Vec<PathBuf>> {
        self.known().file_roots.clone()
    }
}
