//! Pointer grabs: an open menu, list or popup receives input before everything else. A press
//! outside it only closes it.
//!
//! The X server reports whether a client grabs the pointer. A grab alone may also be a drag, so a
//! popup must be open as well. GTK 3 draws popovers inside their window without a grab; such
//! popovers report that they are modal.

use crate::aim::window;
use crate::app::{App, AppView, WindowStack, node_words};
use crate::model::{ObjectTree, Point, chain, holds_popup, is_menu, parents, popup_in, role, states};
use stickpin_device::{Error, HitResult, Result};
use stickpin_tree::{Handle, NodeRef, Role};
use stickpin_x11desk::{Window, pointer, windows};

/// Returns [`HitResult::PopupGrab`] if something intercepts an input before it reaches an object in
/// this window, otherwise [`HitResult::Target`]. `at` is the object, or `None` for a bare point.
pub(crate) async fn check_input_grab(
    view: AppView<'_>,
    at: Option<usize>,
    window: &Window,
    sight: &WindowStack,
) -> Result<HitResult> {
    let picture = &view.last.picture;
    if let Some(panel) = at.and_then(|at| modal_panel(picture, at)) {
        return Ok(held_by(view, Some(panel)));
    }
    let popups = || sight.windows.iter().filter(|w| w.popup && w.is_shown());
    let inside = popups().any(|popup| popup.id == window.id);
    let open = open_beside(picture, at);
    // An element inside a popup is blocked only by another popup that was opened from there.
    let there = if inside { open.is_some() } else { popups().next().is_some() };
    if !there || !sight.x11.run(|d| pointer::is_grabbed(d)).await? {
        return Ok(HitResult::Target);
    }
    Ok(held_by(view, open))
}

/// Returns the window of another process that blocks input to a window of the app.
pub(crate) fn grabbing_window(app: &App, windows: &[Window], window: &Window) -> Option<Window> {
    let alone = app.is_alone();
    windows.iter().find(|w| w.pid != window.pid && w.blocks(window, alone)).cloned()
}

/// Checks that no window of another process blocks input to a window of the app. `sent` names the
/// input in the error.
///
/// # Errors
/// Returns `ELEMENT_COVERED` if there is such a window, or the errors of the display.
pub(crate) async fn check_not_grabbed(
    app: &App,
    sight: &WindowStack,
    window: &Window,
    sent: &str,
) -> Result<()> {
    let Some(taker) = grabbing_window(app, &sight.windows, window) else { return Ok(()) };
    let what = window::covering_window(app, taker, &sight.x11).await?;
    Err(Error::element_covered(format!("{what} is open and receives {sent}"))
        .hint("run `stickpin key Escape` to close it"))
}

/// Returns the result for an open popup that intercepts an input; `popup` is its object, if known.
fn held_by(AppView { app, last }: AppView<'_>, popup: Option<usize>) -> HitResult {
    let above = popup.map(|at| last.chain(at)).unwrap_or_default();
    let handles: Vec<_> = above.iter().map(|&i| app.ids.handle(&last[i].path)).collect();
    let mut nodes = handles.iter().filter_map(|handle| last.node(*handle));
    let named = |n: &NodeRef<'_>| !n.name().is_empty() && n.role() != Role::Window;
    let inside = nodes.clone().next().and_then(|n| n.subtree().find(named));
    let what = match (nodes.find(named), inside) {
        (Some(opener), _) => format!("the popup of {}", node_words(opener)),
        (None, Some(node)) => format!("the popup with {}", node_words(node)),
        (None, None) => "a popup".to_owned(),
    };
    HitResult::PopupGrab { by: handles.first().copied(), what }
}

/// Returns a modal GTK 3 popover that is in the same window as an object but does not contain it.
fn modal_panel(picture: &ObjectTree, at: usize) -> Option<usize> {
    if !picture.profile().popovers_are_panels {
        return None;
    }
    let above = chain(picture, at);
    let modal = |at: &usize| {
        let object = &picture[*at];
        object.role == role::PANEL && object.shown && object.is(states::MODAL)
    };
    let beside = |panel: &usize| !above.contains(panel) && chain(picture, *panel).last() == above.last();
    (0..picture.objects.len()).filter(modal).find(beside)
}

/// Returns whether an object is an entry of a menu bar in which another menu is open: moving the
/// pointer switches menus.
pub(super) fn of_the_open_bar(picture: &ObjectTree, at: usize) -> bool {
    let bar = chain(picture, at).get(1).copied().filter(|&bar| picture[bar].role == role::MENU_BAR);
    let open = open_beside(picture, Some(at));
    bar.zip(open).is_some_and(|(bar, open)| chain(picture, open).contains(&bar))
}

/// Returns an open popup that does not contain an object. For an object in a popup, only popups
/// opened from that popup count, and menus do not, because a menu does not block the entry that
/// opened it.
fn open_beside(picture: &ObjectTree, at: Option<usize>) -> Option<usize> {
    let above = at.map(|at| chain(picture, at)).unwrap_or_default();
    let own = popup_in(picture, &above).map(|popup| above[popup]);
    let parents = parents::parents(picture);
    let is_open = |&popup: &usize| {
        let mut children = picture[popup].children.iter();
        let over = Some(parents[popup]).filter(|&over| over != 0);
        picture[popup].shown && children.any(|&c| picture[c].shown && holds_popup(picture, popup, c, over))
    };
    let opened_from = |popup, own| chain(picture, popup).contains(&own) && !is_menu(picture[popup].role);
    let beside = |&popup: &usize| !above.contains(&popup) && own.is_none_or(|own| opened_from(popup, own));
    (0..picture.objects.len()).filter(is_open).find(beside)
}

