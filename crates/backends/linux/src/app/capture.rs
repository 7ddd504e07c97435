//! Captures of the whole app.

use crate::app::{App, LastCapture, LinuxDevice, lifecycle};
use crate::bus::{BusError, embedded_path};
use crate::capture::{read, tree};
use crate::limits::BUS;
use crate::model::ObjectTree;
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{Error, Result};
use stickpin_tree::{Handle, Tree};
use tokio::time::timeout;

/// Timeout for one capture of an app.
const CAPTURE_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads the app and builds its tree. Returns the previous `Arc` if the tree is equal.
///
/// # Errors
/// Returns `BACKEND_LOST` or `TIMEOUT`, or `INTERNAL` if the objects form no valid tree.
pub(crate) async fn capture_app(device: &mut LinuxDevice, watch: &[Handle]) -> Result<Arc<Tree>> {
    // The counter is read first, so that changes during the capture count as later ones.
    let (changes, shown) = {
        let heard = device.app.events.state();
        (heard.changes, heard.shown.iter().cloned().collect::<Vec<_>>())
    };
    let reading = read::read(&device.app.link, &device.last.picture, &mut device.cells, &shown);
    let picture = timeout(CAPTURE_TIMEOUT, reading).await;
    let picture = picture.unwrap_or_else(|_| Err(BusError::Silent(CAPTURE_TIMEOUT.as_millis())));
    let picture = lifecycle::check_answer(&device.app, picture).await?;
    listen_to_embedded(&device.app, &picture).await;
    let tree = tree::build(&picture, &device.app.ids, &device.app.url, watch);
    let tree = tree.map_err(|e| not_a_tree(&device.app, &e))?;
    let same = device.last.tree.take().filter(|last| **last == tree && last.hidden() == tree.hidden());
    let tree = same.unwrap_or_else(|| Arc::new(tree));
    device.last = LastCapture::new(picture, Arc::clone(&tree), changes);
    Ok(tree)
}

/// Subscribes to the events of processes whose objects appeared in the windows.
///
/// Earlier events are lost, which counts as one change. A process is recorded only after the
/// subscription: if this call is dropped halfway, the next capture subscribes again.
pub(crate) async fn listen_to_embedded(app: &App, picture: &ObjectTree) {
    for (bus, _) in picture.objects.iter().filter_map(|object| embedded_path(&object.path)) {
        if app.events.state().guests.iter().any(|known| known == bus) {
            continue;
        }
        if let Err(e) = app.desktop.listen(bus, tokio::time::Instant::now() + BUS).await {
            // The process may have just left, in which case the next capture lacks it.
            tracing::debug!("{bus}, a guest of {}: {e}", app.app_name());
        }
        let mut heard = app.events.state();
        heard.guests.push(bus.to_owned());
        heard.change("a process has appeared in the window".to_owned());
    }
}

/// Returns the error for a capture that does not form a valid tree.
pub(crate) fn not_a_tree(app: &App, e: &dyn std::error::Error) -> Error {
    Error::internal(format!("{} did not produce a valid tree: {e}", app.url))
}
