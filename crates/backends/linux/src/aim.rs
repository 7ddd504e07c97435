//! Aiming: an element is brought into view, and what an input there would reach is said.
//!
//! Two judges: the X server says which window an input goes to, the app says which of its elements. What is pressed by
//! its own action is not asked of the app, because nothing else of it can receive that; what lies over it in the same
//! window counts all the same, as a person could not press it either.

pub(crate) mod held;
pub(crate) mod hit;
pub(crate) mod over;
pub(crate) mod place;
pub(crate) mod point;
pub(crate) mod press;
pub(crate) mod reveal;
pub(crate) mod scroll;
pub(crate) mod there;
pub(crate) mod unread;
pub(crate) mod wheel;

use crate::aim::there::unknown;
use crate::app::look::{Ahead, Momentary, Placed};
use crate::app::{self, App, LinuxDevice, Reading, life, pointer, reading};
use crate::model::extents::{common, has};
use std::time::{Duration, Instant};
use stickpin_device::{Aim, AimOptions, Hit, Result};
use stickpin_tree::{Handle, Rect};
use stickpin_x11desk::{Presence, Window, X11, window_manager, windows};

/// How often an element is followed that moves away when the pointer arrives.
const FOLLOWED: usize = 4;

/// How long what is not there yet is waited for while the app is still at it, and how long it may say nothing then.
const AT_IT: Duration = Duration::from_secs(3);
const SILENT: Duration = Duration::from_millis(300);

/// How long it is waited each time for what is not on the screen, and how long in all for what has no place there yet,
/// though the app shows it: its window is being opened, and on a busy machine nobody says anything meanwhile.
const LATE: Duration = Duration::from_millis(60);
const OPENING: Duration = Duration::from_millis(1_500);

/// How long GTK takes to draw once, and how often it is waited for that while it signals changes.
const DRAWING: Duration = Duration::from_millis(17);
const FRAMES: usize = 4;

/// Why it is aimed once more.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Again {
    /// Nobody knows what an input there would reach, and why.
    Unknown(String),
    /// It moved away when the pointer arrived.
    Moved,
    /// Its containers do not show it, or its window is beyond the screen.
    OutOfView,
    /// It has no place, or none where its window is: the app and the display do not agree yet.
    Nowhere,
}

/// Brings an element into view, moves the pointer there if asked, and says what an input there would reach. `ahead`: what
/// came along with the look at it; none any more when something was moved on the way, or was signalled.
pub(crate) async fn aim_at(
    device: &mut LinuxDevice,
    handle: Handle,
    options: AimOptions<'_>,
    ahead: &mut Option<Momentary<Ahead>>,
) -> Result<Aim> {
    let (mut round, mut pointed, mut anew, start) = (1, false, false, Instant::now());
    app::until_activated(device, handle).await?;
    loop {
        let (mut aim, again) = aim_once(device, handle, options, ahead).await?;
        pointed |= aim.pointed;
        aim.pointed = pointed;
        let Some(again) = again else { return Ok(aim) };
        *ahead = None;
        if let Again::Unknown(why) = &again {
            let words = reading::object(&device.app, &device.reading, handle)?.words();
            if std::mem::replace(&mut anew, true) {
                return Err(unknown(&words, why));
            }
            // It may have changed in that moment.
            tracing::debug!("{words} is aimed at again: {why}");
            reading::look(device, &[]).await?;
            continue;
        }
        // A window that is just opening, on a machine that is busy.
        let changed = device.app.heard.state().changed_at;
        let at_it = start.elapsed() < AT_IT && changed.is_some_and(|at| at.elapsed() < SILENT);
        let opening = again == Again::Nowhere && start.elapsed() < OPENING;
        if round >= FOLLOWED && !opening && (again == Again::Moved || !at_it) {
            return Ok(aim);
        }
        if again != Again::Moved {
            // A window that has just opened: the app, the server and the window manager do not agree yet.
            tokio::time::sleep(LATE).await;
        }
        round += 1;
    }
}

