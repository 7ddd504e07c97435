//! The X window that shows an element, and whether that window receives an input at a point.

use crate::app::{App, AppView, WindowStack, ask};
use crate::model::{Object, ObjectTree, Point, extents, is_menu_item, popup_in, role, states};
use crate::toolkit::profile::Popups;
use stickpin_device::{HitResult, Result};
use stickpin_tree::Rect;
use stickpin_x11desk::{Window, X11, window_manager, windows};

/// Returns the X window that shows an object: its popup, its floating dock or its top-level window;
/// `None` if it cannot be determined.
pub(crate) async fn window_of(view: AppView<'_>, at: usize, windows: &[Window]) -> Result<Option<Window>> {
    let frame = ask::place(view.app, &view.last[view.last.top(at)].path).await?;
    Ok(window_with(view, at, frame, windows).await?.map(|(window, _)| window))
}

/// Returns the window as [`window_of`] does, and the rectangle of its content according to the
/// toolkit. `frame` is the rectangle of the top-level window according to the toolkit.
pub(crate) async fn window_with(
    view: AppView<'_>,
    at: usize,
    frame: Option<Rect>,
    windows: &[Window],
) -> Result<Option<(Window, Option<Rect>)>> {
    let shown = match popup(view, at, windows).await? {
        None => floating(view, at, windows).await?,
        popup => popup,
    };
    if let Some((window, content)) = shown {
        return Ok(Some((window, Some(content))));
    }
    let title = &view.last[view.last.top(at)].name;
    let size = frame.map(|r| (r.width, r.height));
    let window = extents::window_of(windows, view.app.info.pid, title, size);
    Ok(window.map(|window| (window.clone(), frame)))
}

/// Returns the window of a floating dock of Qt that contains an object, and the position of the
/// dock according to the app. The window is found by title and position, because the app lists the
/// dock below its original window.
async fn floating(view: AppView<'_>, at: usize, windows: &[Window]) -> Result<Option<(Window, Rect)>> {
    let (last, chain) = (view.last, view.last.chain(at));
    let inner = &chain[..chain.len() - 1];
    let floats = |&&i: &&usize| view.app.profile().docks_float && last[i].floats();
    let Some(&dock) = inner.iter().find(floats) else { return Ok(None) };
    let Some(place) = ask::place(view.app, &last[dock].path).await? else { return Ok(None) };
    let own = |w: &&Window| !w.popup && w.pid == view.app.info.pid && w.title == last[dock].name;
    let shows = |w: &&Window| w.area.intersection(place) == Some(place);
    Ok(windows.iter().filter(own).find(shows).map(|window| (window.clone(), place)))
}

/// Returns the popup window that shows an object, and the position of its content according to the
/// app. Returns `None` if the object is in the app's own window, or no popup window matches.
async fn popup(view: AppView<'_>, at: usize, windows: &[Window]) -> Result<Option<(Window, Rect)>> {
    let AppView { app, last } = view;
    let (picture, pid) = (&last.picture, app.info.pid);
    if !windows.iter().any(|w| w.popup && w.pid == pid) {
        return Ok(None);
    }
    let chain = last.chain(at);
    let relative = picture.profile().places_are_in_the_window;
    if let Some(popup) = popup_in(picture, &chain) {
        let popup = chain[popup];
        // A menu of GTK 3 reports where it was opened, not where it is. Its entries report their
        // actual positions.
        let children = last[popup].children.iter().copied();
        let entries = children.clone().any(|child| is_menu_item(last[child].role));
        let shows = |&child: &usize| {
            let object = &last[child];
            object.shown && (!entries || is_menu_item(object.role) || object.role == role::MENU)
        };
        let asked = if relative { vec![popup] } else { children.filter(shows).collect() };
        let said = ask::extents_of(app, &last.paths(&asked)).await?;
        let Some(area) = said.into_iter().flatten().reduce(Rect::union) else { return Ok(None) };
        let window = match relative {
            true => extents::popup_of(windows, pid, (area.width, area.height)),
            false => extents::popup_at(windows, pid, area),
        };
        return Ok(window.map(|window| (window.clone(), area)));
    }
    // Search from the outside in: a popup may be a top-level object of the app, or have an unknown
    // role.
    let names_popups = picture.objects.iter().any(|o| picture.is_popover(o));
    let outside_in: Vec<usize> = chain.into_iter().rev().collect();
    let asked: &[usize] = match picture.profile().popups {
        Popups::InWindows if names_popups => &[],
        Popups::InWindows => &outside_in[1..],
        Popups::AsWindows => &outside_in[..1],
        Popups::Anywhere => &outside_in,
    };
    let said = ask::extents_of(app, &last.paths(asked)).await?;
    Ok(said.into_iter().flatten().find_map(|area| {
        let popup = extents::popup_of(windows, pid, (area.width, area.height));
        let popup = popup.filter(|popup| relative || area.intersection(popup.area) == Some(area));
        popup.map(|popup| (popup.clone(), area))
    }))
}

/// Returns the name of a modal window that the app of a process reports but the display does not
/// show yet. Until the display shows it, everything outside the window counts as covered;
/// afterwards, the display decides. Returns `None` if `top`, the window that is aimed at, is modal
/// itself.
pub(super) fn pending_dialog<'p>(
    picture: &'p ObjectTree,
    top: usize,
    pid: Option<u32>,
    windows: &[Window],
) -> Option<&'p str> {
    // A modal window may have others below it.
    if picture[top].is(states::MODAL) {
        return None;
    }
    let pending = |o: &&Object| {
        let shows = |w: &Window| w.pid == pid && w.is_shown() && (w.modal || w.title == o.name);
        o.is(states::MODAL) && states::is_visible(o.states, picture.toolkit) && !windows.iter().any(shows)
    };
    let mut others = picture.root().children.iter().filter(|&&w| w != top).map(|&w| &picture[w]);
    others.find(pending).map(|o| o.name.as_str())
}

