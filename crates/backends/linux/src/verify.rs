//! Looking at one element again without reading the whole app: the last reading still holds where nothing was signalled
//! since, and where what counts for the element answers as it did.
//!
//! Silence alone proves nothing, because toolkits do not signal everything. So the element, all that is above it, its row,
//! and what its record is told by are asked again; any difference means that the app is read anew.

mod asked;
mod compared;

use crate::app::{App, LinuxDevice, Reading, life, reading};
use crate::capture::tree;
use std::sync::Arc;
use stickpin_device::Result;
use stickpin_tree::{Handle, Tree};

pub(crate) use asked::Again;
pub(crate) use compared::Now;

/// The last tree, if it still holds for this element.
///
/// # Errors
/// `BACKEND_LOST`, `TIMEOUT`.
pub(crate) async fn still(
    app: &App,
    reading: &Reading,
    handle: Handle,
    context: &[Handle],
) -> Result<Option<Arc<Tree>>> {
    let seen = reading.seen;
    let again = reading.last.as_ref().filter(|_| app.heard.state().changes == seen).and_then(|last| {
        let path = |h: Handle| app.ids.path(h.id);
        Some((Again::of(&last.picture, path, handle, context)?, last))
    });
    if let Some((again, last)) = again {
        match again.ask(&app.link, &last.picture).await {
            Ok(now) if app.heard.state().changes == seen && now.same => {
                return Ok(Some(Arc::clone(&last.tree)));
            }
            Ok(_) => {}
            Err(fault) => return Err(life::failed(app, fault).await),
        }
    }
    // What was signalled until now belongs to what is read next.
    hear(app).await.map(|()| None)
}

/// What was signalled until now has been heard when this comes back.
async fn hear(app: &App) -> Result<()> {
    match app.link.barrier().await {
        Ok(()) => Ok(()),
        Err(fault) => Err(life::failed(app, fault).await),
    }
}

/// The last tree with the element as it answers now, whatever else has changed since; none where nothing but a new
/// reading can tell.
///
/// # Errors
/// `BACKEND_LOST`, `TIMEOUT`.
pub(crate) async fn itself_now(device: &mut LinuxDevice, handle: Handle) -> Result<Option<Arc<Tree>>> {
    let again = itself(&device.app, &device.reading, handle);
    let Some((again, last)) = again.as_ref().zip(device.reading.last.as_ref()) else {
        return hear(&device.app).await.map(|()| None);
    };
    match again.ask(&device.app.link, &last.picture).await {
        Ok(now) => with(device, again, now),
        Err(fault) => Err(life::failed(&device.app, fault).await),
    }
}

/// What is to be asked of an element by itself.
fn itself(app: &App, reading: &Reading, handle: Handle) -> Option<Again> {
    let path = |h: Handle| app.ids.path(h.id);
    reading.last.as_ref().and_then(|last| Again::itself(&last.picture, path, handle))
}

/// The last tree with what was answered in its place.
fn with(device: &mut LinuxDevice, again: &Again, mut now: Now) -> Result<Option<Arc<Tree>>> {
    let Some(last) = &mut device.reading.last else { return Ok(None) };
    if now.same {
        return Ok(Some(Arc::clone(&last.tree)));
    }
    if !again.fits(&now, &last.picture) {
        return Ok(None);
    }
    // For as long as the tree takes: a copy of all that was read would cost as much as that.
    again.exchange(&mut now, &mut last.picture);
    let tree = tree::build(&last.picture, &device.app.ids, &device.app.at, &[]);
    again.exchange(&mut now, &mut last.picture);
    tree.map(|tree| Some(Arc::new(tree))).map_err(|e| reading::treeless(&device.app, &e))
}
