//! Scrolling elements into view.

use super::position::panes;
use crate::aim::{position, scroll};
use crate::app::{App, AppView, ElementPosition, LastCapture, WindowStack, ask};
use crate::bus::{COMPONENT, Call, VALUE, calls};
use crate::model::{Interfaces, Point, role as n};
use std::time::Duration;
use stickpin_device::{ErrorCode, Result};

/// The `AtspiScrollType` that scrolls until the element is visible anywhere.
const ANYWHERE: u32 = 6;

/// The number of scroll steps for one element after which only the wheel is used. The maximum
/// number of steps is twice that.
const ROUNDS: usize = 12;

/// Timeout for an app to lay out what the wheel has scrolled.
const SCROLLED: Duration = Duration::from_millis(400);

/// Tries to scroll an element into view: with the toolkit's `ScrollTo`, then the scroll bars around
/// the element, then the wheel. The wheel is needed because GTK 4's scroll bars do not report their
/// position. Returns the element's position afterwards; `None` if the element has no position.
pub(crate) async fn scroll_into_view(
    view: AppView<'_>,
    at: usize,
    sight: Option<&WindowStack>,
) -> Result<Option<ElementPosition>> {
    let path = &view.last[at].path;
    let scroll = Call::new(path, COMPONENT, "ScrollTo").with((ANYWHERE,));
    ask::or_none(view.app, view.app.link.call(scroll).await).await?;
    let mut placed = position::locate_on_screen(view, at, sight).await?;
    if placed.is_none() && approach(view, at).await? {
        placed = position::locate_on_screen(view, at, sight).await?;
    }
    let mut by_wheel = false;
    for round in 0..2 * ROUNDS {
        by_wheel |= round >= ROUNDS && sight.is_some();
        let Some(now) = placed.as_ref().filter(|now| now.seen != Some(now.rect)) else { break };
        let (before, away, mut moved) = (now.rect, panes_away(view, at, now).await?, false);
        for &(pane, by) in away.iter().filter(|_| !by_wheel) {
            moved = moved || scroll_pane(view, pane, by).await?;
        }
        if let Some(&(pane, by)) = away.first().filter(|_| by_wheel) {
            let handle = view.app.ids.handle(&view.last[pane].path);
            let moves = || async {
                let now = position::locate_on_screen(view, at, sight).await?;
                Ok(now.is_none_or(|now| now.rect != before))
            };
            moved = match scroll::scroll(view, Some(handle), by).await {
                Ok(_) => ask::wait_until(SCROLLED, moves).await?,
                Err(e) if e.code == ErrorCode::BackendLost => return Err(e),
                // A container that does not receive the wheel cannot be scrolled, and the caller
                // reports the element as off-screen.
                Err(_) => false,
            };
        }
        if moved {
            placed = position::locate_on_screen(view, at, sight).await?;
        }
        if !moved || placed.as_ref().is_some_and(|now| now.rect == before) {
            if by_wheel || sight.is_none() {
                break;
            }
            by_wheel = true;
        }
    }
    Ok(placed)
}

/// Scrolls to the approximate position of an element that has no position while it is out of view,
/// such as a row in GTK 3. The position is estimated from its index among its siblings. Returns
/// false if nothing moved.
async fn approach(AppView { app, last }: AppView<'_>, at: usize) -> Result<bool> {
    let Some(&pane) = panes(&last.picture, at).first() else { return Ok(false) };
    let up = last.chain(at);
    let inside = up.windows(2).take_while(|pair| pair[0] != pane);
    let among = inside.filter_map(|pair| {
        let siblings = &last[pair[1]].children;
        Some((siblings.len(), siblings.iter().position(|&sibling| sibling == pair[0])?))
    });
    let Some((count, before)) = among.max_by_key(|(count, _)| *count) else { return Ok(false) };
    #[expect(clippy::cast_precision_loss, reason = "children are few enough")]
    let part = before as f64 / (count.max(2) - 1) as f64;
    let mut moved = false;
    for bar in bars_of(last, pane) {
        let Some(least) = number(app, &bar, "MinimumValue").await? else { continue };
        let Some(most) = number(app, &bar, "MaximumValue").await? else { continue };
        let Some(now) = number(app, &bar, "CurrentValue").await? else { continue };
        moved |= scroll_by(app, &bar, least + (most - least) * part - now).await?;
    }
    Ok(moved)
}

/// Returns the scroll containers that do not show the whole element, innermost first, each with the
/// distance of the element from the container's center. The distance is 0 in a direction in which
/// the element is fully visible.
async fn panes_away(view: AppView<'_>, at: usize, placed: &ElementPosition) -> Result<Vec<(usize, Point)>> {
    let rect = placed.rect;
    let panes = panes(&view.last.picture, at);
    let views = ask::extents_of(view.app, &view.last.paths(&panes)).await?;
    let over = |away: f64, size: f64, room: f64| if away.abs() * 2.0 + size > room { away } else { 0.0 };
    let away = panes.into_iter().zip(views).filter_map(|(pane, view)| {
        let view = view?.translate(placed.offset);
        let (dx, dy) = (rect.center().0 - view.center().0, rect.center().1 - view.center().1);
        let by = (over(dx, rect.width, view.width), over(dy, rect.height, view.height));
        (view.intersection(rect) != Some(rect)).then_some((pane, by))
    });
    Ok(away.collect())
}

/// Moves the scroll bars of a container by this distance, in pixels of the content. Returns false
/// if no bar moves.
pub(super) async fn scroll_pane(view: AppView<'_>, pane: usize, (dx, dy): Point) -> Result<bool> {
    let bars = bars_of(view.last, pane);
    let said = ask::extents_of(view.app, &bars).await?;
    let mut moved = false;
    for (bar, place) in bars.iter().zip(said) {
        let Some(place) = place else { continue };
        moved |= scroll_by(view.app, bar, if place.height > place.width { dy } else { dx }).await?;
    }
    Ok(moved)
}

/// Returns the scroll bars of a container that report their position.
fn bars_of(last: &LastCapture, pane: usize) -> Vec<String> {
    let children = last[pane].children.iter().map(|&child| &last[child]);
    let bars = children.filter(|o| o.role == n::SCROLL_BAR && o.has(Interfaces::VALUE));
    bars.map(|o| o.path.clone()).collect()
}

/// Moves a scroll bar by this many pixels of its content. Returns false if it did not move.
async fn scroll_by(app: &App, bar: &str, by: f64) -> Result<bool> {
    if by.abs() < 1.0 {
        return Ok(false);
    }
    let Some(before) = number(app, bar, "CurrentValue").await? else { return Ok(false) };
    let set = calls::set(bar, VALUE, "CurrentValue", (before + by).into());
    ask::or_none(app, app.link.call(set).await).await?;
    let after = number(app, bar, "CurrentValue").await?;
    Ok(after.is_some_and(|after| (after - before).abs() > f64::EPSILON))
}

/// Returns a numeric property of a scroll bar; `None` if unknown.
async fn number(app: &App, bar: &str, which: &str) -> Result<Option<f64>> {
    Ok(ask::or_none(app, ask::number(app, bar, VALUE, which).await).await?.flatten())
}
