//! Aiming: brings an element into view and determines what an input there would reach.
//!
//! The X server decides which window receives an input, and the app decides which of its elements
//! does. An element that is pressed through its own action needs no hit test by the app, because no
//! other element can receive that action. However, anything that covers the element in the same
//! window counts as an obstacle, because a person could not press the element either.

pub(crate) mod hit;
pub(crate) mod input_grab;
pub(crate) mod position;
pub(crate) mod press;
pub(crate) mod reveal;
pub(crate) mod scroll;
pub(crate) mod window;

use crate::aim::hit::{HitOutcome, HitPoint, IntendedTarget, Resolved, Unresolved};
use crate::app::{
    self, ActionPrefetch, App, ElementPosition, LinuxDevice, WindowStack, capture, lifecycle, pointer,
};
use crate::model::Point;
use async_trait::async_trait;
use std::time::{Duration, Instant};
use stickpin_device::{Aim, AimOptions, Error, Geometry, HitResult, Result, element_gone};
use stickpin_tree::{Handle, Rect};
use stickpin_x11desk::{Window, window_manager, windows};

/// The maximum number of attempts for an element that moves away when the pointer arrives.
const MAX_FOLLOWS: usize = 4;

/// Timeout for an element that has not appeared yet while the app keeps signaling.
const AT_IT: Duration = Duration::from_secs(3);
/// The silence of the app after which the search for an element that has not appeared ends.
const SILENT: Duration = Duration::from_millis(300);

/// The interval between attempts.
const LATE: Duration = Duration::from_millis(60);
/// Timeout for an element that has no position yet although the app shows it: its window is
/// opening, and a busy app may signal nothing meanwhile.
const OPENING: Duration = Duration::from_millis(1_500);

/// The duration of a frame in GTK.
const DRAWING: Duration = Duration::from_millis(17);
/// The maximum number of frames to wait for while the app signals changes.
const FRAMES: usize = 4;

/// The reason for another attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RetryReason {
    /// The target moved away when the pointer arrived.
    Moved,
    /// The target is not shown by its scroll containers, is outside the screen, or is in a window
    /// that has just appeared.
    OutOfView,
    /// The target has no position, or none inside its window: app and display do not agree yet.
    NoPosition,
}

/// Brings an element into view, moves the pointer there if requested, and determines what an input
/// there would reach.
///
/// `ahead` contains the prefetched answers about the element. It becomes `None` unless the element
/// is pressed through its own action and the answers are still valid afterwards.
pub(crate) async fn aim_at(
    device: &mut LinuxDevice,
    handle: Handle,
    options: AimOptions<'_>,
    ahead: &mut Option<ActionPrefetch>,
) -> Result<Aim> {
    let (mut round, mut pointed, mut anew, start) = (1, false, false, Instant::now());
    app::until_activated(device, handle).await?;
    loop {
        let (aim, again) = match aim_once(device, handle, options, ahead, &mut pointed).await {
            Ok((aim, again)) => (aim.pointer_moved(pointed), again),
            Err(Unresolved::Unknown(why)) if !anew => {
                // The app may have changed just now.
                tracing::debug!("aiming at {} again: {why}", device.view().object(handle)?.describe());
                anew = true;
                capture::capture_app(device, &[]).await?;
                continue;
            }
            Err(unresolved) => {
                let words = device.last.words(handle).unwrap_or_else(|| "the element".to_owned());
                return Err(unresolved.at(&words));
            }
        };
        let Some(again) = again else { return Ok(aim) };
        // The window may be opening on a busy machine.
        let changed = device.app.events.state().changed_at;
        let at_it = start.elapsed() < AT_IT && changed.is_some_and(|at| at.elapsed() < SILENT);
        let opening = again == RetryReason::NoPosition && start.elapsed() < OPENING;
        if round >= MAX_FOLLOWS && !opening && (again == RetryReason::Moved || !at_it) {
            return Ok(aim);
        }
        if again != RetryReason::Moved {
            // The window may have just opened, and app, server and window manager may not agree
            // yet.
            tokio::time::sleep(LATE).await;
        }
        round += 1;
    }
}

