//! Where things are: what the toolkit says of its elements, put where the X server shows their windows.

use crate::aim::hit;
use crate::app::ask::extents_said;
use crate::app::look::{Placed, Places, Sight};
use crate::app::{App, Reading, ask, life, reading};
use crate::bus::Link;
use crate::bus::fault::Fault;
use crate::model::extents::{common, has};
use crate::model::floating::floats;
use crate::model::overlaps::above_it;
use crate::model::parents::{POPOVER, chain, is_entry, popup_in};
use crate::model::roles::number as n;
use crate::model::{Object, Picture, extents};
use crate::toolkit::Popups;
use hashbrown::HashMap;
use stickpin_device::Result;
use stickpin_tree::{Handle, Rect};
use stickpin_x11desk::{Presence, Window, X11};

/// Whether another window than a pop-up, which may be larger than what it shows, lies over a point of a window. `windows` are
/// the lowest first.
fn is_behind(windows: &[Window], window: u32, point: (f64, f64)) -> bool {
    let Some(at) = windows.iter().position(|w| w.id == window) else { return false };
    let covers = |w: &Window| !w.popup && w.presence == Presence::Shown && has(w.whole(), point);
    windows[at + 1..].iter().any(covers)
}

/// The scrolling containers that an object is shown in, the innermost first. A pop-up hangs over those around its opener.
pub(super) fn panes(picture: &Picture, at: usize) -> Vec<usize> {
    let chain = chain(picture, at);
    let end = popup_in(picture, &chain).map_or(chain.len(), |popup| popup + 1);
    chain[1..end.max(1)].iter().copied().filter(|&i| scrolls(&picture.objects[i])).collect()
}

/// Roles that show a part of what they hold.
pub(super) fn scrolls(object: &Object) -> bool {
    object.role == n::SCROLL_PANE
}

/// Whether a toolkit says with this that something is nowhere (ATK: the smallest number), though it knows how large it is.
fn nowhere(rect: Rect) -> bool {
    let least = f64::from(i32::MIN);
    rect.x <= least || rect.y <= least
}

pub(super) fn shifted(rect: Rect, (x, y): (f64, f64)) -> Rect {
    Rect { x: rect.x + x, y: rect.y + y, ..rect }
}

/// What tells where an object is: itself, the containers that it scrolls in, the innermost first, and its window.
fn whereabouts(picture: &Picture, at: usize) -> Vec<String> {
    let path = |i: usize| picture.objects[i].path.clone();
    let mut paths = vec![path(at)];
    paths.extend(panes(picture, at).into_iter().map(path));
    paths.push(path(chain(picture, at).last().copied().unwrap_or(at)));
    paths
}

/// The windows of the display, where there is one.
pub(crate) async fn sight(app: &App) -> Result<Option<Sight>> {
    Sight::of(&app.screen).await
}

/// Where elements are on the screen.
pub(crate) async fn boxes(app: &App, reading: &Reading, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
    let known: Vec<Option<String>> =
        handles.iter().map(|h| app.path(*h).ok().map(|path| path.to_string())).collect();
    let paths: Vec<String> = known.iter().flatten().cloned().collect();
    let mut said = ask::said(app, &paths).await?.into_iter();
    let mut rects: Vec<Option<Rect>> =
        known.iter().map(|path| path.as_ref().and_then(|_| said.next().flatten())).collect();
    rects.iter_mut().for_each(|rect| *rect = rect.filter(|rect| !nowhere(*rect)));
    if app.link.toolkit.profile().places_are_in_the_window
        && let Some(sight) = sight(app).await?
    {
        let mut offsets = HashMap::new();
        for (handle, rect) in handles.iter().zip(&mut rects) {
            let (Some(at), Some(rect)) = (reading::index(app, reading, *handle), rect.as_mut()) else {
                continue;
            };
            *rect = shifted(*rect, offset(app, reading, at, &sight, &mut offsets).await?);
        }
    }
    Ok(rects)
}

