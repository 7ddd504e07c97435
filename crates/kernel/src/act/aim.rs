//! Bringing an element to where an input reaches it.

use crate::act::locate::Place;
use crate::act::target::Reach;
use crate::command::args::How;
use crate::command::context::Cx;
use crate::observe::resolve::Found;
use stickpin_device::{Aim, AimOptions, Error, Hit, Prepared, Result};
use stickpin_tree::Handle;

/// Brings an element that was judged into view, with the pointer on it if asked. What is there, and what it is since, is for
/// the caller to judge.
///
/// # Errors
/// What the device says.
pub(super) async fn prepare(
    cx: &mut Cx,
    place: &Place,
    found: &Found,
    reach: Reach,
    guarded: &[Handle],
) -> Result<Prepared> {
    let press = matches!(reach, Reach::Press { .. });
    let plain = reach == Reach::Press { plain: true };
    let pointer = press || reach == Reach::Pointer;
    let options = AimOptions { pointer, press, plain, guarded };
    let (context, seen) = (found.meaning.context_handles(), place.ticket.clone());
    let prepared = cx.device()?.prepare(place.handle, &context, options, seen).await;
    // Where it failed nobody knows how far it came.
    cx.envelope.pointed |= prepared.as_ref().map_or(pointer, |prepared| prepared.aim.pointed);
    prepared
}

/// Goes on in spite of a refusal, where the caller insists and the input can be sent. Answers whether it goes to
/// whatever is there.
///
/// # Errors
/// The refusal, which names what the caller can do.
pub(super) async fn insist(
    cx: &mut Cx,
    refusal: Error,
    aim: &Aim,
    place: &Place,
    reach: Reach,
    how: How,
) -> Result<bool> {
    let covered = aim.hit != Hit::OffScreen;
    // What needs no place is sent without one, and a place that is not in view for the device may be there for a press.
    let refusal = match covered || reach == Reach::View || is_at(cx, place, aim).await? {
        true if how.force => {
            cx.warn(format!("Forced: {refusal}."));
            return Ok(covered);
        }
        true if !covered => {
            let hint = format!("{}; --force acts on it where it is", refusal.hint);
            refusal.hint(hint)
        }
        _ => refusal,
    };
    Err(refusal)
}

/// Whether an element, or something inside it, is what is at the middle of its box.
async fn is_at(cx: &mut Cx, place: &Place, aim: &Aim) -> Result<bool> {
    if aim.rect.width <= 0.0 || aim.rect.height <= 0.0 {
        return Ok(false);
    }
    let top = cx.device()?.element_at(aim.point.0, aim.point.1).await?;
    let top = top.and_then(|handle| place.tree.find_address(handle));
    Ok(top.is_some_and(|top| place.tree.node(place.node).contains(top.id())))
}