/// Makes one attempt for [`aim_at`]. Returns the reason if another attempt is needed. `pointed`
/// states whether the pointer was moved in this or an earlier attempt, which the aim does not say.
async fn aim_once(
    device: &LinuxDevice,
    handle: Handle,
    options: AimOptions<'_>,
    ahead: &mut Option<ActionPrefetch>,
    pointed: &mut bool,
) -> Resolved<(Aim, Option<RetryReason>)> {
    let (view, app) = (device.view(), &device.app);
    let Some(at) = view.index(handle) else { return Err(element_gone().into()) };
    let off_screen = |rect, again| Ok((Aim::new(rect, HitResult::OffScreen), Some(again)));
    let by_action = options.press && options.plain && press::presses_by_action(view, at);
    let by_pointer = options.pointer && !by_action;
    // The prefetched answers stay valid unless anything moves meanwhile.
    let mut untouched = ahead.take().filter(|ahead| by_action && ahead.is_fresh(app, handle));
    let sight = match &mut untouched {
        Some(ahead) => ahead.stack.take(),
        None => WindowStack::of(app).await?,
    };
    let mut placed = match &untouched {
        Some(ahead) => position::position_from_answers(view, at, &ahead.rects[0], sight.as_ref()).await?,
        None => position::locate_on_screen(view, at, sight.as_ref()).await?,
    };
    if placed.as_ref().is_none_or(|p| p.seen != Some(p.rect)) {
        untouched = None;
        placed = reveal::scroll_into_view(view, at, sight.as_ref()).await?;
    }
    let Some(ElementPosition { rect, seen, offset, frame }) = placed else {
        return off_screen(Rect::default(), RetryReason::NoPosition);
    };
    let Some(seen) = seen else { return off_screen(rect, RetryReason::OutOfView) };
    let Some(mut look) = sight else {
        // The windows are unknown, but the element's own action reaches the element anyway.
        *ahead = untouched;
        return Ok((Aim::new(rect, HitResult::Target).point(seen.center()), None));
    };
    let Some((window, _)) = window::window_with(view, at, frame, &look.windows).await? else {
        if look.windows.iter().any(|w| w.pid == app.info.pid) || by_action {
            return Ok((Aim::new(rect, HitResult::Target).point(seen.center()), None));
        }
        return Err(app.screen.unseen("find the window of the element").into());
    };
    if !window.is_shown() {
        untouched = None;
        app.screen.check_visible(&window).await?;
        look.windows = look.x11.run(windows::list_windows).await?;
    }
    let window = look.windows.iter().find(|w| w.id == window.id).cloned().unwrap_or(window);
    let Some(visible) = seen.intersection(window.area) else {
        return off_screen(rect, RetryReason::NoPosition);
    };
    let Some(visible) = visible.intersection(look.screen) else {
        // On a person's display, the window stays where the person put it.
        if app.screen.own && !window.popup {
            let by = onto(look.screen, seen);
            look.x11.run(move |d| window_manager::move_by(d, &window, by).map(drop)).await?;
        }
        return off_screen(rect, RetryReason::OutOfView);
    };
    let point = press::press_point(view, at, visible);
    let on_top = by_action && on_top(&look.windows, &window, point, app.is_alone());
    // The hit test may raise the window if another one is in front of the target.
    untouched = untouched.filter(|_| on_top);
    let over = untouched.as_ref().map(|ahead| ahead.rects[1].as_slice());
    let spot = HitPoint { view, point, offset };
    let meant = IntendedTarget { at, window: &window, on_top, by_action, over };
    let HitOutcome { mut hit, named } = hit::hit_test(spot, &look, meant).await?;
    if matches!(hit, HitResult::Covered { .. }) && window::is_elsewhere(view, at, &window, &look.x11).await? {
        return off_screen(rect, RetryReason::OutOfView);
    }
    if hit == HitResult::Target && by_pointer {
        hit = input_grab::check_input_grab(view, Some(at), &window, &look).await?;
        // Moving the pointer switches between menus; a press would close the menu that the
        // pointer's arrival opened.
        if matches!(hit, HitResult::PopupGrab { .. })
            && !options.press
            && input_grab::of_the_open_bar(&view.last.picture, at)
        {
            hit = HitResult::Target;
        }
    }
    if hit != HitResult::Target || !by_pointer {
        let untouched = untouched.filter(|_| hit == HitResult::Target);
        *ahead = untouched.map(|ahead| ActionPrefetch { stack: Some(look), ..ahead });
        return Ok((Aim::new(rect, hit).point(point), None));
    }
    *pointed = true;
    pointer::wait_double_click_interval(device, point).await;
    let changes = app.events.state().changes;
    pointer::move_pointer(&look.x11, Some(window.id), point).await?;
    until_drawn(app, changes).await?;
    // The pointer's arrival may have shown or moved something.
    match position::locate_on_screen(view, at, Some(&look)).await? {
        Some(now) if now.rect.contains(point.0, point.1) => {
            let spot = HitPoint { offset: now.offset, ..spot };
            let under = hit::hit_test(spot, &look, IntendedTarget { over: None, ..meant }).await?;
            Ok((Aim::new(rect, under.after(named, app.link.toolkit)).point(point), None))
        }
        now => {
            let rect = now.map(|now| now.rect).unwrap_or_default();
            Ok((Aim::new(rect, HitResult::OffScreen).point(point), Some(RetryReason::Moved)))
        }
    }
}

