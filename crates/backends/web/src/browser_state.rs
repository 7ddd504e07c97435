//! The state of a browser beyond its pages.

use crate::downloads::TrackedDownload;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Browser state shared by the event task and the device. Lock order: after the state of the pages,
/// never before.
#[derive(Debug, Default)]
pub(crate) struct SharedBrowserState(Mutex<BrowserState>);

/// The state of a browser beyond its pages.
#[derive(Debug, Default)]
pub(crate) struct BrowserState {
    /// The most recent downloads, oldest first.
    pub(crate) downloads: Vec<TrackedDownload>,
    /// The last number assigned to a tab.
    pub(crate) last_tab: u64,
    /// The directories whose files pages may show; `None` when the session is not confined.
    pub(crate) file_roots: Option<Vec<PathBuf>>,
    /// The viewport size of every tab, in CSS pixels; `None` if the browser decides.
    pub(crate) viewport: Option<(u32, u32)>,
    /// The tab last brought to the front, and the number of the newest tab at that time: any tab
    /// that opened later is in front of that tab.
    pub(crate) front: Option<(String, u64)>,
}

impl SharedBrowserState {
    pub(crate) fn lock(&self) -> MutexGuard<'_, BrowserState> {
        // No code panics while holding the lock; even if it did, the state would still be
        // consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the directories whose files pages may show; `None` when the session is not confined.
    pub(crate) fn file_roots(&self) -> Option<Vec<PathBuf>> {
        self.lock().file_roots.clone()
    }
}
