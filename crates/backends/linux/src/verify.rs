//! Verifying one element without reading the whole app. The last capture still holds if nothing has
//! been signaled since, and all objects that are relevant to the element answer as before.
//!
//! Silence alone proves nothing, because toolkits do not signal everything. The element, its
//! ancestors, its row, and the context of its record are therefore queried again. If anything
//! differs, the whole app is read again.

mod recheck;

use crate::aim::{position, press};
use crate::app::{ActionPrefetch, AppView, LinuxDevice, WindowStack, capture, lifecycle};
use crate::bus::calls::query_actions;
use crate::capture::tree;
use futures_util::future::OptionFuture;
use std::sync::Arc;
use std::time::Instant;
use stickpin_device::{Result, Ticket};
use stickpin_tree::{Handle, Tree};

use recheck::RecheckedObjects;

/// Returns the last tree, if it still holds for this element, and a ticket with the prefetched
/// answers.
///
/// For an element that is pressed through its own action, the same batch queries its position
/// before its identity, and its actions afterwards. Meanwhile, the X server lists its windows.
///
/// # Errors
/// Returns `BACKEND_LOST` or `TIMEOUT`.
pub(crate) async fn reuse_last_tree(
    view: AppView<'_>,
    handle: Handle,
    context: &[Handle],
) -> Result<Option<(Arc<Tree>, Ticket)>> {
    let AppView { app, last } = view;
    let seen = last.changes_when_read;
    let unchanged = app.events.state().changes == seen;
    let tree = last.tree.as_ref().filter(|_| unchanged);
    let again = tree.and_then(|tree| Some((tree, RecheckedObjects::of(last, &app.ids, handle, context)?)));
    if let Some((tree, again)) = again {
        let (link, picture, at) = (&app.link, &last.picture, again.objects[0]);
        let by_action = press::presses_by_action(view, at);
        let rects = OptionFuture::from(by_action.then(|| position::aim_rects(view, at)));
        let actions = OptionFuture::from(by_action.then(|| query_actions(link, &picture[at].path)));
        let stack = OptionFuture::from(by_action.then(|| WindowStack::of(app)));
        let (rects, now, actions, stack) =
            tokio::join!(biased; rects, again.ask(link, picture), actions, stack);
        let now = lifecycle::check_answer(app, now).await?;
        if now.same && app.events.state().changes == seen {
            // Unanswered queries are repeated when needed, which reports the error.
            let answers = rects.and_then(Result::ok).zip(actions.and_then(Result::ok));
            let ahead = answers.zip(stack.and_then(Result::ok)).map(|((rects, actions), stack)| {
                let (of, changes, at, context) = (handle, seen, Instant::now(), context.to_vec());
                ActionPrefetch { of, changes, at, context, rects, stack, actions }
            });
            return Ok(Some((Arc::clone(tree), Ticket::from_option(ahead))));
        }
    }
    // Signals that have arrived so far belong to the next capture.
    lifecycle::barrier(app).await.map(|()| None)
}

/// Returns the last tree, updated with the current answers about the element, whatever else has
/// changed; `None` if a new capture is necessary.
///
/// # Errors
/// Returns `BACKEND_LOST` or `TIMEOUT`, and `INTERNAL` if the answers do not form a valid tree.
pub(crate) async fn recheck_element(device: &mut LinuxDevice, handle: Handle) -> Result<Option<Arc<Tree>>> {
    let LinuxDevice { app, last, .. } = device;
    let Some(again) = RecheckedObjects::itself(last, &app.ids, handle) else {
        return lifecycle::barrier(app).await.map(|()| None);
    };
    let mut now = lifecycle::check_answer(app, again.ask(&app.link, &last.picture).await).await?;
    if now.same {
        return Ok(last.tree.clone());
    }
    if !again.fits(&now, &last.picture) {
        return Ok(None);
    }
    // Exchange the objects only while the tree is built, because a copy of the whole capture would
    // cost as much as the tree.
    again.exchange(&mut now, &mut last.picture);
    let tree = tree::build(&last.picture, &app.ids, &app.url, &[]);
    again.exchange(&mut now, &mut last.picture);
    tree.map(|tree| Some(Arc::new(tree))).map_err(|e| capture::not_a_tree(app, &e))
}
