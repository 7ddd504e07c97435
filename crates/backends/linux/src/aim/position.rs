//! Positions of elements: the toolkit's rectangles, corrected by the positions of their windows on
//! the X server.

use crate::aim::window;
use crate::app::ask::query_extents;
use crate::app::{AppView, ElementPosition, WindowStack, ask};
use crate::bus::BusResult;
use crate::model::overlaps::possible_covers;
use crate::model::{ObjectTree, Point, chain, extents, popup_in, role as n};
use hashbrown::HashMap;
use stickpin_device::Result;
use stickpin_tree::{Handle, Rect};
use stickpin_x11desk::Window;

/// Returns whether another window covers a point of this one. Popups do not count, because they may
/// be larger than their content. `windows` is in stacking order, lowest first.
fn is_behind(windows: &[Window], window: u32, point: Point) -> bool {
    let covers = |w: &Window| !w.popup && w.is_shown() && w.area_with_decoration().contains(point.0, point.1);
    windows.iter().skip_while(|w| w.id != window).skip(1).any(covers)
}

/// Returns the scroll containers of an object, innermost first. A popup is not clipped by the
/// scroll containers around its opener.
pub(super) fn panes(picture: &ObjectTree, at: usize) -> Vec<usize> {
    let chain = chain(picture, at);
    let end = popup_in(picture, &chain).map_or(chain.len(), |popup| popup + 1);
    chain[1..end.max(1)].iter().copied().filter(|&i| picture[i].role == n::SCROLL_PANE).collect()
}

/// Returns whether a rectangle has no position, even if its size is known. ATK then reports the
/// minimum integer as its coordinates.
fn has_no_position(rect: Rect) -> bool {
    let least = f64::from(i32::MIN);
    rect.x <= least || rect.y <= least
}

/// Returns the paths of the objects whose rectangles determine a position: the object itself, its
/// scroll containers, innermost first, and its window.
fn position_paths(picture: &ObjectTree, at: usize) -> Vec<String> {
    let window = chain(picture, at).last().copied().unwrap_or(at);
    let all = std::iter::once(at).chain(panes(picture, at)).chain([window]);
    all.map(|i| picture[i].path.clone()).collect()
}

/// Returns the bounding boxes of elements in screen coordinates; `None` for those without a
/// position, and if `on_top` is set, for those whose center another window covers. For elements
/// in popups and floating docks, covering windows are ignored.
pub(crate) async fn boxes(view: AppView<'_>, handles: &[Handle], on_top: bool) -> Result<Vec<Option<Rect>>> {
    let needs_windows = on_top || view.app.profile().places_are_in_the_window;
    let sight = if needs_windows { WindowStack::of(view.app).await? } else { None };
    // An element without a path has no position.
    let path = |handle: &Handle| view.app.path(*handle).map(|path| path.to_string()).unwrap_or_default();
    // The rectangles of the elements' windows are queried in the same round trip.
    let tops = handles.iter().filter_map(|handle| Some(view.last.top(view.index(*handle)?)));
    let mut tops: Vec<usize> = tops.filter(|_| sight.is_some()).collect();
    tops.sort_unstable();
    tops.dedup();
    let paths: Vec<String> = handles.iter().map(path).chain(view.last.paths(&tops)).collect();
    let mut rects = ask::extents_of(view.app, &paths).await?;
    let frames: HashMap<_, _> = tops.into_iter().zip(rects.split_off(handles.len())).collect();
    let mut shown_by: HashMap<usize, Option<u32>> = HashMap::new();
    for (handle, rect) in handles.iter().zip(&mut rects) {
        *rect = rect.filter(|rect| !has_no_position(*rect));
        let Some((at, place)) = view.index(*handle).zip(rect.as_mut()) else { continue };
        let chain = view.last.chain(at);
        let top = chain[chain.len() - 1];
        let frame = frames.get(&top).copied().flatten();
        *place = place.translate(offset(view, at, frame, sight.as_ref()).await?);
        let Some(sight) = sight.as_ref().filter(|_| on_top) else { continue };
        // The element is in a separate window.
        let floats = chain[..chain.len() - 1].iter().any(|&i| view.last[i].floats());
        if floats || popup_in(&view.last.picture, &chain).is_some() {
            continue;
        }
        if !shown_by.contains_key(&top) {
            let window = window::window_with(view, top, frame, &sight.windows).await?;
            shown_by.insert(top, window.map(|(window, _)| window.id));
        }
        if shown_by[&top].is_some_and(|window| is_behind(&sight.windows, window, place.center())) {
            *rect = None;
        }
    }
    Ok(rects)
}

/// Returns the offset from the toolkit's coordinates to screen coordinates; zero if they are the
/// same, or if the window is unknown. `frame` is the window's rectangle according to the toolkit.
async fn offset(
    view: AppView<'_>,
    at: usize,
    frame: Option<Rect>,
    sight: Option<&WindowStack>,
) -> Result<Point> {
    let sight = sight.filter(|_| view.app.profile().places_are_in_the_window);
    let Some(sight) = sight else { return Ok((0.0, 0.0)) };
    let shown = window::window_with(view, at, frame, &sight.windows).await?;
    let Some((window, Some(said))) = shown else { return Ok((0.0, 0.0)) };
    let (x, y) = extents::origin(&window, (said.width, said.height));
    Ok((x - said.x, y - said.y))
}