#[async_trait]
impl Geometry for LinuxDevice {
    async fn visible_rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        position::boxes(self.view(), handles, true).await
    }

    /// Returns the element that an input at a point of the screen reaches; `None` if no element of
    /// the app is known there. Fails with `ELEMENT_COVERED` if the app's answers are inconclusive.
    async fn element_at(&mut self, x: f64, y: f64) -> Result<Option<Handle>> {
        lifecycle::alive(&self.app).await?;
        let mut anew = self.last.tree.is_none();
        loop {
            let sight = WindowStack::of(&self.app).await?;
            let sight = sight.ok_or_else(|| self.app.screen.unseen("determine what is at a point"))?;
            if anew {
                capture::capture_app(self, &[]).await?;
            }
            match hit::object_at(self.view(), &sight, (x, y)).await {
                Ok(None) => return Ok(None),
                Ok(Some(path)) if self.last.at(&path).is_some() => {
                    return Ok(Some(self.app.ids.handle(&path)));
                }
                Ok(_) if anew => return Ok(None),
                Err(unresolved) if anew || matches!(unresolved, Unresolved::Failed(_)) => {
                    return Err(unresolved.at(&format!("{x},{y}")));
                }
                // The app may have changed just now.
                _ => anew = true,
            }
        }
    }

    /// Moves the pointer to a point of the screen. Returns when the app has noticed the move.
    async fn move_pointer(&mut self, x: f64, y: f64) -> Result<()> {
        let x11 = self.app.screen.x11("move the pointer").await?;
        let window = window::active_window(&self.app).await?.map(|(_, window)| window.id);
        pointer::move_pointer(&x11, window, (x, y)).await
    }

    async fn resize(&mut self, width: u32, height: u32) -> Result<()> {
        let x11 = self.app.screen.x11("change the size of a window").await?;
        let active = window::active_window(&self.app).await?;
        let (_, window) = active.ok_or_else(|| self.app.screen.unseen("change the size of a window"))?;
        if x11.run(move |d| window_manager::resize(d, &window, width, height)).await? {
            return Ok(());
        }
        let message = format!("the window of {} cannot be resized to {width}x{height}", self.app.app_name());
        Err(Error::unsupported(message).hint("run `stickpin screenshot` to see its size"))
    }
}

