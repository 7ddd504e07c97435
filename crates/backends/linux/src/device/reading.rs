//! Reading an app, and what is kept of that.

use crate::app::{Last, LinuxDevice};
use crate::bus::fault::Fault;
use crate::bus::guest;
use crate::bus::limits::BUS;
use crate::capture::{read, tree};
use crate::model::Picture;
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_tree::{Handle, Tree};
use tokio::time::timeout;

/// How long one reading of an app may take in all.
const READING: Duration = Duration::from_secs(10);

impl LinuxDevice {
    /// Reads the app and makes a tree of it. The same tree as before is the same `Arc`.
    ///
    /// # Errors
    /// `BACKEND_LOST`, `TIMEOUT`.
    pub(crate) async fn look(&mut self, watch: &[Handle]) -> Result<Arc<Tree>> {
        // The counter first: what changes during the reading shows as a change since.
        let changes = {
            let heard = self.heard.state();
            self.known.appeared.paths = heard.appeared();
            heard.changes
        };
        let picture = match timeout(READING, read::read(&self.link, &mut self.known)).await {
            Ok(Ok(picture)) => picture,
            Ok(Err(fault)) => return Err(self.failed(fault).await),
            Err(_) => return Err(self.failed(Fault::Silent(READING.as_millis())).await),
        };
        self.listen_to_guests(&picture).await;
        self.keep(picture, changes, watch)
    }

    /// Keeps a reading, and makes a tree of it. `changes` is how often the app had changed when it began.
    fn keep(&mut self, picture: Picture, changes: u64, watch: &[Handle]) -> Result<Arc<Tree>> {
        let last = self.last.as_ref().map(|last| &last.tree);
        let tree = tree::kept(&picture, &self.ids, &self.at, watch, last).map_err(|e| self.treeless(&e))?;
        self.seen = changes;
        self.last = Some(Last::new(picture, Arc::clone(&tree)));
        Ok(tree)
    }

    /// Asks for the events of processes that have come into the windows. What they signalled before that counts as one.
    async fn listen_to_guests(&self, picture: &Picture) {
        for (bus, _) in picture.objects.iter().filter_map(|object| guest(&object.path)) {
            if self.heard.state().guests.iter().any(|known| known == bus) {
                continue;
            }
            self.heard.state().guests.push(bus.to_owned());
            if let Err(e) = self.desktop.listen(bus, tokio::time::Instant::now() + BUS).await {
                // It may just have left; then it is not read again.
                tracing::debug!("{bus}, a guest of {}: {e}", self.called());
            }
            self.heard.state().change("a process came into the window".to_owned());
        }
    }

    /// The error of a picture that is no tree.
    pub(crate) fn treeless(&self, e: &dyn std::error::Error) -> Error {
        Error::new(ErrorCode::Internal, format!("{} made no tree: {e}", self.at.url))
    }
}
