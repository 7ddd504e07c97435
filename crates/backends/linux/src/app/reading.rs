//! Reading an app, and what is kept of that.

use crate::app::{App, Last, LinuxDevice, Reading, gone, life};
use crate::bus::fault::Fault;
use crate::bus::guest;
use crate::bus::limits::BUS;
use crate::capture::{read, tree};
use crate::model::{Object, Picture};
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_tree::{Handle, NodeRef, Tree, quote};
use tokio::time::timeout;

/// How long one reading of an app may take in all.
const READING: Duration = Duration::from_secs(10);

/// Reads the app and makes a tree of it. The same tree as before is the same `Arc`.
///
/// # Errors
/// `BACKEND_LOST`, `TIMEOUT`.
pub(crate) async fn look(device: &mut LinuxDevice, watch: &[Handle]) -> Result<Arc<Tree>> {
    // The counter first: what changes during the reading shows as a change since.
    let changes = {
        let heard = device.app.heard.state();
        device.reading.known.appeared.paths = heard.appeared();
        heard.changes
    };
    let picture = match timeout(READING, read::read(&device.app.link, &mut device.reading.known)).await {
        Ok(Ok(picture)) => picture,
        Ok(Err(fault)) => return Err(life::failed(&device.app, fault).await),
        Err(_) => return Err(life::failed(&device.app, Fault::Silent(READING.as_millis())).await),
    };
    listen_to_guests(&device.app, &picture).await;
    keep(device, picture, changes, watch)
}

/// Keeps a reading, and makes a tree of it. `changes` is how often the app had changed when it began.
fn keep(device: &mut LinuxDevice, picture: Picture, changes: u64, watch: &[Handle]) -> Result<Arc<Tree>> {
    let last = device.reading.last.as_ref().map(|last| &last.tree);
    let tree = tree::kept(&picture, &device.app.ids, &device.app.at, watch, last)
        .map_err(|e| treeless(&device.app, &e))?;
    device.reading.seen = changes;
    device.reading.last = Some(Last::new(picture, Arc::clone(&tree)));
    Ok(tree)
}

/// Asks for the events of processes that have come into the windows. What they signalled before that counts as one.
async fn listen_to_guests(app: &App, picture: &Picture) {
    for (bus, _) in picture.objects.iter().filter_map(|object| guest(&object.path)) {
        if app.heard.state().guests.iter().any(|known| known == bus) {
            continue;
        }
        app.heard.state().guests.push(bus.to_owned());
        if let Err(e) = app.desktop.listen(bus, tokio::time::Instant::now() + BUS).await {
            // It may just have left; then it is not read again.
            tracing::debug!("{bus}, a guest of {}: {e}", app.called());
        }
        app.heard.state().change("a process came into the window".to_owned());
    }
}

/// The error of a picture that is no tree.
pub(crate) fn treeless(app: &App, e: &dyn std::error::Error) -> Error {
    Error::new(ErrorCode::Internal, format!("{} made no tree: {e}", app.at.url))
}

/// What was read last of the object behind a handle, and its path.
pub(crate) fn object(app: &App, reading: &Reading, handle: Handle) -> Result<Object> {
    let path = app.path(handle)?;
    reading.last.as_ref().and_then(|last| last.object(&path)).cloned().ok_or_else(gone)
}

/// The element of a handle as the last tree has it, in words.
pub(crate) fn words_of(reading: &Reading, handle: Handle) -> Option<String> {
    reading.last.as_ref()?.tree.find_handle(handle).map(node_words)
}

/// What was read last of the object behind a handle, by its index.
pub(crate) fn index(app: &App, reading: &Reading, handle: Handle) -> Option<usize> {
    let path = app.path(handle).ok()?;
    reading.last.as_ref()?.at(&path)
}

/// An element in words: its role and its name.
pub(crate) fn node_words(node: NodeRef<'_>) -> String {
    match node.name() {
        "" => node.role().to_string(),
        name => format!("{} {}", node.role(), quote(name)),
    }
}