/// Returns the window that receives input at a point of the screen.
///
/// # Errors
/// Returns an error if there is no window at the point, if the window does not belong to the app,
/// or if something else intercepts the input.
pub(crate) async fn own_window_at(
    view: AppView<'_>,
    to: &str,
    (x, y): Point,
    target: Option<Handle>,
) -> Result<(WindowStack, Window)> {
    let sight = WindowStack::read(view.app.screen.x11(to).await?).await?;
    let spot = format!("{x:.0},{y:.0}");
    let hint = "run `stickpin screenshot` to see what is there";
    let Some(window) = sight.at((x, y)).await?.cloned() else {
        return Err(Error::element_offscreen(format!("there is no window at {spot}")).hint(hint));
    };
    if window.pid != view.app.info.pid && view.app.info.pid.is_some() {
        let what = sight.x11.run(move |d| windows::describe_with_program(d, &window)).await?;
        return Err(Error::element_covered(format!("{what} is at {spot}")).hint(hint));
    }
    check_not_grabbed(view.app, &sight, &window, &format!("the input at {spot}")).await?;
    let at = target.and_then(|target| view.index(target));
    let held = check_input_grab(view, at, &window, &sight).await?;
    let words = target.and_then(|target| view.last.words(target)).unwrap_or(spot);
    held.refusal(&words).map_or(Ok((sight, window)), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Object;
    use crate::toolkit::profile::Toolkit;

    fn object(role: u32, states: u64, children: &[usize]) -> Object {
        Object { role, states, children: children.to_vec(), shown: true, ..Object::default() }
    }

    /// Returns a window with a menu bar of two menus, the first of which is open, an open combo
    /// box, and a button.
    fn picture() -> ObjectTree {
        let objects = vec![
            object(75, 0, &[1]),
            object(role::FRAME, 0, &[2, 6, 8]),
            object(role::MENU_BAR, 0, &[3, 5]),
            object(role::MENU_ITEM, 0, &[4]),
            object(role::MENU_ITEM, 0, &[]),
            object(role::MENU_ITEM, 0, &[]),
            object(role::COMBO_BOX, 0, &[7]),
            object(role::LIST, 0, &[9]),
            object(role::PUSH_BUTTON, 0, &[]),
            object(role::LIST_ITEM, 0, &[]),
        ];
        ObjectTree { toolkit: Toolkit::Qt, objects, truncated: false }
    }

    #[test]
    fn an_open_pop_up_is_beside_what_is_not_in_it() {
        let mut picture = picture();
        assert_eq!(open_beside(&picture, Some(8)), Some(3), "the open menu");
        assert_eq!(open_beside(&picture, Some(5)), Some(3), "the next menu of the bar");
        picture.objects[4].shown = false;
        assert_eq!(open_beside(&picture, Some(8)), Some(7), "the open list");
        assert_eq!(open_beside(&picture, Some(9)), None, "an option of it");
        picture.objects[9].shown = false;
        assert_eq!(open_beside(&picture, Some(8)), None);
    }

    #[test]
    fn open_menu_allows_only_other_menus_of_its_bar() {
        let mut picture = picture();
        assert!(of_the_open_bar(&picture, 5), "the next menu");
        assert!(!of_the_open_bar(&picture, 8) && !of_the_open_bar(&picture, 6), "a button, a combo box");
        assert!(!of_the_open_bar(&picture, 4), "what is in a menu is not in the bar");
        // The menu is closed, and the list of the combo box is open.
        picture.objects[4].shown = false;
        assert!(!of_the_open_bar(&picture, 5));
    }

    #[test]
    fn list_opened_in_a_popup_grabs_input() {
        let mut picture = picture();
        picture.toolkit = Toolkit::Gtk4;
        // A popup with a button and another popup in it.
        picture.objects[6].children.clear();
        picture.objects[7].children.clear();
        picture.objects[2] = object(role::FILLER, 0, &[3, 4]);
        picture.objects[2].name = Toolkit::Gtk4.profile().popover.unwrap().to_owned();
        picture.objects[3] = object(role::PUSH_BUTTON, 0, &[]);
        picture.objects[4] = object(role::COMBO_BOX, 0, &[5]);
        picture.objects[5] = object(role::FILLER, 0, &[9]);
        picture.objects[5].name = Toolkit::Gtk4.profile().popover.unwrap().to_owned();
        assert_eq!(open_beside(&picture, Some(3)), Some(5));
        assert_eq!(open_beside(&picture, Some(9)), None);
        assert_eq!(open_beside(&picture, Some(8)), Some(2), "the outer one is named");
        picture.objects[5].shown = false;
        assert_eq!(open_beside(&picture, Some(3)), None);
    }

    #[test]
    fn a_modal_panel_takes_what_is_beside_it_in_its_window() {
        let mut picture = picture();
        picture.toolkit = Toolkit::Gtk3;
        picture.objects[6] = object(role::PANEL, states::MODAL, &[9]);
        assert_eq!(modal_panel(&picture, 8), Some(6));
        assert_eq!(modal_panel(&picture, 9), None, "it is inside");
        picture.objects[6].shown = false;
        assert_eq!(modal_panel(&picture, 8), None, "it is closed");
        picture.objects[6] = object(role::PANEL, 0, &[9]);
        assert_eq!(modal_panel(&picture, 8), None, "it takes nothing");
    }
}
