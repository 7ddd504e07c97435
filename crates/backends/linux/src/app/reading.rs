//! Readings of the whole app.

use crate::app::{App, Last, LinuxDevice, life};
use crate::bus::fault::Fault;
use crate::bus::guest;
use crate::bus::limits::BUS;
use crate::capture::{read, tree};
use crate::model::Picture;
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{Error, Result};
use stickpin_tree::{Handle, Tree};
use tokio::time::timeout;

/// Timeout for one reading of an app.
const READING: Duration = Duration::from_secs(10);

/// Reads the app and builds its tree. Returns the previous `Arc` if the tree is equal.
///
/// # Errors
/// Returns `BACKEND_LOST` or `TIMEOUT`.
pub(crate) async fn look(device: &mut LinuxDevice, watch: &[Handle]) -> Result<Arc<Tree>> {
    // The counter is read first, so that changes during the reading count as later ones.
    let changes = {
        let heard = device.app.heard.state();
        device.known.appeared.paths = heard.appeared();
        heard.changes
    };
    let picture = timeout(READING, read::read(&device.app.link, &mut device.known)).await;
    let picture = picture.unwrap_or_else(|_| Err(Fault::Silent(READING.as_millis())));
    let picture = life::judged(&device.app, picture).await?;
    listen_to_guests(&device.app, &picture).await;
    let tree = tree::build(&picture, &device.app.ids, &device.app.at, watch);
    let tree = tree::kept(tree.map_err(|e| treeless(&device.app, &e))?, device.last.tree.as_ref());
    device.last = Last::new(picture, Arc::clone(&tree), changes);
    Ok(tree)
}

/// Subscribes to the events of processes whose objects appeared in the windows.
///
/// Earlier events are lost, which counts as one change. A process is noted only after the
/// subscription: if this call is dropped halfway, the next reading subscribes again.
pub(crate) async fn listen_to_guests(app: &App, picture: &Picture) {
    for (bus, _) in picture.objects.iter().filter_map(|object| guest(&object.path)) {
        if app.heard.state().guests.iter().any(|known| known == bus) {
            continue;
        }
        if let Err(e) = app.desktop.listen(bus, tokio::time::Instant::now() + BUS).await {
            // It may have left just now; then the next reading lacks it.
            tracing::debug!("{bus}, a guest of {}: {e}", app.called());
        }
        let mut heard = app.heard.state();
        heard.guests.push(bus.to_owned());
        heard.change("a process came into the window".to_owned());
    }
}

/// The error for a picture that makes no valid tree.
pub(crate) fn treeless(app: &App, e: &dyn std::error::Error) -> Error {
    Error::internal(format!("{} made no tree: {e}", app.at.url))
}
