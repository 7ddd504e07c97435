//! Looking at one element again without reading the whole app: the last reading still holds where
//! nothing was signalled since, and where what counts for the element answers as it did.
//!
//! Silence alone proves nothing, because toolkits do not signal everything. So the element, all
//! that is above it, its row, and what its record is told by are asked again; any difference means
//! that the app is read anew.

mod asked;
mod compared;

use crate::aim::{place, press};
use crate::app::look::{Ahead, Momentary};
use crate::app::{App, LinuxDevice, View, life, reading};
use crate::bus::calls::listed;
use crate::bus::fault::Fault;
use crate::capture::tree;
use crate::model::{Object, Picture};
use std::sync::Arc;
use stickpin_device::{Result, Ticket};
use stickpin_tree::{Handle, Tree};

use asked::Again;
use compared::Now;

/// The last tree, if it still holds for this element, and what came along with the answers. What is
/// pressed by its own action is asked in the same go where it is and what it does: where before who
/// it is, and what it does after that.
///
/// # Errors
/// `BACKEND_LOST`, `TIMEOUT`.
pub(crate) async fn still(
    view: View<'_>,
    handle: Handle,
    context: &[Handle],
) -> Result<Option<(Arc<Tree>, Ticket)>> {
    let View { app, last } = view;
    let seen = last.seen;
    let unchanged = app.heard.state().changes == seen;
    let tree = last.tree.as_ref().filter(|_| unchanged);
    let again = tree.and_then(|tree| Some((tree, Again::of(&last.picture, &app.ids, handle, context)?)));
    if let Some((tree, again)) = again {
        let (link, picture, at) = (&app.link, &last.picture, again.target());
        let by_action = press::presses_by_action(view, at);
        let (places, now, actions) = tokio::join!(
            biased;
            if_wanted(by_action, place::places(link, picture, at)),
            again.ask(link, picture),
            if_wanted(by_action, listed(link, &picture.objects[at].path)),
        );
        match now {
            Ok(now) if app.heard.state().changes == seen && now.same => {
                let (context, windows) = (context.to_vec(), windows(picture));
                // What did not answer is asked when it is needed, which says what is wrong with it.
                let ahead = places.zip(actions);
                let ahead = ahead.map(|(places, actions)| Ahead { context, places, actions, windows });
                let ticket = Ticket::of(ahead.map(|ahead| Momentary::new(handle, seen, ahead)));
                return Ok(Some((Arc::clone(tree), ticket)));
            }
            Ok(_) => {}
            Err(fault) => return Err(life::failed(app, fault).await),
        }
    }
    // What was signalled until now belongs to what is read next.
    hear(app).await.map(|()| None)
}

/// The answer to a question, where it is wanted and there is one.
async fn if_wanted<T>(
    wanted: bool,
    question: impl Future<Output = std::result::Result<T, Fault>>,
) -> Option<T> {
    if wanted { question.await.ok() } else { None }
}

/// The paths of the windows that the app lists.
fn windows(picture: &Picture) -> Vec<String> {
    let Object { children, aside, .. } = picture.root();
    children.iter().chain(aside).map(|&at| picture.objects[at].path.clone()).collect()
}

/// What was signalled until now has been heard when this comes back.
async fn hear(app: &App) -> Result<()> {
    let Err(fault) = app.link.barrier().await else { return Ok(()) };
    Err(life::failed(app, fault).await)
}

/// The last tree with the element as it answers now, whatever else has changed since; none where
/// nothing but a new reading can tell.
///
/// # Errors
/// `BACKEND_LOST`, `TIMEOUT`.
pub(crate) async fn itself_now(device: &mut LinuxDevice, handle: Handle) -> Result<Option<Arc<Tree>>> {
    match ask_itself(device.view(), handle).await {
        None => hear(&device.app).await.map(|()| None),
        Some(Ok(itself)) => with(device, itself),
        Some(Err(fault)) => Err(life::failed(&device.app, fault).await),
    }
}

/// What was asked of an element by itself, and what it answered.
pub(crate) type Itself = (Again, Now);

/// Asks an element by itself; none where nothing but a new reading can tell.
pub(crate) async fn ask_itself(
    View { app, last }: View<'_>,
    handle: Handle,
) -> Option<std::result::Result<Itself, Fault>> {
    let again = Again::itself(&last.picture, &app.ids, handle)?;
    let now = again.ask(&app.link, &last.picture).await;
    Some(now.map(|now| (again, now)))
}

/// The last tree with what was answered in its place; none where something came or went.
///
/// # Errors
/// `INTERNAL` where that is no tree.
pub(crate) fn with(device: &mut LinuxDevice, (again, mut now): Itself) -> Result<Option<Arc<Tree>>> {
    let last = &mut device.last;
    if now.same {
        return Ok(last.tree.clone());
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
