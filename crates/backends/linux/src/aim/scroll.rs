//! Scrolling a container by its scroll bar or the wheel.
//!
//! The wheel is turned at a point where it scrolls the container: over a number field, it changes
//! the number; over a container inside another one, it scrolls the inner one.

use crate::aim::hit::{self, HitPoint, IntendedTarget};
use crate::aim::{input_grab, position, reveal, window};
use crate::app::{AppView, WindowStack, ask, settle, unknown};
use crate::model::{Facts, ObjectTree, Point, role, roles, states};
use std::time::Duration;
use stickpin_device::{CancellationToken, Error, ErrorCode, HitResult, InputOutcome, Result};
use stickpin_tree::{Handle, Rect};
use stickpin_x11desk::{pings, pointer, screenshot};

/// The number of pixels per notch of the wheel, a value between those of GTK, Qt and Firefox.
const NOTCH: f64 = 60.0;

/// The maximum number of notches per command along each axis.
const NOTCHES: f64 = 200.0;

/// Timeout for a list to redraw after scrolling.
const SCROLLED: Duration = Duration::from_millis(250);

/// Candidate positions as fractions of the width and height of an area, best first.
const PARTS: [f64; 9] = [0.5, 0.25, 0.75, 0.125, 0.875, 0.0625, 0.9375, 0.02, 0.98];

/// The maximum number of steady points, and of other points, for which the app is queried.
const ASKED: usize = 4;

