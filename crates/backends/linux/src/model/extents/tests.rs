use super::*;
use stickpin_x11desk::Extents;
use stickpin_x11desk::Visibility;

/// Returns a window of the app's process, without a shadow or decoration.
pub(crate) fn window(id: u32, title: &str, area: (f64, f64, f64, f64)) -> Window {
    Window {
        id,
        frame: id + 1000,
        pid: Some(7),
        title: title.to_owned(),
        area: Rect { x: area.0, y: area.1, width: area.2, height: area.3 },
        shadow: Extents::default(),
        decoration: Extents::default(),
        visibility: Visibility::Shown,
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
    // The title changed a moment ago, so the size decides.
    assert_eq!(id(&all, Some(7), "Saved", Some((500.0, 400.0))), Some(2));
    assert_eq!(id(&all, Some(9), "Other", None), Some(4), "a proxy's process");
    assert_eq!(id(&all, Some(9), "Nobody", None), None);
    assert_eq!(id(&all, Some(9), "Notes", Some((300.0, 200.0))), None, "which of the two is whose?");
    all[1].active = true;
    assert_eq!(id(&all, Some(7), "Notes", None), Some(2));
}

#[test]
fn window_for_keys_is_unambiguous_or_none() {
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
    // gnome-calculator 43 under openbox: 365x502 at 457,214, but the app reports 355x492.
    let bare = window(1, "Calculator", (457.0, 214.0, 365.0, 502.0));
    assert_eq!(origin(&bare, (355.0, 492.0)), (462.0, 219.0));
    // With a shadow that is known to the window manager.
    let shadow = Extents { left: 26, right: 26, top: 23, bottom: 29 };
    let shaded = Window { shadow, area: Rect { width: 407.0, height: 544.0, ..bare.area }, ..bare.clone() };
    assert_eq!(origin(&shaded, (355.0, 492.0)), (483.0, 237.0));
    // If the window manager draws the decoration, the whole area is content.
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
fn innermost_menu_with_the_entries_is_the_popup() {
    // A menu as in gtk3-widget-factory: View with New, Wrap and Zoom; Zoom opens Small and Large
    // next to it.
    let outer = Window { popup: true, ..window(5, "", (616.0, 450.0, 127.0, 75.0)) };
    let inner = Window { popup: true, ..window(6, "", (741.0, 500.0, 98.0, 50.0)) };
    let all = [window(1, "Main", (615.0, 405.0, 50.0, 90.0)), outer, inner];
    let at = |x, y, width, height| popup_at(&all, Some(7), Rect { x, y, width, height }).map(|w| w.id);
    assert_eq!(at(616.0, 450.0, 127.0, 75.0), Some(5));
    assert_eq!(at(741.0, 500.0, 98.0, 50.0), Some(6));
    assert_eq!(at(0.0, 0.0, 20.0, 20.0), None);
}