/// Waits until a GTK app has drawn the content that the pointer's arrival revealed. Only then are
/// positions reliable. `changes` is the app's change count before the pointer arrived.
async fn until_drawn(app: &App, mut changes: u64) -> Result<()> {
    if !app.profile().draws_after_arrival {
        return Ok(());
    }
    for round in 0..FRAMES {
        lifecycle::check_answer(app, lifecycle::wait_until_input_read(&app.link).await).await?;
        let now = app.events.state().changes;
        // GTK 4 does not signal elements that have never been shown before.
        let silent = round == 0 && app.profile().new_is_silent;
        if now == changes && !silent {
            break;
        }
        changes = now;
        tokio::time::sleep(DRAWING).await;
    }
    Ok(())
}

/// Returns the distance by which a rectangle must be moved to be on the screen. If it does not fit,
/// its top-left corner has priority.
fn onto(screen: Rect, place: Rect) -> Point {
    let by = |at: f64, size: f64, from: f64, whole: f64| (from + whole - (at + size)).min(0.0).max(from - at);
    (by(place.x, place.width, screen.x, screen.width), by(place.y, place.height, screen.y, screen.height))
}

/// Returns whether no other window can cover this one at a point, judging by the rectangles alone.
/// The server also takes the shapes into account. `windows` is in stacking order, lowest first.
fn on_top(windows: &[Window], window: &Window, (x, y): Point, alone: bool) -> bool {
    let Some(at) = windows.iter().position(|w| w.id == window.id) else { return false };
    let covers = |w: &Window| w.area.contains(x, y) || w.area_with_decoration().contains(x, y);
    !windows.iter().any(|w| w.blocks(window, alone)) && !windows[at + 1..].iter().any(covers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::extents::tests::window;
    use stickpin_x11desk::Extents;

    #[test]
    fn window_off_screen_is_moved_by_the_minimum() {
        let rect = |x: f64, y: f64, width: f64, height: f64| Rect { x, y, width, height };
        let screen = rect(0.0, 0.0, 1280.0, 900.0);
        assert_eq!(onto(screen, rect(1300.0, 10.0, 40.0, 20.0)), (-60.0, 0.0));
        assert_eq!(onto(screen, rect(-50.0, 950.0, 40.0, 20.0)), (50.0, -70.0));
        assert_eq!(onto(screen, rect(1290.0, 0.0, 2000.0, 20.0)), (-1290.0, 0.0), "its left end");
        assert_eq!(onto(screen, rect(5.0, 5.0, 40.0, 20.0)), (0.0, 0.0));
    }

    #[test]
    fn a_window_is_on_top_where_nothing_stands_above_it() {
        let (low, high) = (window(1, "", (0.0, 0.0, 100.0, 100.0)), window(2, "", (50.0, 0.0, 100.0, 100.0)));
        let all = |high: Window| vec![low.clone(), high];
        assert!(on_top(&all(high.clone()), &low, (10.0, 10.0), false));
        assert!(!on_top(&all(high.clone()), &low, (60.0, 10.0), false));
        assert!(on_top(&all(high.clone()), &high, (60.0, 10.0), false));
        let decorated = Window { decoration: Extents { left: 45, ..Extents::default() }, ..high.clone() };
        assert!(!on_top(&all(decorated), &low, (10.0, 10.0), false), "its title bar counts");
        let dialog = Window { modal: true, transient_for: Some(1), ..high };
        assert!(
            !on_top(&all(dialog), &low, (10.0, 10.0), false),
            "a modal dialog takes the input wherever it stands"
        );
        assert!(!on_top(&[], &low, (10.0, 10.0), false), "a window that is not known");
    }
}