/// The same, without those whose middle lies behind another window of the display.
pub(crate) async fn boxes_on_top(
    app: &App,
    reading: &Reading,
    handles: &[Handle],
) -> Result<Vec<Option<Rect>>> {
    let mut rects = boxes(app, reading, handles).await?;
    let Some(sight) = sight(app).await? else { return Ok(rects) };
    let mut tops: HashMap<usize, Option<u32>> = HashMap::new();
    for (handle, rect) in handles.iter().zip(&mut rects) {
        let (Some(at), Some(last), Some(place)) =
            (reading::index(app, reading, *handle), &reading.last, *rect)
        else {
            continue;
        };
        let picture = &last.picture;
        let chain = chain(picture, at);
        // What has a window of its own is above.
        let apart = chain[..chain.len() - 1].iter().any(|&i| floats(&picture.objects[i]));
        if apart || popup_in(picture, &chain).is_some() {
            continue;
        }
        let top = *chain.last().unwrap_or(&at);
        let window = match tops.get(&top) {
            Some(&known) => known,
            None => {
                let path = picture.objects[top].path.clone();
                let frame = ask::said(app, &[path]).await?.pop().flatten();
                let window =
                    hit::window_with(app, reading, top, frame, &sight.windows).await?.map(|window| window.id);
                tops.insert(top, window);
                window
            }
        };
        if window.is_some_and(|window| is_behind(&sight.windows, window, place.center())) {
            *rect = None;
        }
    }
    Ok(rects)
}

/// What has to be added to what the toolkit says of an object.
async fn offset(
    app: &App,
    reading: &Reading,
    at: usize,
    sight: &Sight,
    known: &mut HashMap<usize, (f64, f64)>,
) -> Result<(f64, f64)> {
    let Some(last) = &reading.last else { return Ok((0.0, 0.0)) };
    let chain = last.chain(at);
    let top = *chain.last().unwrap_or(&at);
    let path = last.picture.objects[top].path.clone();
    if let Some((window, shown)) = popup(app, reading, at, &sight.windows).await? {
        let (x, y) = extents::origin(&window, (shown.width, shown.height));
        return Ok((x - shown.x, y - shown.y));
    }
    if let Some(&offset) = known.get(&top) {
        return Ok(offset);
    }
    let frame = ask::said(app, &[path]).await?.pop().flatten();
    let offset = offset_of(app, reading, top, frame, sight);
    known.insert(top, offset);
    Ok(offset)
}

/// What has to be added to what the toolkit says of what stands in one of its windows, which it says is there.
fn offset_of(app: &App, reading: &Reading, top: usize, frame: Option<Rect>, sight: &Sight) -> (f64, f64) {
    let (Some(last), Some(frame)) = (&reading.last, frame) else { return (0.0, 0.0) };
    let title = &last.picture.objects[top].name;
    let size = (frame.width, frame.height);
    let window = extents::window_of(&sight.windows, app.info.pid, title, Some(size));
    window.map_or((0.0, 0.0), |window| {
        let (x, y) = extents::origin(window, size);
        (x - frame.x, y - frame.y)
    })
}

/// The pop-up window that shows an object, and where the app says that what it shows is; none where the object is in
/// the window of the app.
pub(crate) async fn popup(
    app: &App,
    reading: &Reading,
    at: usize,
    windows: &[Window],
) -> Result<Option<(Window, Rect)>> {
    let Some(last) = &reading.last else { return Ok(None) };
    let (picture, pid) = (&last.picture, app.info.pid);
    if !windows.iter().any(|w| w.popup && w.pid == pid) {
        return Ok(None);
    }
    let chain = chain(picture, at);
    let relative = picture.toolkit.profile().places_are_in_the_window;
    let path = |&i: &usize| picture.objects[i].path.clone();
    if let Some(popup) = popup_in(picture, &chain) {
        let popup = chain[popup];
        // A menu of GTK 3 says where it was opened, not where it is: its entries are there.
        let children = picture.objects[popup].children.iter();
        let entries = children.clone().any(|&child| is_entry(Some(picture.objects[child].role)));
        let shows = |o: &Object| o.shown && (!entries || is_entry(Some(o.role)) || o.role == n::MENU);
        let shown = children.filter(|&&child| shows(&picture.objects[child]));
        let paths: Vec<String> = if relative { vec![path(&popup)] } else { shown.map(path).collect() };
        let said = ask::said(app, &paths).await?;
        let Some(area) = extents::around(said.into_iter().flatten()) else { return Ok(None) };
        let window = match relative {
            true => extents::popup_of(windows, pid, (area.width, area.height)),
            false => extents::popup_at(windows, pid, area),
        };
        return Ok(window.map(|window| (window.clone(), area)));
    }
    // Outside in: a pop-up may be a top-level thing of the app, or unknown to us by its role.
    let names_popups = picture.objects.iter().any(|o| o.name == POPOVER);
    let asked: Vec<String> = match picture.toolkit.profile().popups {
        Popups::InWindows if names_popups => Vec::new(),
        Popups::InWindows => chain.iter().rev().skip(1).map(path).collect(),
        Popups::AsWindows => chain.last().map(path).into_iter().collect(),
        Popups::Anywhere => chain.iter().rev().map(path).collect(),
    };
    let said = ask::said(app, &asked).await?;
    Ok(said.into_iter().flatten().find_map(|area| {
        let popup = extents::popup_of(windows, pid, (area.width, area.height));
        let popup = popup.filter(|popup| relative || common(area, popup.area) == Some(area));
        popup.map(|popup| (popup.clone(), area))
    }))
}

