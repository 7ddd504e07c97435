//! Positions on the screen: the toolkit's rectangles, corrected by the position of the window on
//! the X server. All functions here are pure.

use stickpin_tree::Rect;
use stickpin_x11desk::Window;

/// A point of the screen, a distance or a size, in pixels.
pub(crate) type Point = (f64, f64);

/// How much larger than its content a popup window of GTK 4 may be, because of its shadow and
/// arrow.
const AROUND: f64 = 80.0;

/// Returns the X window of a top-level object: a window of the app's process, chosen by title if
/// there are several, then by size.
pub(crate) fn window_of<'a>(
    windows: &'a [Window],
    pid: Option<u32>,
    title: &str,
    size: Option<Point>,
) -> Option<&'a Window> {
    let main = || windows.iter().filter(|w| !w.popup);
    let own = main().filter(|w| pid.is_none() || w.pid == pid);
    let titled = |w: &Window| w.title == title;
    let off = |w: &Window| size.map_or(0.0, |size| size_difference(w, size));
    let in_front = |w: &Window| (w.active, w.is_shown());
    let nearest = |a: &&Window, b: &&Window| {
        let by_title = titled(b).cmp(&titled(a));
        by_title.then(off(a).total_cmp(&off(b))).then(in_front(b).cmp(&in_front(a)))
    };
    own.min_by(nearest).or_else(|| {
        // The process on the bus may be the proxy of a sandbox. In that case, the title must match
        // and be unique.
        let mut alike = main().filter(|w| !title.is_empty() && titled(w));
        alike.next().filter(|_| alike.next().is_none())
    })
}

/// Returns the X window that can belong only to this top-level object; `None` if that is not
/// certain. `alike` is the number of the app's windows with this title. `before` contains the
/// windows on the screen before the object appeared, if it is known to be new.
pub(crate) fn only_window_of<'a>(
    windows: &'a [Window],
    pid: Option<u32>,
    title: &str,
    size: Option<Point>,
    alike: usize,
    before: Option<&[u32]>,
) -> Option<&'a Window> {
    let of_app = |w: &&Window| !w.popup && (pid.is_none() || w.pid == pid);
    let own: Vec<&Window> = windows.iter().filter(of_app).collect();
    let fits = |w: &&Window| size.is_some_and(|size| size_difference(w, size) < 1.0);
    // The process on the bus may be the proxy of a sandbox. Another app's window may have the same
    // title, so the size must match as well, unless the window is new.
    let of_another = |w: &&Window| own.is_empty() && !w.popup && (before.is_some() || fits(w));
    let mut found: Vec<&Window> = match title.is_empty() {
        true => own.clone(),
        false => windows.iter().filter(|w| w.title == title && (of_app(w) || of_another(w))).collect(),
    };
    if found.is_empty() {
        // Qt appends the program's name to the title of the window, but not to the name on the bus.
        let added = |rest: &str| rest.starts_with(" \u{2014} ") || rest.starts_with(" - ");
        found.extend(own.iter().filter(|w| w.title.strip_prefix(title).is_some_and(added)));
    }
    match before {
        Some(before) => found.retain(|w| !before.contains(&w.id)),
        None if found.len() == alike => {}
        None => return None,
    }
    if found.len() > 1 {
        found.retain(fits);
    }
    if let [only] = found[..] { Some(only) } else { None }
}

/// Returns by how many pixels the size of a window's content differs from another size, over both
/// dimensions.
fn size_difference(window: &Window, (width, height): Point) -> f64 {
    let content = window.content();
    (content.width - width).abs() + (content.height - height).abs()
}

/// Returns where the content of a window begins on the screen, for a toolkit whose positions are
/// relative to the window. `content` is the size of the content according to the toolkit. Apart
/// from its shadow, the X window may be larger by a resize border that is equally wide on all
/// sides.
pub(crate) fn origin(window: &Window, content: Point) -> Point {
    let inner = window.content();
    let around = |outer: f64, inner: f64| ((outer - inner) / 2.0).max(0.0);
    (inner.x + around(inner.width, content.0), inner.y + around(inner.height, content.1))
}

/// Returns the popup window that shows content of this size; the best fit if there are several.
pub(crate) fn popup_of(windows: &[Window], pid: Option<u32>, (width, height): Point) -> Option<&Window> {
    let slack = |w: &Window| (w.area.width - width, w.area.height - height);
    let fits = |w: &&Window| {
        let (wide, high) = slack(w);
        w.popup && w.pid == pid && (0.0..=AROUND).contains(&wide) && (0.0..=AROUND).contains(&high)
    };
    let rest = |w: &Window| slack(w).0 + slack(w).1;
    windows.iter().filter(fits).min_by(|a, b| rest(a).total_cmp(&rest(b)))
}

/// Returns the popup window that shows most of an area of the screen; the topmost if several show
/// as much of it.
pub(crate) fn popup_at(windows: &[Window], pid: Option<u32>, area: Rect) -> Option<&Window> {
    let shows = |w: &Window| w.area.intersection(area).map_or(0.0, |rect| rect.width * rect.height);
    let popups = windows.iter().filter(|w| w.popup && w.pid == pid && shows(w) > 0.0);
    popups.max_by(|a, b| shows(a).total_cmp(&shows(b)))
}

/// Converts a toolkit's rectangle; `None` if it is empty.
pub(crate) fn rect(place: [i32; 4]) -> Option<Rect> {
    let [x, y, width, height] = place.map(f64::from);
    (width > 0.0 && height > 0.0).then_some(Rect { x, y, width, height })
}

#[cfg(test)]
pub(crate) mod tests;