/// As [`aim_at`], once; and why it is to be tried again, if it is.
async fn aim_once(
    device: &mut LinuxDevice,
    handle: Handle,
    options: AimOptions<'_>,
    ahead: &mut Option<Momentary<Ahead>>,
) -> Result<(Aim, Option<Again>)> {
    let Some(at) = reading::index(&device.app, &device.reading, handle) else { return Err(app::gone()) };
    let aim = |rect: Rect, point, hit| Aim { rect, point, hit, pointed: false };
    let off_screen = |rect: Rect, again| (aim(rect, rect.center(), Hit::OffScreen), Some(again));
    let by_action =
        options.press && options.plain && press::presses_by_action(&device.app, &device.reading, at);
    let places = ahead.as_ref().filter(|_| by_action).and_then(|ahead| ahead.still(&device.app, handle));
    let places = places.map(|ahead| ahead.places.clone());
    // It is the look that counts unless something is moved on the way.
    let mut untouched = ahead.take().filter(|_| places.is_some());
    let (sight, mut placed) =
        place::placed_in_sight(&device.app, &device.reading, at, places.as_ref()).await?;
    if placed.as_ref().is_none_or(|p| p.seen != Some(p.rect)) {
        untouched = None;
        placed = reveal::scroll_into_view(&device.app, &device.reading, at, sight.as_ref(), placed).await?;
    }
    let Some(Placed { rect, seen, offset, frame }) = placed else {
        return Ok(off_screen(Rect::default(), Again::Nowhere));
    };
    let Some(seen) = seen else { return Ok(off_screen(rect, Again::OutOfView)) };
    let Some(mut look) = sight else {
        // Nobody knows the windows: an action of its own reaches it all the same.
        *ahead = untouched;
        return Ok((aim(rect, seen.center(), Hit::Target), None));
    };
    let Some(window) = hit::window_with(&device.app, &device.reading, at, frame, &look.windows).await? else {
        if look.windows.iter().any(|w| w.pid == device.app.info.pid) || by_action {
            return Ok((aim(rect, seen.center(), Hit::Target), None));
        }
        return Err(device.app.screen.unseen("find the window of the element"));
    };
    if window.presence != Presence::Shown {
        untouched = None;
        device.app.screen.present(&window).await?;
        look.windows = look.x11.run(windows::all).await?;
    }
    let window = look.windows.iter().find(|w| w.id == window.id).cloned().unwrap_or(window);
    let Some(visible) = common(seen, window.area) else { return Ok(off_screen(rect, Again::Nowhere)) };
    let Some(visible) = common(visible, look.screen) else {
        // On a display of a person the window is where that person wants it.
        if device.app.screen.is_own() && !window.popup {
            let by = onto(look.screen, seen);
            look.x11.run(move |d| window_manager::move_by(d, &window, by).map(drop)).await?;
        }
        return Ok(off_screen(rect, Again::OutOfView));
    };
    let point = press::press_point(&device.app, &device.reading, at, visible);
    let mut hit = match hit::coming_dialog(&device.app, &device.reading, at, &look.windows) {
        Some(what) => Hit::Covered { by: None, what },
        None if by_action && on_top(&look.windows, &window, point, device.app.is_alone()) => Hit::Target,
        None => {
            // Another window may have been in front of it.
            untouched = None;
            hit::window_hit(&device.app, &window, point, &look).await?
        }
    };
    if matches!(hit, Hit::Covered { .. })
        && has_come_elsewhere(&device.app, &device.reading, at, &window, &look.x11).await?
    {
        return Ok(off_screen(rect, Again::OutOfView));
    }
    // A pop-up is a window of its own: the app's window is asked about what lies under it.
    let inside = !by_action && !window.popup;
    let mut named = false;
    if hit == Hit::Target {
        let over = untouched.is_some().then_some(places).flatten().map(|places| places.over);
        match hit::within_hit(&device.app, &device.reading, at, point, offset, inside, over.as_deref())
            .await?
        {
            Ok(within) => (named, hit) = (within.named, within.hit),
            Err(why) => return Ok((aim(rect, point, Hit::OffScreen), Some(Again::Unknown(why)))),
        }
    }
    let by_pointer = options.pointer && !by_action;
    if hit == Hit::Target && by_pointer {
        hit = held::held(&device.app, &device.reading, Some(at), &window, &look).await?;
        // The pointer alone goes from menu to menu; a press would close what its arrival has opened.
        if matches!(hit, Hit::Held { .. }) && !options.press && held::is_of_the_open_bar(&device.reading, at)
        {
            hit = Hit::Target;
        }
    }
    let pointed = hit == Hit::Target && by_pointer;
    if pointed {
        pointer::apart(device, point).await;
        let changes = device.app.heard.state().changes;
        pointer::move_pointer(&look.x11, window.id, point).await?;
        until_drawn(&device.app, changes).await?;
        // Its arrival may have shown or moved something.
        hit = match place::placed(&device.app, &device.reading, at, Some(&look)).await? {
            Some(now) if has(now.rect, point) => {
                match hit::window_hit(&device.app, &window, point, &look).await? {
                    Hit::Target => {
                        let (app, reading) = (&device.app, &device.reading);
                        match hit::within_hit(app, reading, at, point, now.offset, inside, None).await? {
                            Ok(within) => within.after(named, device.app.link.toolkit),
                            Err(why) => {
                                let aim = Aim { pointed, ..aim(rect, point, Hit::OffScreen) };
                                return Ok((aim, Some(Again::Unknown(why))));
                            }
                        }
                    }
                    again => again,
                }
            }
            now => {
                let rect = now.map(|now| now.rect).unwrap_or_default();
                return Ok((Aim { pointed, ..aim(rect, point, Hit::OffScreen) }, Some(Again::Moved)));
            }
        };
    }
    *ahead = untouched.filter(|_| hit == Hit::Target && !pointed);
    Ok((Aim { pointed, ..aim(rect, point, hit) }, None))
}

