//! Where things are on the screen: what a toolkit says, corrected by where the X server has its window. Pure.

use stickpin_tree::Rect;
use stickpin_x11desk::{Presence, Window};

/// How much wider and higher than its content a pop-up window of GTK 4 may be: its shadow and its arrow.
const AROUND: f64 = 80.0;

/// The X window that is this top-level thing of an app: of its process, by the title where there are several, then by
/// the size.
pub(crate) fn window_of<'a>(
    windows: &'a [Window],
    pid: Option<u32>,
    title: &str,
    size: Option<(f64, f64)>,
) -> Option<&'a Window> {
    let of_process = |w: &&Window| pid.is_none() || w.pid == pid;
    let mut own: Vec<&Window> = windows.iter().filter(|w| !w.popup).filter(of_process).collect();
    if own.is_empty() {
        // The process on the bus may be a proxy of a sandbox: then the title has to do, unless another window has it, too.
        own = windows.iter().filter(|w| !w.popup && !title.is_empty() && w.title == title).collect();
        own = if own.len() == 1 { own } else { Vec::new() };
    }
    let titled: Vec<&Window> = own.iter().copied().filter(|w| w.title == title).collect();
    let candidates = if titled.is_empty() { own } else { titled };
    let off = |w: &Window| {
        let content = w.content();
        size.map_or(0.0, |(width, height)| (content.width - width).abs() + (content.height - height).abs())
    };
    let nearest = |a: &&Window, b: &&Window| {
        off(a).total_cmp(&off(b)).then(b.active.cmp(&a.active)).then(shown(b).cmp(&shown(a)))
    };
    candidates.into_iter().min_by(nearest)
}

/// The X window that is this top-level thing of an app and can be no other one; none where that is not certain. `alike` is how
/// many of the app's have its title, `before` what was on the screen before it came, where it is known to be new.
pub(crate) fn only_window_of<'a>(
    windows: &'a [Window],
    pid: Option<u32>,
    title: &str,
    size: Option<(f64, f64)>,
    alike: usize,
    before: Option<&[u32]>,
) -> Option<&'a Window> {
    let of_app = |w: &&Window| !w.popup && (pid.is_none() || w.pid == pid);
    let new = |w: &&Window| before.is_none_or(|before| !before.contains(&w.id));
    let own: Vec<&Window> = windows.iter().filter(of_app).collect();
    let titled = |own: &[&'a Window], is: &dyn Fn(&str) -> bool| -> Vec<&'a Window> {
        own.iter().copied().filter(|w| is(&w.title)).collect()
    };
    let fits = |w: &&Window| {
        size.is_some_and(|(width, height)| {
            let content = w.content();
            (content.width - width).abs() < 1.0 && (content.height - height).abs() < 1.0
        })
    };
    let mut found = match own.is_empty() {
        // The process on the bus may be a proxy of a sandbox. Another app's may have the same title: its size has to be
        // that, too, unless it came just now.
        true => {
            let all: Vec<&Window> = windows.iter().filter(|w| !w.popup).collect();
            let mut found = titled(&all, &|t| t == title);
            found.retain(|w| before.is_some() || fits(w));
            found
        }
        false => titled(&own, &|t| t == title),
    };
    if title.is_empty() {
        found.clone_from(&own);
    } else if found.is_empty() {
        // Qt adds the name of the program to the title of the window, and not to what it is called on the bus.
        let added = |rest: &str| rest.starts_with(" \u{2014} ") || rest.starts_with(" - ");
        found = titled(&own, &|t| t.strip_prefix(title).is_some_and(added));
    }
    match before {
        Some(_) => found.retain(new),
        None if found.len() == alike => {}
        None => return None,
    }
    if let [only] = found[..] {
        return Some(only);
    }
    found.retain(fits);
    if let [only] = found[..] { Some(only) } else { None }
}

fn shown(window: &Window) -> bool {
    window.presence == Presence::Shown
}

/// Where the content of a window begins on the screen, for a toolkit whose positions are relative to it. `content` is
/// the size that the toolkit says the window has: what the X window has beyond it, apart from its shadow, lies around it
/// in equal parts (the border by which a window is resized).
pub(crate) fn origin(window: &Window, content: (f64, f64)) -> (f64, f64) {
    let inner = window.content();
    let around = |outer: f64, inner: f64| ((outer - inner) / 2.0).max(0.0);
    (inner.x + around(inner.width, content.0), inner.y + around(inner.height, content.1))
}

/// The pop-up window that shows something of this size, if any does: the one that fits best.
pub(crate) fn popup_of(windows: &[Window], pid: Option<u32>, (width, height): (f64, f64)) -> Option<&Window> {
    let slack = |w: &Window| (w.area.width - width, w.area.height - height);
    let fits = |w: &&Window| {
        let (wide, high) = slack(w);
        w.popup && w.pid == pid && (0.0..=AROUND).contains(&wide) && (0.0..=AROUND).contains(&high)
    };
    let rest = |w: &Window| slack(w).0 + slack(w).1;
    windows.iter().filter(fits).min_by(|a, b| rest(a).total_cmp(&rest(b)))
}