/// What of an element its scrolling containers show, on the screen.
pub(crate) async fn in_sight(app: &App, reading: &Reading, handle: Handle) -> Result<Option<Rect>> {
    let Some(at) = reading::index(app, reading, handle) else { return Ok(None) };
    let sight = sight(app).await?;
    Ok(placed(app, reading, at, sight.as_ref()).await?.and_then(|placed| placed.seen))
}

/// Where an element is, and what of it can be seen between the containers that it scrolls in.
pub(crate) async fn placed(
    app: &App,
    reading: &Reading,
    at: usize,
    sight: Option<&Sight>,
) -> Result<Option<Placed>> {
    let Some(last) = &reading.last else { return Ok(None) };
    let said = ask::said(app, &whereabouts(&last.picture, at)).await?;
    place(app, reading, at, &said, sight).await
}

/// The places that an aim at an object is told by, asked in one go.
///
/// # Errors
/// When the app is gone or silent.
pub(crate) async fn places(link: &Link, picture: &Picture, at: usize) -> std::result::Result<Places, Fault> {
    let mut paths = whereabouts(picture, at);
    let count = paths.len();
    paths.extend(above_it(picture, at).into_iter().map(|i| picture.objects[i].path.clone()));
    let mut own = extents_said(link, &paths).await?;
    let over = own.split_off(count);
    Ok(Places { own, over })
}

/// Where an element is with the windows of the display, which are asked for at the same time. `known`: the places that it
/// is told by, where they were asked just now.
pub(crate) async fn placed_in_sight(
    app: &App,
    reading: &Reading,
    at: usize,
    known: Option<&Places>,
) -> Result<(Option<Sight>, Option<Placed>)> {
    let Some(last) = &reading.last else { return Ok((sight(app).await?, None)) };
    let paths = whereabouts(&last.picture, at);
    let said = async {
        match known {
            Some(places) => Ok(places.own.clone()),
            None => extents_said(&app.link, &paths).await,
        }
    };
    let (sight, said) = tokio::join!(Sight::of(&app.screen), said);
    let (sight, said) = match said {
        Ok(said) => (sight?, said),
        Err(fault) => return Err(life::failed(app, fault).await),
    };
    let placed = place(app, reading, at, &said, sight.as_ref()).await?;
    Ok((sight, placed))
}

/// Where an element is by what was said of its [`whereabouts`].
async fn place(
    app: &App,
    reading: &Reading,
    at: usize,
    said: &[Option<Rect>],
    sight: Option<&Sight>,
) -> Result<Option<Placed>> {
    let [own, panes @ .., frame] = said else { return Ok(None) };
    let Some(rect) = own.filter(|rect| !nowhere(*rect)) else { return Ok(None) };
    let offset = match (sight, &reading.last) {
        (Some(sight), Some(last)) if app.link.toolkit.profile().places_are_in_the_window => {
            let top = last.chain(at).last().copied().unwrap_or(at);
            let mut known = HashMap::from_iter([(top, offset_of(app, reading, top, *frame, sight))]);
            offset(app, reading, at, sight, &mut known).await?
        }
        _ => (0.0, 0.0),
    };
    tracing::debug!(at, ?said, ?offset, "where it is, the containers that it scrolls in, and its window");
    let seen = panes.iter().flatten().try_fold(rect, |seen, pane| common(seen, *pane));
    Ok(Some(Placed {
        rect: shifted(rect, offset),
        seen: seen.map(|seen| shifted(seen, offset)),
        offset,
        frame: *frame,
    }))
}

