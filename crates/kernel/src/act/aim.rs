//! Brings an element to where input can reach it.

use crate::act::action_target::Actionability;
use crate::act::locate::CurrentElement;
use crate::command::args::ActionOptions;
use crate::command::context::Cx;
use crate::observe::resolve::ResolvedTarget;
use stickpin_device::{Aim, AimOptions, Error, HitResult, PreparedInput, Result};
use stickpin_tree::Handle;

/// Brings a judged element into view, and moves the pointer there if `reach` requires it. The
/// caller judges the result.
///
/// # Errors
/// Returns errors from the device.
pub(super) async fn prepare(
    cx: &mut Cx,
    place: &CurrentElement,
    found: &ResolvedTarget,
    reach: Actionability,
    guarded: &[Handle],
) -> Result<PreparedInput> {
    let press = matches!(reach, Actionability::Press { .. });
    let plain = reach == Actionability::Press { plain: true };
    let pointer = press || reach == Actionability::Pointer;
    let options = AimOptions::default().pointer(pointer).press(press).plain(plain).guarded(guarded);
    let (context, seen) = (found.meaning.context_handles(), place.ticket.clone());
    let prepared = cx.device()?.prepare(place.handle, &context, options, seen).await;
    // After a failure, the pointer may or may not have moved.
    cx.envelope.pointer_moved |= prepared.as_ref().map_or(pointer, |prepared| prepared.aim.pointer_moved);
    prepared
}

/// Overrides a refusal if the caller forces the input and it can be sent. Returns whether the input
/// goes to whatever element is there.
///
/// # Errors
/// Returns the refusal, with a hint that names the caller's options, and errors from the device.
pub(super) async fn override_refusal(
    cx: &mut Cx,
    refusal: Error,
    aim: &Aim,
    place: &CurrentElement,
    reach: Actionability,
    opts: ActionOptions,
) -> Result<bool> {
    let covered = aim.hit != HitResult::OffScreen;
    // A fill needs no point, and a press may reach an element that the device considers out of
    // view.
    let refusal = match covered || reach == Actionability::InView || is_at(cx, place, aim).await? {
        true if opts.force => {
            cx.warn(format!("Forced: {refusal}."));
            return Ok(covered);
        }
        true if !covered => {
            let hint = format!("{}; use `--force` to act on it where it is", refusal.hint);
            refusal.hint(hint)
        }
        _ => refusal,
    };
    Err(refusal)
}

/// Returns whether the point that was aimed at is on the element or one of its descendants. False
/// if the element's box is empty.
async fn is_at(cx: &mut Cx, place: &CurrentElement, aim: &Aim) -> Result<bool> {
    if aim.rect.width <= 0.0 || aim.rect.height <= 0.0 {
        return Ok(false);
    }
    let top = cx.device()?.element_at(aim.point.0, aim.point.1).await?;
    let top = top.and_then(|handle| place.tree.find_address(handle));
    Ok(top.is_some_and(|top| place.tree.node(place.node).contains(top.id())))
}