/// The pop-up window that shows most of an area of the screen; the topmost of those that show as much.
pub(crate) fn popup_at(windows: &[Window], pid: Option<u32>, area: Rect) -> Option<&Window> {
    let shows = |w: &Window| common(w.area, area).map_or(0.0, |rect| rect.width * rect.height);
    let popups = windows.iter().filter(|w| w.popup && w.pid == pid && shows(w) > 0.0);
    popups.max_by(|a, b| shows(a).total_cmp(&shows(b)))
}

/// The smallest rectangle around all of these.
pub(crate) fn around(all: impl Iterator<Item = Rect>) -> Option<Rect> {
    all.reduce(|a, b| {
        let (x, y) = (a.x.min(b.x), a.y.min(b.y));
        let (right, bottom) = ((a.x + a.width).max(b.x + b.width), (a.y + a.height).max(b.y + b.height));
        Rect { x, y, width: right - x, height: bottom - y }
    })
}

/// What two rectangles have in common; none when that is nothing.
pub(crate) fn common(a: Rect, b: Rect) -> Option<Rect> {
    let (x, y) = (a.x.max(b.x), a.y.max(b.y));
    let width = (a.x + a.width).min(b.x + b.width) - x;
    let height = (a.y + a.height).min(b.y + b.height) - y;
    (width > 0.0 && height > 0.0).then_some(Rect { x, y, width, height })
}