/// The window of the app that has the focus, else its topmost; with the display.
pub(crate) async fn active_window(app: &App) -> Result<Option<(X11, Window)>> {
    let Some(sight) = sight(app).await? else { return Ok(None) };
    let pid = app.info.pid;
    let own = || sight.windows.iter().filter(|w| (w.pid == pid || pid.is_none()) && !w.popup);
    let shown = || own().filter(|w| w.presence == Presence::Shown);
    let found = own().find(|w| w.active).or_else(|| shown().next_back()).or_else(|| own().next_back());
    Ok(found.cloned().map(|window| (sight.x11.clone(), window)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::extents::tests::window;
    use crate::model::parents::DEEP;
    use crate::toolkit::Toolkit;

    #[test]
    fn what_lies_behind_a_window_is_told_by_their_order() {
        let (low, high) = (window(1, "", (0.0, 0.0, 100.0, 100.0)), window(2, "", (50.0, 0.0, 100.0, 100.0)));
        let all = |high: Window| vec![low.clone(), high];
        let over = (60.0, 10.0);
        assert!(is_behind(&all(high.clone()), 1, over) && !is_behind(&all(high.clone()), 1, (10.0, 10.0)));
        assert!(!is_behind(&all(high.clone()), 2, over) && !is_behind(&[], 1, over));
        let minimised = Window { presence: Presence::Minimised, ..high.clone() };
        assert!(!is_behind(&all(minimised), 1, over));
        assert!(!is_behind(&all(Window { popup: true, ..high }), 1, over));
    }

    #[test]
    fn the_way_up_ends_at_the_window() {
        let object = |children: &[usize]| Object { children: children.to_vec(), ..Object::default() };
        let objects = vec![object(&[1, 4]), object(&[2]), object(&[3]), object(&[]), object(&[])];
        let picture = Picture { toolkit: Toolkit::Gtk3, objects, truncated: false };
        assert_eq!(chain(&picture, 3), [3, 2, 1]);
        assert_eq!(chain(&picture, 4), [4]);
    }

    #[test]
    fn a_pop_up_is_not_cut_by_what_its_opener_scrolls_in() {
        let object =
            |role, children: &[usize]| Object { role, children: children.to_vec(), ..Object::default() };
        // A window with a scrolled combo box, whose list scrolls, too.
        let objects = vec![
            object(75, &[1]),
            object(n::FRAME, &[2]),
            object(n::SCROLL_PANE, &[3]),
            object(n::COMBO_BOX, &[4]),
            object(n::MENU, &[5]),
            object(n::SCROLL_PANE, &[6]),
            object(n::LIST_ITEM, &[]),
        ];
        let mut picture = Picture { toolkit: Toolkit::Gtk3, objects, truncated: false };
        assert_eq!(popup_in(&picture, &chain(&picture, 6)), Some(2));
        assert_eq!((panes(&picture, 6), panes(&picture, 3)), (vec![5], vec![2]));
        // A menu of a menu bar is where the bar is.
        assert_eq!(popup_in(&picture, &chain(&picture, 4)), None);
        picture.toolkit = Toolkit::Gtk4;
        picture.objects[4].name = POPOVER.to_owned();
        assert_eq!(panes(&picture, 6), [5]);
        picture.objects[4].name.clear();
        assert_eq!(panes(&picture, 6), [5, 2]);
    }

    #[test]
    fn a_way_up_in_a_circle_ends() {
        let object = |children: &[usize]| Object { children: children.to_vec(), ..Object::default() };
        let objects = vec![object(&[]), object(&[2]), object(&[1])];
        let picture = Picture { toolkit: Toolkit::Gtk3, objects, truncated: false };
        assert!(chain(&picture, 1).len() <= DEEP + 2);
    }
}