/// Determines whether a window receives an input at a point. On a private display, a window that is
/// merely in the way is not an obstacle: the target's window is raised, as a person would do.
pub(super) async fn window_hit(
    app: &App,
    point: Point,
    window: &Window,
    look: &WindowStack,
) -> Result<HitResult> {
    // A modal dialog blocks the whole window, wherever it is placed.
    let alone = app.is_alone();
    if let Some(dialog) = look.windows.iter().find(|w| w.blocks(window, alone)) {
        let what = covering_window(app, dialog.clone(), &look.x11).await?;
        // A dialog of another process is not in the tree.
        return Ok(match dialog.pid == app.info.pid {
            true => HitResult::Covered { by: None, what },
            false => HitResult::PopupGrab { by: None, what },
        });
    }
    let mut raised = !app.screen.own || window.popup;
    loop {
        let top = look.top(point).await?;
        let is_top = |w: &Window| w.is_in(top);
        if is_top(window) {
            return Ok(HitResult::Target);
        }
        let over = look.x11.run(windows::list_windows).await?.into_iter().find(is_top);
        let belongs = |over: &Window| over.popup || over.modal || over.transient_for == Some(window.id);
        if raised || over.as_ref().is_none_or(belongs) {
            let what = match over {
                None if top.is_none() => return Ok(HitResult::OffScreen),
                None => "a window of another program".to_owned(),
                Some(over) => covering_window(app, over, &look.x11).await?,
            };
            return Ok(HitResult::Covered { by: None, what });
        }
        raised = true;
        let window = window.clone();
        look.x11.run(move |d| window_manager::raise(d, &window).map(drop)).await?;
    }
}

/// Describes a window that covers a window of the app. For a window of another process, the
/// description includes the program. It also includes the address of the process if the window
/// belongs to a window of the app, or the app is alone on its display.
pub(crate) async fn covering_window(app: &App, window: Window, x11: &X11) -> Result<String> {
    if window.pid == app.info.pid {
        return Ok(window.describe());
    }
    let (own, alone) = (app.info.pid, app.is_alone());
    x11.run(move |d| {
        let host = window.transient_for;
        let belongs = windows::list_windows(d)?.iter().any(|w| Some(w.id) == host && w.pid == own);
        let pid = window.pid.filter(|_| belongs || alone);
        let words = windows::describe_with_program(d, &window)?;
        Ok(pid.map_or_else(|| words.clone(), |pid| format!("{words} (linux:{pid})")))
    })
    .await
}

/// Returns whether the window of an element appeared only after the windows were read, so that
/// another one was mistaken for it.
pub(super) async fn is_elsewhere(view: AppView<'_>, at: usize, taken: &Window, x11: &X11) -> Result<bool> {
    let windows = x11.run(windows::list_windows).await?;
    Ok(window_of(view, at, &windows).await?.is_some_and(|window| window.id != taken.id))
}

/// Returns the windows on the screen, and the app's active window or, if none is active, its
/// topmost one.
pub(crate) async fn active_window(app: &App) -> Result<Option<(WindowStack, Window)>> {
    let Some(sight) = WindowStack::of(app).await? else { return Ok(None) };
    let pid = app.info.pid;
    let own = sight.windows.iter().filter(|w| (w.pid == pid || pid.is_none()) && !w.popup);
    // Of several windows, the last one is the topmost.
    let found = own.max_by_key(|w| (w.active, w.is_shown())).cloned();
    Ok(found.map(|window| (sight, window)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::extents::tests;
    use crate::toolkit::profile::Toolkit;

    fn window(title: &str, modal: bool) -> Window {
        Window { modal, pid: Some(3), ..tests::window(1, title, (0.0, 0.0, 0.0, 0.0)) }
    }

    fn pending<'p>(picture: &'p ObjectTree, top: usize, shown: &[&Window]) -> Option<&'p str> {
        let windows: Vec<Window> = shown.iter().map(|&window| window.clone()).collect();
        pending_dialog(picture, top, Some(3), &windows)
    }

    #[test]
    fn a_dialog_that_is_just_opening_is_known_from_the_app() {
        let object = |name: &str, states, children: &[usize]| Object {
            name: name.to_owned(),
            states,
            children: children.to_vec(),
            ..Object::default()
        };
        let (shown, modal) = (states::SHOWING, states::SHOWING | states::MODAL);
        let objects = vec![
            object("app", 0, &[1, 3]),
            object("Profile", shown, &[2]),
            object("Save", shown, &[]),
            object("Leave?", modal, &[4]),
            object("Stay", shown, &[]),
        ];
        let mut picture = ObjectTree { toolkit: Toolkit::Gtk3, objects, truncated: false };
        let (main, dialog, other) = (window("Profile", false), window("Leave?", false), window("x", true));
        assert_eq!(pending(&picture, 1, &[&main]), Some("Leave?"));
        assert_eq!(pending(&picture, 1, &[&main, &dialog]), None, "the display judges");
        assert_eq!(pending(&picture, 1, &[&main, &other]), None, "it is there under another title");
        assert_eq!(pending(&picture, 3, &[&main]), None, "what is in it is not covered by it");
        picture.objects[3].states = states::MODAL;
        assert_eq!(pending(&picture, 1, &[&main]), None, "it is not shown");
    }
}