/// Scrolls the container around `target` by this many pixels with its scroll bars. If no bar moves,
/// turns the wheel over the target instead, or over the active window if there is no target.
pub(crate) async fn scroll(view: AppView<'_>, target: Option<Handle>, by: Point) -> Result<InputOutcome> {
    let at = target.and_then(|target| view.index(target));
    let pane =
        at.and_then(|at| view.last.chain(at).into_iter().find(|&i| view.last[i].role == role::SCROLL_PANE));
    if let Some(pane) = pane
        && reveal::scroll_pane(view, pane, by).await?
    {
        return Ok(InputOutcome::done().moved(true));
    }
    let screen = &view.app.screen;
    let area = if let Some(target) = target {
        // A list may be longer than the container that shows it.
        position::visible_part(view, target).await?.ok_or_else(|| screen.unplaced("scroll"))?
    } else {
        let active = window::active_window(view.app).await?;
        active.ok_or_else(|| screen.unseen("scroll"))?.1.content()
    };
    let (mut right, mut down, mut moved) = (notches(by.0), notches(by.1), false);
    loop {
        let turn = match wheel_at(view, at, area, (right != 0, down != 0)).await {
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
    settle::until_changed(view, SCROLLED, &CancellationToken::new()).await?;
    let after = x11.run(move |d| screenshot::take_screenshot(d, area)).await.map_err(unknown)?;
    Ok(before != after)
}

/// Converts pixels to notches: at least one and at most [`NOTCHES`], unless `pixels` is zero or not
/// finite.
#[expect(clippy::cast_possible_truncation, reason = "within the bound")]
fn notches(pixels: f64) -> i32 {
    if pixels == 0.0 || !pixels.is_finite() {
        return 0;
    }
    (pixels.abs() / NOTCH).round().clamp(1.0, NOTCHES).copysign(pixels) as i32
}

/// A point at which the wheel is turned.
#[derive(Debug, Clone, Copy, PartialEq)]
struct WheelPoint {
    point: Point,
    /// Whether the point stays safe however far the content scrolls. Otherwise, the point is
    /// checked again after each notch.
    steady: bool,
}

/// Returns a point of `area` at which the wheel scrolls the container itself, or the window if
/// there is no container. `area` is the visible part of either, and `along` states whether to
/// scroll horizontally and vertically.
///
/// # Errors
/// Returns `ELEMENT_COVERED` if something else would receive the wheel at every point.
async fn wheel_at(
    view: AppView<'_>,
    container: Option<usize>,
    area: Rect,
    along: (bool, bool),
) -> Result<WheelPoint> {
    let middle = WheelPoint { point: area.center(), steady: true };
    let active = |&top: &usize| view.last[top].shown && view.last[top].is(states::ACTIVE);
    let top = || view.last.picture.root().children.iter().copied().find(active);
    let Some(at) = container.or_else(top) else { return Ok(middle) };
    let Some(sight) = WindowStack::of(view.app).await? else { return Ok(middle) };
    let Some(placed) = position::locate_on_screen(view, at, Some(&sight)).await? else { return Ok(middle) };
    let words = view.last[at].describe();
    // If the window is to be scrolled, any container in its middle may take the wheel.
    let takers = takers(&view.last.picture, at, container.is_some());
    let places = ask::extents_of(view.app, &view.last.paths(&takers)).await?.into_iter().flatten();
    let places: Vec<Rect> = places.map(|place| place.translate(placed.offset)).collect();
    let free = free_points(area, &places, along);
    let Some(&first) = free.first() else { return Err(no_point_error(&words, container.is_some())) };
    let shown = window::window_with(view, at, placed.frame, &sight.windows).await?;
    let Some((window, _)) = shown.filter(|_| container.is_some()) else { return Ok(first) };
    let meant = IntendedTarget { at, window: &window, on_top: false, by_action: false, over: None };
    let mut covered = None;
    for turn in free {
        let spot = HitPoint { view, point: turn.point, offset: placed.offset };
        let outcome = hit::hit_test(spot, &sight, meant).await;
        match outcome.map_err(|unresolved| unresolved.at(&words))?.hit {
            HitResult::Target => return Ok(turn),
            other => covered = covered.or_else(|| other.refusal(&words)),
        }
    }
    Err(match covered {
        // `scroll` has neither `--timeout` nor `--force`.
        Some(e) if e.code == ErrorCode::ElementCovered => e.hint(
            "close what is in the way (`stickpin key Escape` closes most menus), or omit `--in` to scroll the window",
        ),
        refusal => refusal.unwrap_or_else(|| no_point_error(&words, true)),
    })
}

fn no_point_error(words: &str, container: bool) -> Error {
    let (effect, hint) = match container {
        true => (
            "change a number or a choice, or scroll an inner container",
            "omit `--in` to scroll the window, or run `stickpin key PageDown` to scroll the focused element",
        ),
        false => ("change a number or a choice", "run `stickpin key PageDown` to scroll the focused element"),
    };
    Error::element_covered(format!("{words} was not scrolled: at every point, the wheel would {effect}"))
        .hint(hint)
}

/// Returns points of an area, its center first.
fn points(area: Rect) -> impl Iterator<Item = Point> {
    let at = move |(x, y): Point| (area.x + area.width * x, area.y + area.height * y);
    let all = (0..PARTS.len()).flat_map(|worst| {
        let both = (0..worst).flat_map(move |other| [(worst, other), (other, worst)]);
        both.chain([(worst, worst)]).map(|(x, y)| (PARTS[x], PARTS[y]))
    });
    all.map(at)
}

/// Returns points of an area outside these rectangles, best first: the best are points that no
/// rectangle passes over during scrolling.
fn free_points(area: Rect, places: &[Rect], (across, down): (bool, bool)) -> Vec<WheelPoint> {
    let way = |place: &Rect| Rect {
        x: if across { area.x } else { place.x },
        width: if across { area.width } else { place.width },
        y: if down { area.y } else { place.y },
        height: if down { area.height } else { place.height },
    };
    let ways: Vec<Rect> = places.iter().map(way).collect();
    let outside = |point: Point, of: &[Rect]| !of.iter().any(|&rect| rect.contains(point.0, point.1));
    let free = points(area).filter(|&point| outside(point, places));
    let free = free.map(|point| WheelPoint { point, steady: outside(point, &ways) });
    let (steady, others): (Vec<_>, Vec<_>) = free.partition(|turn| turn.steady);
    steady.into_iter().take(ASKED).chain(others.into_iter().take(ASKED)).collect()
}

/// Returns the objects inside an object that consume the wheel themselves; if `inner` is set, also
/// the scroll containers inside the object.
fn takers(picture: &ObjectTree, at: usize, inner: bool) -> Vec<usize> {
    let takes = |&other: &usize| {
        let object = &picture[other];
        let scrolls = inner && other != at && object.role == role::SCROLL_PANE;
        object.shown && (scrolls || roles::is(object.role, Facts::TURNED))
    };
    picture.inside(at).filter(takes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Object;
    use crate::toolkit::profile::Toolkit;

    #[test]
    fn pixels_become_notches_and_never_none() {
        assert_eq!((notches(600.0), notches(-90.0), notches(3.0), notches(0.0)), (10, -2, 1, 0));
        assert_eq!((notches(1e9), notches(f64::NAN)), (200, 0));
    }

    #[test]
    fn wheel_points_start_at_the_middle_without_repeats() {
        let area = Rect { x: 100.0, y: 200.0, width: 40.0, height: 80.0 };
        let all: Vec<_> = points(area).collect();
        assert_eq!(all[0], (120.0, 240.0));
        assert!(all[1..].contains(&(110.0, 240.0)) && all.contains(&(130.0, 220.0)));
        let inside = |&(x, y): &(f64, f64)| x > 100.0 && x < 140.0 && y > 200.0 && y < 280.0;
        assert!(all.iter().all(inside));
        let mut distinct = all.clone();
        distinct.sort_by(|a, b| a.partial_cmp(b).unwrap());
        distinct.dedup();
        assert_eq!((distinct.len(), all.len()), (PARTS.len() * PARTS.len(), PARTS.len() * PARTS.len()));
    }

    #[test]
    fn a_point_is_best_where_no_number_comes_by() {
        let area = Rect { x: 0.0, y: 0.0, width: 400.0, height: 300.0 };
        let rows: Vec<Rect> =
            (0..9).map(|n| Rect { x: 60.0, y: 40.0 * f64::from(n), width: 400.0, height: 30.0 }).collect();
        let best = free_points(area, &rows, (false, true))[0];
        assert!(best.steady && best.point.0 < 60.0, "{best:?}");
        // With horizontal scrolling, every row passes the point, wherever it is.
        let across = free_points(area, &rows, (true, false));
        assert!(!across.is_empty() && across.iter().all(|turn| turn.steady == (turn.point.1 % 40.0 >= 30.0)));
        // A point between the rows is suitable for one notch.
        let wide: Vec<Rect> = rows.iter().map(|row| Rect { x: 0.0, ..*row }).collect();
        let between = free_points(area, &wide, (false, true));
        assert!(between.iter().all(|turn| !turn.steady && turn.point.1 % 40.0 >= 30.0), "{between:?}");
        assert!(!between.is_empty());
        assert_eq!(free_points(area, &[area], (false, true)), []);
        assert_eq!(
            free_points(area, &[], (false, true))[0],
            WheelPoint { point: area.center(), steady: true }
        );
    }

    #[test]
    fn number_fields_and_inner_containers_consume_the_wheel() {
        let object = |role, children: &[usize]| Object {
            role,
            shown: true,
            children: children.to_vec(),
            ..Object::default()
        };
        let mut objects = vec![
            object(75, &[1]),
            object(role::FRAME, &[2, 7]),
            object(role::SCROLL_PANE, &[3, 4, 5]),
            object(role::SPIN_BUTTON, &[]),
            object(role::PUSH_BUTTON, &[]),
            object(role::SCROLL_PANE, &[6]),
            object(role::SLIDER, &[]),
            object(role::COMBO_BOX, &[]),
        ];
        objects[6].shown = false;
        let picture = ObjectTree { toolkit: Toolkit::Gtk4, objects, truncated: false };
        assert_eq!(takers(&picture, 2, true), [3, 5]);
        assert_eq!(takers(&picture, 1, false), [3, 7]);
        assert_eq!(takers(&picture, 3, true), [3], "a wheel never is for it");
    }
}
