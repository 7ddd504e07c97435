//! Reading ahead: an app that has changed and become quiet is read once while no command holds the
//! session. The next `locate` then only proves that nothing has changed since (`verify.rs`).
//! Without that proof, the capture is never used.

use crate::app::{self, LinuxDevice, capture, lifecycle};
use async_trait::async_trait;
use std::future::pending;
use std::time::Duration;
use stickpin_device::{AppFolders, Lifecycle};
use stickpin_tree::Handle;
use tokio::time::timeout;

/// The time without a signal after which an app is quiet.
const QUIET: Duration = Duration::from_millis(200);

/// The factor by which the required quiet time grows with each further unused capture, so that an
/// app that changes every second forever is read only a few times.
const LONGER: u32 = 4;

/// The maximum number of objects of an app that is read ahead. A person who uses a larger app may
/// notice that it is busy answering.
const OBJECTS: usize = 3_000;

/// The state of reading ahead.
#[derive(Debug, Default)]
pub(crate) struct Readahead {
    /// The number of captures since a command last read the app.
    pub(crate) unused: u32,
    /// The app's change count at the last read-ahead, whether or not it succeeded.
    tried: Option<u64>,
}

#[async_trait]
impl Lifecycle for LinuxDevice {
    fn app_folders(&self) -> Option<AppFolders> {
        self.app.folders.clone()
    }

    /// Returns when the app has changed since it was last read and is quiet. Never returns for an
    /// app that has left or is too large.
    async fn idle_for_readahead(&mut self) {
        let Self { app, last, readahead, .. } = &*self;
        if last.picture.objects.len() > OBJECTS {
            return pending().await;
        }
        loop {
            let due = app.events.until(|heard| {
                let known = heard.changes == last.changes_when_read || Some(heard.changes) == readahead.tried;
                (!known && !heard.gone).then_some((heard.changes, heard.changed_at))
            });
            let (changes, changed_at) = due.await;
            let quiet_for = changed_at.map_or(Duration::ZERO, |at| at.elapsed());
            let quiet = QUIET.saturating_mul(LONGER.saturating_pow(readahead.unused));
            let wait = app::pending(self) + quiet.saturating_sub(quiet_for);
            let more = app.events.until(|heard| (heard.changes != changes || heard.gone).then_some(()));
            if timeout(wait, more).await.is_err() {
                return;
            }
        }
    }

    /// Reads the app ahead of the next command. Failures are only logged; the next command detects
    /// them.
    async fn read_ahead(&mut self, watch: &[Handle]) {
        let changes = self.app.events.state().changes;
        self.readahead = Readahead { unused: self.readahead.unused.saturating_add(1), tried: Some(changes) };
        if let Err(e) = capture::capture_app(self, watch).await {
            tracing::debug!("{} was not read ahead: {e}", self.app.app_name());
        }
    }

    async fn ended(&mut self) -> Option<String> {
        lifecycle::exit_reason(&self.app).await
    }
}