/// Whether the window of an element came only after the windows were looked at: then it was taken for another one,
/// which its own covers.
async fn has_come_elsewhere(
    app: &App,
    reading: &Reading,
    at: usize,
    taken: &Window,
    x11: &X11,
) -> Result<bool> {
    let windows = x11.run(windows::all).await?;
    Ok(hit::window_of(app, reading, at, &windows).await?.is_some_and(|window| window.id != taken.id))
}

/// Waits until an app of GTK has drawn what the pointer's arrival made it show: only then it has its place. `changes`: how
/// often the app had changed before.
async fn until_drawn(app: &App, mut changes: u64) -> Result<()> {
    if !app.link.toolkit.profile().draws_after_arrival {
        return Ok(());
    }
    for round in 0..FRAMES {
        // It may answer before it takes the arrival that has come at the same time, but not twice.
        for _ in 0..2 {
            app.link.barrier().await.map_err(|fault| life::lost_by(app, &fault))?;
        }
        let now = app.heard.state().changes;
        // GTK 4 says nothing of what was never shown before.
        let silent = round == 0 && app.link.toolkit.profile().new_is_silent;
        if now == changes && !silent {
            break;
        }
        changes = now;
        tokio::time::sleep(DRAWING).await;
    }
    Ok(())
}

/// How far a place has to go to be on the screen, its left and upper end first.
fn onto(screen: Rect, place: Rect) -> (f64, f64) {
    let by = |at: f64, size: f64, from: f64, whole: f64| {
        let back = (from + whole - (at + size)).min(0.0);
        if at + back < from { from - at } else { back }
    };
    (by(place.x, place.width, screen.x, screen.width), by(place.y, place.height, screen.y, screen.height))
}

/// Whether no window of the display can lie over this one at a point, by where they are alone: what their shapes leave
/// free, the server knows. `windows` are the lowest first.
fn on_top(windows: &[Window], window: &Window, point: (f64, f64), alone: bool) -> bool {
    let Some(at) = windows.iter().position(|w| w.id == window.id) else { return false };
    let blocks = |w: &Window| w.blocks(window, alone);
    let covers = |w: &Window| has(w.area, point) || has(w.whole(), point);
    !windows.iter().any(blocks) && !windows[at + 1..].iter().any(covers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::extents::tests::window;
    use stickpin_x11desk::Extents;

    #[test]
    fn what_is_beside_the_screen_goes_no_further_onto_it_than_it_has_to() {
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
