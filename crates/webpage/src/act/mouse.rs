//! Presses, drags and wheel scrolls, as the sequence of events that a mouse would send.

use crate::act::{aim, ignore_gone_document, is_dialog_open, keys, unknown};
use crate::agent::{PressVerdict, ScrollAnswer, Scroller};
use crate::read::guard::stopped_outcome;
use crate::read::page::{DocumentElement, Page, element_gone};
use crate::read::prefetch::{self, AnnouncedPress};
use crate::tab::frames::{self, to_tab};
use crate::tab::{NONE, TabError, World, expression};
use serde_json::json;
use std::time::Duration;
use stickpin_device::{Action, Button, CancellationToken, Delivery, HitResult, InputOutcome, Result, Ticket};
use stickpin_devtools::protocol::{DragEvent, InterceptDrags, MouseEvent};
use stickpin_tree::Handle;
use tokio::time::timeout;

/// The number of moves between the ends of a drag: apps expect movement, not a jump.
const STEPS: u32 = 8;

/// The maximum number of frames that a wheel event gets to scroll something.
const WHEEL_FRAMES: usize = 3;

/// Timeout for the page's report that a press arrived, counted from the browser's answer.
const REPORT_TIMEOUT: Duration = Duration::from_millis(5);

/// Returns the name and bit for a button.
fn button(button: Button) -> (&'static str, u32) {
    match button {
        Button::Left => ("left", 1),
        Button::Right => ("right", 2),
        Button::Middle => ("middle", 4),
    }
}

