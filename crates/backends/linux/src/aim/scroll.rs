//! Scrolling a container by its scroll bar or the wheel.

use crate::aim::{input_grab, position, reveal, wheel, window};
use crate::app::{AppView, settle, unknown};
use crate::model::{Point, role as n};
use std::time::Duration;
use stickpin_device::{CancellationToken, ErrorCode, InputOutcome, Result};
use stickpin_tree::{Handle, Rect};
use stickpin_x11desk::{pings, pointer, screenshot};

/// Scrolls the container around `target` by this many pixels with its scroll bars. If no bar moves,
/// turns the wheel over the target instead, or over the active window if there is no target.
pub(crate) async fn scroll(
    view: AppView<'_>,
    target: Option<Handle>,
    dx: f64,
    dy: f64,
) -> Result<InputOutcome> {
    let is_pane = |&i: &usize| view.last[i].role == n::SCROLL_PANE;
    let at = target.and_then(|target| view.index(target));
    let pane = at.and_then(|at| view.last.chain(at).into_iter().find(is_pane));
    if let Some(pane) = pane
        && reveal::scroll_pane(view, pane, (dx, dy)).await?
    {
        return Ok(InputOutcome::done().moved(true));
    }
    let area = match target {
        // A list may be longer than the container that shows it.
        Some(target) => position::visible_part(view, target).await?,
        None => window::active_window(view.app).await?.map(|(_, window)| window.content()),
    };
    let Some(area) = area else {
        let screen = &view.app.screen;
        return Err(if target.is_some() { screen.unplaced("scroll") } else { screen.unseen("scroll") });
    };
    let (mut right, mut down, mut moved) = (notches(dx), notches(dy), false);
    loop {
        let turn = match wheel::wheel_at(view, target, area, (right != 0, down != 0)).await {
            // After scrolling, no point is left at which the wheel would scroll the container.
            Err(e) if moved && e.code == ErrorCode::ElementCovered => break,
            turn => turn?,
        };
        let (over, on) = if turn.steady { (right, down) } else { (right.signum(), down.signum()) };
        let changed = turn_wheel(view, target, area, turn.point, (over, on)).await?;
        (right, down, moved) = (right - over, down - on, moved || changed);
        if !changed || (right, down) == (0, 0) {
            break;
        }
    }
    Ok(InputOutcome::done().moved(moved))
}

/// Turns the wheel at a point. Returns whether the picture of `area` changed.
async fn turn_wheel(
    view: AppView<'_>,
    target: Option<Handle>,
    area: Rect,
    (x, y): Point,
    (right, down): (i32, i32),
) -> Result<bool> {
    let (sight, window) = input_grab::own_window_at(view, "scroll", (x, y), target).await?;
    let (x11, id) = (sight.x11, window.id);
    let before = x11.run(move |d| screenshot::take_screenshot(d, area)).await?;
    let turned = x11.run(move |d| {
        pointer::move_to(d, x, y)?;
        pointer::wheel(d, right, down)?;
        pings::await_delivery(d, id)
    });
    turned.await.map_err(unknown)?;
    // Movement becomes visible only when it is drawn.
    let cancel = CancellationToken::new();
    settle::until_changed(view, SCROLLED, &cancel).await?;
    let after = x11.run(move |d| screenshot::take_screenshot(d, area)).await.map_err(unknown)?;
    Ok(before != after)
}

/// The number of pixels per notch of the wheel, a value between those of GTK, Qt and Firefox.
const NOTCH: f64 = 60.0;

/// The maximum number of notches per command along each axis.
const NOTCHES: f64 = 200.0;

/// Timeout for a list to redraw after scrolling.
const SCROLLED: Duration = Duration::from_millis(250);

/// Converts pixels to notches: at least one and at most [`NOTCHES`], unless `pixels` is zero or not
/// finite.
fn notches(pixels: f64) -> i32 {
    if pixels == 0.0 || !pixels.is_finite() {
        return 0;
    }
    let count = (pixels.abs() / NOTCH).round().clamp(1.0, NOTCHES);
    #[expect(clippy::cast_possible_truncation, reason = "within the bound above")]
    let count = count as i32;
    if pixels < 0.0 { -count } else { count }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_become_notches_and_never_none() {
        assert_eq!((notches(600.0), notches(-90.0), notches(3.0), notches(0.0)), (10, -2, 1, 0));
        assert_eq!((notches(1e9), notches(f64::NAN)), (200, 0));
    }
}