/// Returns the part of an element that its scroll containers show, in screen coordinates; the whole
/// element if they show none of it; `None` if it has no position.
pub(crate) async fn visible_part(view: AppView<'_>, handle: Handle) -> Result<Option<Rect>> {
    let Some(at) = view.index(handle) else { return Ok(None) };
    let sight = WindowStack::of(view.app).await?;
    let placed = locate_on_screen(view, at, sight.as_ref()).await?;
    Ok(placed.map(|placed| placed.seen.unwrap_or(placed.rect)))
}

/// Returns the position of an element, and the part that its scroll containers show; `None` if the
/// element has no position.
pub(crate) async fn locate_on_screen(
    view: AppView<'_>,
    at: usize,
    sight: Option<&WindowStack>,
) -> Result<Option<ElementPosition>> {
    let said = ask::extents_of(view.app, &position_paths(&view.last.picture, at)).await?;
    position_from_answers(view, at, &said, sight).await
}

/// Queries all rectangles that are needed to aim at an object, in one round trip.
///
/// # Errors
/// Returns an error if the app is gone or silent.
pub(crate) async fn aim_rects(view: AppView<'_>, at: usize) -> BusResult<[Vec<Option<Rect>>; 2]> {
    let mut paths = position_paths(&view.last.picture, at);
    let count = paths.len();
    paths.extend(view.last.paths(&possible_covers(&view.last.picture, at)));
    let mut own = query_extents(&view.app.link, &paths).await?;
    let over = own.split_off(count);
    Ok([own, over])
}

/// Computes the position of an element from the rectangles of its [`position_paths`]; `None` if the
/// element has no position.
pub(super) async fn position_from_answers(
    view: AppView<'_>,
    at: usize,
    said: &[Option<Rect>],
    sight: Option<&WindowStack>,
) -> Result<Option<ElementPosition>> {
    let [own, panes @ .., frame] = said else { return Ok(None) };
    let Some(rect) = own.filter(|rect| !has_no_position(*rect)) else { return Ok(None) };
    let offset = offset(view, at, *frame, sight).await?;
    tracing::debug!(at, ?said, ?offset, "where it is, the containers that it scrolls in, and its window");
    let seen = panes.iter().flatten().try_fold(rect, |seen, pane| seen.intersection(*pane));
    let (rect, seen) = (rect.translate(offset), seen.map(|seen| seen.translate(offset)));
    Ok(Some(ElementPosition { rect, seen, offset, frame: *frame }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Object;
    use crate::model::extents::tests::window;
    use crate::model::parents::DEEP;
    use crate::toolkit::profile::Toolkit;
    use stickpin_x11desk::Visibility;

    #[test]
    fn what_lies_behind_a_window_is_told_by_their_order() {
        let (low, high) = (window(1, "", (0.0, 0.0, 100.0, 100.0)), window(2, "", (50.0, 0.0, 100.0, 100.0)));
        let all = |high: Window| vec![low.clone(), high];
        let over = (60.0, 10.0);
        assert!(is_behind(&all(high.clone()), 1, over) && !is_behind(&all(high.clone()), 1, (10.0, 10.0)));
        assert!(!is_behind(&all(high.clone()), 2, over) && !is_behind(&[], 1, over));
        let minimised = Window { visibility: Visibility::Minimised, ..high.clone() };
        assert!(!is_behind(&all(minimised), 1, over));
        assert!(!is_behind(&all(Window { popup: true, ..high }), 1, over));
    }

    #[test]
    fn the_way_up_ends_at_the_window() {
        let object = |children: &[usize]| Object { children: children.to_vec(), ..Object::default() };
        let objects = vec![object(&[1, 4]), object(&[2]), object(&[3]), object(&[]), object(&[])];
        let picture = ObjectTree { toolkit: Toolkit::Gtk3, objects, truncated: false };
        assert_eq!(chain(&picture, 3), [3, 2, 1]);
        assert_eq!(chain(&picture, 4), [4]);
    }

    #[test]
    fn a_pop_up_is_not_cut_by_what_its_opener_scrolls_in() {
        let object =
            |role, children: &[usize]| Object { role, children: children.to_vec(), ..Object::default() };
        // A window with a scrolled combo box, whose list also scrolls.
        let objects = vec![
            object(75, &[1]),
            object(n::FRAME, &[2]),
            object(n::SCROLL_PANE, &[3]),
            object(n::COMBO_BOX, &[4]),
            object(n::MENU, &[5]),
            object(n::SCROLL_PANE, &[6]),
            object(n::LIST_ITEM, &[]),
        ];
        let mut picture = ObjectTree { toolkit: Toolkit::Gtk3, objects, truncated: false };
        assert_eq!(popup_in(&picture, &chain(&picture, 6)), Some(2));
        assert_eq!((panes(&picture, 6), panes(&picture, 3)), (vec![5], vec![2]));
        // A menu of a menu bar is at the position of the bar.
        assert_eq!(popup_in(&picture, &chain(&picture, 4)), None);
        picture.toolkit = Toolkit::Gtk4;
        picture.objects[4].name = Toolkit::Gtk4.profile().popover.unwrap().to_owned();
        assert_eq!(panes(&picture, 6), [5]);
        picture.objects[4].name.clear();
        assert_eq!(panes(&picture, 6), [5, 2]);
    }

    #[test]
    fn a_way_up_in_a_circle_ends() {
        let object = |children: &[usize]| Object { children: children.to_vec(), ..Object::default() };
        let objects = vec![object(&[]), object(&[2]), object(&[1])];
        let picture = ObjectTree { toolkit: Toolkit::Gtk3, objects, truncated: false };
        assert!(chain(&picture, 1).len() <= DEEP + 2);
    }
}