/// Creates one mouse event from its kind, its position, the button, the buttons held, and the click
/// count.
fn event(
    kind: &'static str,
    (x, y): (f64, f64),
    button: &'static str,
    buttons: u32,
    clicks: u32,
) -> MouseEvent {
    let (button, buttons, click_count) = (Some(button), Some(buttons), Some(clicks));
    MouseEvent { r#type: kind, x, y, button, buttons, click_count, ..MouseEvent::default() }
}

/// Makes every document watch the next press, and stop the press if it does not land on `target`.
/// Without a target, no press is stopped. For a drag, `end` contains the element at its end, if
/// any. Returns the watching worlds; `None` when guarded content in another document has changed.
async fn expect(
    page: &Page,
    target: Option<Handle>,
    end: Option<Option<Handle>>,
) -> Result<Option<Vec<World>>> {
    let element = target.map(|target| page.located_element(target)).transpose()?;
    let guard = target.and_then(|target| page.guards.for_input(target));
    let worlds = page.tab.worlds().await?;
    let mut requests = Vec::with_capacity(worlds.len());
    for world in &worlds {
        let id = match &element {
            Some(place) if place.world.scope == world.scope => json!(place.id),
            Some(_) => json!(-1),
            None => json!(0),
        };
        let end = end.map(|end| match end.filter(|end| end.scope == world.scope) {
            Some(end) => (end.id, page.guards.for_input(end)),
            None => (0, None),
        });
        requests
            .push((page.tab.send_request(world, expression("expectClick", (id, 0, &guard, end))?)?, world));
    }
    let mut guard_holds = true;
    for (asking, world) in requests {
        let inside = element.as_ref().is_some_and(|place| place.world.scope == world.scope);
        match page.tab.receive_answer::<Option<bool>>(asking).await {
            Ok(Some(false)) | Err(TabError::WorldGone) if inside => return Err(element_gone()),
            Ok(None) => guard_holds = false,
            Ok(_) | Err(TabError::WorldGone) => {}
            Err(fault) => return Err(fault.into()),
        }
    }
    page.tab.write(|tab| tab.verdict = None)?;
    if !guard_holds {
        for world in &worlds {
            // A document that cannot answer now ends its watch by itself.
            drop(page.tab.send_request(world, expression("clickVerdict", NONE)?));
        }
        return Ok(None);
    }
    Ok(Some(worlds))
}

/// Returns where the press landed. Called after the browser has answered the input.
async fn verdict(page: &Page, worlds: &[World], presses: u8) -> Result<Delivery> {
    let mut requests = Vec::with_capacity(worlds.len());
    for world in worlds {
        requests
            .extend(ignore_gone_document(page.tab.send_request(world, expression("clickVerdict", NONE)?))?);
    }
    // The report that a document sent when the press arrived, perhaps before it was replaced.
    let reported = page.tab.write(|tab| tab.verdict.take()).map_err(unknown)?;
    if presses == 1 && reported.as_ref().is_some_and(|v| v.landed == "target" && v.complete) {
        // The requests end the watch; their answer is already known.
        return Ok(Delivery::Confirmed);
    }
    let mut verdicts = Vec::from_iter(reported);
    for asking in requests {
        verdicts.extend(
            ignore_gone_document(page.tab.receive_answer::<Option<PressVerdict>>(asking).await)?.flatten(),
        );
    }
    // A document may report while the others are answering.
    verdicts.extend(page.tab.write(|tab| tab.verdict.take()).map_err(unknown)?);
    let reached = verdicts.iter().any(|v| v.landed == "target");
    // If part of the input landed on the target, whatever other documents stopped is the rest of
    // the input, for which the target did not wait.
    let counts = |v: &&PressVerdict| {
        v.landed == "changed" || v.landed == "elsewhere" && (presses > 1 || !reached || !v.stopped)
    };
    Ok(match verdicts.iter().find(counts) {
        Some(verdict) => verdict.clone().delivery(),
        None if reached => Delivery::Confirmed,
        None => Delivery::Unknown,
    })
}

/// Returns whether the page reported that the whole press reached its target. The report comes
/// right after the browser's answer.
async fn has_reported_arrival(page: &Page) -> Result<bool> {
    let complete = |verdict: &PressVerdict| verdict.complete.then(|| verdict.landed == "target");
    let report = page.tab.until(|tab| tab.verdict.as_ref().and_then(complete));
    timeout(REPORT_TIMEOUT, report).await.unwrap_or(Ok(false)).map_err(unknown)
}

pub(crate) async fn press(
    page: &mut Page,
    action: &Action,
    announced: Option<AnnouncedPress>,
    cancel: &CancellationToken,
) -> Result<InputOutcome> {
    let Action::Press { point, target, button: which, count, modifiers, hold } = action else {
        return Ok(InputOutcome::default());
    };
    let (name, bit) = button(*which);
    let bits = keys::bits(*modifiers);
    let announced = match announced {
        Some(announced) => announced.world(page, *target).await?,
        None => None,
    };
    let watched = match announced {
        Some(world) => {
            page.tab.write(|tab| tab.verdict = None)?;
            vec![world]
        }
        None => match expect(page, *target, None).await? {
            Some(worlds) => worlds,
            None => return Ok(stopped_outcome(true)),
        },
    };
    if target.is_none() {
        page.tab.move_pointer(*point).await?;
    }
    let event = |kind, buttons, clicks| MouseEvent {
        modifiers: Some(bits),
        ..event(kind, *point, name, buttons, clicks)
    };
    for click in 1..=u32::from(*count).max(1) {
        let mut sent = vec![page.tab.send(&event("mousePressed", bit, click))];
        let held = page.tab.hold(event("mouseReleased", 0, click));
        if !hold.is_zero() {
            // Count the hold time from when the page saw the press.
            if is_dialog_open(page.tab.deliver(std::mem::take(&mut sent)).await)? {
                break;
            }
            tokio::select! {
                () = tokio::time::sleep(*hold) => {}
                () = cancel.cancelled() => {}
            }
        }
        sent.extend(held.release());
        if is_dialog_open(page.tab.deliver(sent).await)? || cancel.is_cancelled() {
            break;
        }
    }
    let only_document = watched.first().filter(|_| watched.len() == 1 && *count == 1);
    // Documents that cannot answer now, because a dialog is open or they went away, are left to
    // `verdict`.
    let mut after = match only_document {
        Some(world) if has_reported_arrival(page).await? => {
            prefetch::request_outcome(page, *target, world).unwrap_or(None)
        }
        _ => None,
    };
    let delivery =
        if after.is_some() { Delivery::Confirmed } else { verdict(page, &watched, *count).await? };
    if after.is_none() && delivery == Delivery::Confirmed {
        after = prefetch::request_outcome_report(page, *target, &watched);
    }
    Ok(InputOutcome::done().delivery(delivery).ticket(Ticket::from_option(after)))
}

pub(crate) async fn drag(
    page: &mut Page,
    from: (f64, f64),
    source: Option<Handle>,
    to: (f64, f64),
    target: Option<Handle>,
) -> Result<InputOutcome> {
    // Check the end point before picking anything up: afterwards the dragged element covers it.
    if let Some(target) = target {
        match aim::hit_from_tab(page, target, to).await? {
            HitResult::Target | HitResult::Unknown => {}
            HitResult::Covered { what, .. } | HitResult::PopupGrab { what, .. } => {
                // The dragged element itself is no cover, because it moves with the pointer.
                let is_source = match source {
                    Some(source) => aim::hit_from_tab(page, source, to).await? == HitResult::Target,
                    None => false,
                };
                if !is_source {
                    return Ok(InputOutcome::done().delivery(Delivery::Elsewhere { what, stopped: true }));
                }
            }
            _ => return Ok(InputOutcome::default()),
        }
    }
    page.tab.move_pointer(from).await?;
    let Some(watched) = expect(page, source, Some(target)).await? else { return Ok(stopped_outcome(true)) };
    page.tab.write(|tab| tab.drag = None)?;
    // The operating system would handle a native drag (`draggable="true"`). We intercept it and
    // continue with our own events.
    page.tab.deliver(vec![page.tab.send(&InterceptDrags { enabled: true })]).await?;
    let intercepting = page.tab.hold(InterceptDrags { enabled: false });
    let dragged = perform_drag(page, from, to).await;
    page.tab.write(|tab| tab.pointer = Some((to, tab.activity)))?;
    let disable_intercept: Vec<_> = intercepting.release().into_iter().collect();
    let stopped_by_dialog = dragged?;
    if stopped_by_dialog {
        return Ok(InputOutcome::done());
    }
    page.tab.deliver(disable_intercept).await.map_err(unknown)?;
    let delivery = verdict(page, &watched, 1).await?;
    let stopped_late =
        matches!(delivery, Delivery::Changed { stopped: false } | Delivery::Elsewhere { stopped: false, .. });
    if stopped_late && page.tab.read(|tab| tab.drag.is_none()).map_err(unknown)? {
        return_dragged(page, from).await?;
    }
    Ok(InputOutcome::done().delivery(delivery))
}

/// Drops a held element where it was picked up, for a page that saw no release. Otherwise, the page
/// would keep dragging the element with every move.
async fn return_dragged(page: &Page, at: (f64, f64)) -> Result<()> {
    let moved = page.tab.send(&event("mouseMoved", at, "left", 1, 0));
    if is_dialog_open(page.tab.deliver(vec![moved]).await)? {
        return Ok(());
    }
    // Apps that track the position per frame see the element back in place before it is released.
    let world = page.tab.top_world().await.map_err(unknown)?;
    page.tab.wait_frame(&world).await.map_err(unknown)?;
    let released = page.tab.send(&event("mouseReleased", at, "left", 0, 0));
    is_dialog_open(page.tab.deliver(vec![released]).await).map(drop)
}

/// Presses, moves and releases. Returns whether a dialog ended the drag.
async fn perform_drag(page: &Page, from: (f64, f64), to: (f64, f64)) -> Result<bool> {
    let pressed = page.tab.send(&event("mousePressed", from, "left", 1, 1));
    let held = page.tab.hold(event("mouseReleased", to, "left", 0, 1));
    if is_dialog_open(page.tab.deliver(vec![pressed]).await)? {
        return Ok(true);
    }
    for step in 1..=STEPS {
        let part = f64::from(step) / f64::from(STEPS);
        let at = (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
        let moved = page.tab.send(&event("mouseMoved", at, "left", 1, 0));
        let delivered = tokio::select! {
            biased;
            // The browser may never answer the move that starts a native drag.
            data = page.tab.until(|tab| tab.drag.clone()) => {
                let dropped = drop_data(page, data?, to).await;
                // The browser took over the button with the drag; another release would be another
                // click.
                held.disarm();
                return is_dialog_open(dropped);
            }
            delivered = page.tab.deliver(vec![moved]) => delivered,
        };
        if is_dialog_open(delivered)? {
            return Ok(true);
        }
    }
    // Apps that move elements per frame see the last position before the release.
    let world = page.tab.top_world().await.map_err(unknown)?;
    page.tab.wait_frame(&world).await.map_err(unknown)?;
    let released: Vec<_> = held.release().into_iter().collect();
    is_dialog_open(page.tab.deliver(released).await)
}

async fn drop_data(page: &Page, data: serde_json::Value, to: (f64, f64)) -> Result<(), TabError> {
    for kind in ["dragEnter", "dragOver", "drop"] {
        let event = DragEvent { r#type: kind, x: to.0, y: to.1, data: data.clone() };
        page.tab.deliver(vec![page.tab.send(&event)]).await?;
    }
    Ok(())
}

pub(crate) async fn scroll(
    page: &mut Page,
    target: Option<Handle>,
    dx: f64,
    dy: f64,
) -> Result<InputOutcome> {
    let DocumentElement { world, id } = match target {
        Some(target) => page.located_element(target)?,
        None => DocumentElement { world: page.tab.top_world().await?, id: 0 },
    };
    let arguments = (id, dx, dy);
    let before: Option<Scroller> = page.tab.call(&world, "scroller", arguments).await?;
    let before = before.ok_or_else(element_gone)?;
    let point = match before.point {
        Some(inside) => {
            let steps = frames::frame_steps(&page.tab, &world).await?;
            let point = to_tab(inside, &steps);
            if !steps.is_empty() {
                // The wheel scrolls under the pointer, which must be in this frame.
                aim::bring_pointer(page, &world, inside, point, &steps).await?;
            }
            Some(point)
        }
        None => None,
    };
    let outcome = |moved| InputOutcome::done().moved(moved);
    if let Some((x, y)) = point {
        let (delta_x, delta_y) = (Some(dx), Some(dy));
        let wheel = MouseEvent { r#type: "mouseWheel", x, y, delta_x, delta_y, ..MouseEvent::default() };
        if is_dialog_open(page.tab.deliver(vec![page.tab.send(&wheel)]).await)? {
            return Ok(outcome(false));
        }
        for _ in 0..WHEEL_FRAMES {
            let now = page.tab.call::<Option<Scroller>>(&world, "scroller", arguments).await;
            match ignore_gone_document(now)? {
                Some(Some(now)) if (now.left, now.top) != (before.left, before.top) => {
                    return Ok(outcome(true));
                }
                Some(_) => {}
                None => return Ok(outcome(false)),
            }
            page.tab.wait_frame(&world).await.map_err(unknown)?;
        }
    }
    // The wheel did not scroll the container: none of it is in view, another one is under the
    // pointer, or the page handled the wheel itself.
    let scrolled: Option<ScrollAnswer> =
        page.tab.call(&world, "scrollBy", arguments).await.map_err(unknown)?;
    Ok(outcome(scrolled.ok_or_else(element_gone)?.moved))
}