/// Whether a rectangle has this point.
pub(crate) fn has(rect: Rect, (x, y): (f64, f64)) -> bool {
    x >= rect.x && y >= rect.y && x < rect.x + rect.width && y < rect.y + rect.height
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use stickpin_x11desk::Extents;

    /// A window of the app's process, without shadow or decoration.
    pub(crate) fn window(id: u32, title: &str, area: (f64, f64, f64, f64)) -> Window {
        Window {
            id,
            frame: id + 1000,
            pid: Some(7),
            title: title.to_owned(),
            area: Rect { x: area.0, y: area.1, width: area.2, height: area.3 },
            shadow: Extents::default(),
            decoration: Extents::default(),
            presence: Presence::Shown,
            popup: false,
            modal: false,
            transient_for: None,
            active: false,
        }
    }

    #[test]
    fn a_window_is_found_by_process_title_and_size() {
        let mut all = vec![
            window(1, "Notes", (0.0, 0.0, 300.0, 200.0)),
            window(2, "Notes", (0.0, 0.0, 500.0, 400.0)),
            window(3, "Save", (0.0, 0.0, 300.0, 200.0)),
            Window { pid: Some(8), ..window(4, "Other", (0.0, 0.0, 300.0, 200.0)) },
        ];
        let id = |all: &[Window], pid, title, size| window_of(all, pid, title, size).map(|w| w.id);
        assert_eq!(id(&all, Some(7), "Save", None), Some(3));
        assert_eq!(id(&all, Some(7), "Notes", Some((499.0, 380.0))), Some(2));
        // A title that changed a moment ago: the size tells.
        assert_eq!(id(&all, Some(7), "Saved", Some((500.0, 400.0))), Some(2));
        assert_eq!(id(&all, Some(9), "Other", None), Some(4), "a proxy's process");
        assert_eq!(id(&all, Some(9), "Nobody", None), None);
        assert_eq!(id(&all, Some(9), "Notes", Some((300.0, 200.0))), None, "which of the two is whose?");
        all[1].active = true;
        assert_eq!(id(&all, Some(7), "Notes", None), Some(2));
    }

    #[test]
    fn a_window_that_keys_are_for_is_found_for_certain_or_not_at_all() {
        let all = [
            window(1, "Notes", (0.0, 0.0, 300.0, 200.0)),
            window(2, "Open \u{2014} Editor", (0.0, 0.0, 500.0, 400.0)),
            window(3, "Attach", (0.0, 0.0, 300.0, 200.0)),
            window(4, "Attach", (9.0, 9.0, 310.0, 200.0)),
            Window { pid: Some(8), ..window(5, "Attach", (0.0, 0.0, 300.0, 200.0)) },
            Window { popup: true, ..window(6, "", (0.0, 0.0, 300.0, 200.0)) },
        ];
        let id = |title, size, alike, before: Option<&[u32]>| {
            only_window_of(&all, Some(7), title, size, alike, before).map(|w| w.id)
        };
        assert_eq!(id("Notes", None, 1, None), Some(1));
        assert_eq!(id("Open", None, 1, None), Some(2));
        assert_eq!(id("Notes", None, 2, None), None, "one of the two is not on the screen: which?");
        assert_eq!(id("Attach", None, 1, None), None);
        assert_eq!(id("Attach", None, 2, None), None);
        assert_eq!(id("Attach", Some((310.0, 200.0)), 2, None), Some(4));
        assert_eq!(id("Attach", Some((305.0, 200.0)), 2, None), None, "neither is nearest enough");
        assert_eq!(id("Attach", None, 2, Some(&[1, 2, 4])), Some(3), "the one that came");
        assert_eq!(id("Attach", None, 1, Some(&[1, 2, 3, 4])), None, "it has not come yet");
        assert_eq!(id("Saved", Some((300.0, 200.0)), 1, None), None, "never another one by its size");
        assert_eq!(id("Att", None, 2, None), None, "another word that begins so");
        let of = |title, size| only_window_of(&all, Some(9), title, size, 1, None).map(|w| w.id);
        assert_eq!(of("Notes", Some((300.0, 200.0))), Some(1), "a proxy's process");
        assert_eq!(of("Notes", None), None, "it may be another app's");
        assert_eq!(of("Attach", Some((310.0, 200.0))), Some(4));
        assert_eq!(of("Attach", Some((300.0, 200.0))), None);
    }

    #[test]
    fn positions_of_gtk_4_are_moved_to_the_content_of_the_window() {
        // gnome-calculator 43 under openbox: 365x502 at 457,214, and says that it has 355x492.
        let bare = window(1, "Calculator", (457.0, 214.0, 365.0, 502.0));
        assert_eq!(origin(&bare, (355.0, 492.0)), (462.0, 219.0));
        // With a shadow that the window manager knows of.
        let shadow = Extents { left: 26, right: 26, top: 23, bottom: 29 };
        let shaded =
            Window { shadow, area: Rect { width: 407.0, height: 544.0, ..bare.area }, ..bare.clone() };
        assert_eq!(origin(&shaded, (355.0, 492.0)), (483.0, 237.0));
        // Decorated by the window manager, the content is all of it.
        assert_eq!(origin(&bare, (365.0, 502.0)), (457.0, 214.0));
    }

    #[test]
    fn a_popup_is_a_little_larger_than_what_it_shows() {
        let menu = Window { popup: true, ..window(5, "", (100.0, 100.0, 220.0, 340.0)) };
        let tip = Window { popup: true, ..window(6, "", (100.0, 100.0, 90.0, 30.0)) };
        let all = [window(1, "Main", (0.0, 0.0, 220.0, 340.0)), tip, menu];
        assert_eq!(popup_of(&all, Some(7), (200.0, 300.0)).map(|w| w.id), Some(5));
        assert_eq!(popup_of(&all, Some(7), (221.0, 300.0)), None);
        assert_eq!(popup_of(&all, Some(8), (200.0, 300.0)), None);
    }

    #[test]
    fn of_menus_in_one_another_the_one_that_shows_the_entries_counts() {
        // The menu of gtk3-widget-factory's kind: View with New, Wrap and Zoom; Zoom with Small and Large beside it.
        let outer = Window { popup: true, ..window(5, "", (616.0, 450.0, 127.0, 75.0)) };
        let inner = Window { popup: true, ..window(6, "", (741.0, 500.0, 98.0, 50.0)) };
        let all = [window(1, "Main", (615.0, 405.0, 50.0, 90.0)), outer, inner];
        let at = |x, y, width, height| popup_at(&all, Some(7), Rect { x, y, width, height }).map(|w| w.id);
        assert_eq!(at(616.0, 450.0, 127.0, 75.0), Some(5));
        assert_eq!(at(741.0, 500.0, 98.0, 50.0), Some(6));
        assert_eq!(at(0.0, 0.0, 20.0, 20.0), None);
    }

    #[test]
    fn what_goes_around_all_of_them() {
        let rect = |x, y, width, height| Rect { x, y, width, height };
        let all = [rect(10.0, 10.0, 100.0, 100.0), rect(90.0, 5.0, 50.0, 20.0)];
        assert_eq!(around(all.into_iter()), Some(rect(10.0, 5.0, 130.0, 105.0)));
        assert_eq!(around(std::iter::empty()), None);
    }

    #[test]
    fn rectangles_are_cut_and_points_are_in_them_or_not() {
        let rect = |x, y, width, height| Rect { x, y, width, height };
        assert_eq!(
            common(rect(0.0, 0.0, 10.0, 10.0), rect(5.0, 5.0, 10.0, 2.0)),
            Some(rect(5.0, 5.0, 5.0, 2.0))
        );
        assert_eq!(common(rect(0.0, 0.0, 10.0, 10.0), rect(10.0, 0.0, 5.0, 5.0)), None);
        assert!(has(rect(0.0, 0.0, 1.0, 1.0), (0.0, 0.9)) && !has(rect(0.0, 0.0, 1.0, 1.0), (1.0, 0.0)));
    }
}
