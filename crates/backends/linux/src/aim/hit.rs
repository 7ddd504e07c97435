//! Whether an input at a point reaches an element: the X server says which window it goes to, the app which of its elements.

use super::place::shifted;
use crate::aim::there::There;
use crate::aim::{over, place, point, unread};
use crate::app::look::Sight;
use crate::app::{App, Reading, ask};
use crate::model::extents::{common, has};
use crate::model::floating::floats;
use crate::model::overlaps::{above_it, is_of, words};
use crate::model::parents::{DEEP, chain, popup_in};
use crate::model::roles::number as role;
use crate::model::{Picture, extents, states};
use crate::toolkit::Toolkit;
use stickpin_device::{Hit, Result};
use stickpin_tree::{Rect, quote};
use stickpin_x11desk::{Display, Presence, Window, X11, window_manager, windows};

/// What an input at a point of a window reaches, as the app says it.
#[derive(Debug)]
pub(crate) struct Within {
    pub(super) hit: Hit,
    /// Whether it named what it has there.
    pub(super) named: bool,
}

impl Within {
    /// The same, after it answered otherwise a moment ago: GTK 4 has no name for what was never shown before.
    pub(super) fn after(self, named: bool, toolkit: Toolkit) -> Hit {
        let came = toolkit.profile().new_is_silent && named && !self.named && self.hit == Hit::Target;
        let what = || "what came up when the pointer arrived".to_owned();
        if came { Hit::Covered { by: None, what: what() } } else { self.hit }
    }
}

/// The X window that shows an object: its pop-up, or its top-level window.
pub(crate) async fn window_of(
    app: &App,
    reading: &Reading,
    at: usize,
    windows: &[Window],
) -> Result<Option<Window>> {
    let Some(last) = &reading.last else { return Ok(None) };
    let top = last.chain(at).last().map(|&top| last.picture.objects[top].path.clone());
    let frame = ask::said(app, top.as_slice()).await?.pop().flatten();
    window_with(app, reading, at, frame, windows).await
}

/// The same, where the toolkit has said where the top-level window is.
pub(crate) async fn window_with(
    app: &App,
    reading: &Reading,
    at: usize,
    frame: Option<Rect>,
    windows: &[Window],
) -> Result<Option<Window>> {
    if let Some((popup, _)) = place::popup(app, reading, at, windows).await? {
        return Ok(Some(popup));
    }
    if let Some(floating) = floating(app, reading, at, windows).await? {
        return Ok(Some(floating));
    }
    let Some(last) = &reading.last else { return Ok(None) };
    let chain = last.chain(at);
    let Some(&top) = chain.last() else { return Ok(None) };
    let title = &last.picture.objects[top].name;
    let size = frame.map(|r| (r.width, r.height));
    Ok(extents::window_of(windows, app.info.pid, title, size).cloned())
}

/// The window of a dock of Qt that floats, where an object is in one. By its title and where it is: the app lists it below
/// the window that it can be put back into.
async fn floating(app: &App, reading: &Reading, at: usize, windows: &[Window]) -> Result<Option<Window>> {
    let Some(last) = reading.last.as_ref().filter(|last| last.picture.toolkit.profile().docks_float) else {
        return Ok(None);
    };
    let (objects, chain) = (&last.picture.objects, last.chain(at));
    let inner = &chain[..chain.len().saturating_sub(1)];
    let Some(&dock) = inner.iter().find(|&&i| floats(&objects[i])) else { return Ok(None) };
    let (title, path) = (objects[dock].name.clone(), objects[dock].path.clone());
    let Some(place) = ask::said(app, &[path]).await?.pop().flatten() else { return Ok(None) };
    let own = |w: &&Window| !w.popup && w.pid == app.info.pid && w.title == title;
    let shows = |w: &&Window| common(w.area, place) == Some(place);
    Ok(windows.iter().filter(own).find(shows).cloned())
}

/// A modal dialog that the app says it has and the display does not show yet: what it will cover counts as covered.
/// Where both know it, the display is the judge.
pub(crate) fn coming_dialog(app: &App, reading: &Reading, at: usize, windows: &[Window]) -> Option<String> {
    let picture = &reading.last.as_ref()?.picture;
    let own: Vec<&Window> =
        windows.iter().filter(|w| w.pid == app.info.pid && w.presence == Presence::Shown).collect();
    coming(picture, at, &own).map(|name| format!("the dialog {}, which is just opening", quote(name)))
}

/// Whether an input at a point goes to this window. On a display of the session's own, a window that merely lies in
/// the way is no hindrance: the right one is brought to the front, as a person would.
pub(crate) async fn window_hit(app: &App, window: &Window, (x, y): (f64, f64), look: &Sight) -> Result<Hit> {
    let top_at = move |d: &mut Display| windows::top_at(d, x, y);
    // A modal dialog takes the input of the whole window, wherever it stands.
    let alone = app.is_alone();
    if let Some(dialog) = look.windows.iter().find(|w| w.blocks(window, alone)) {
        let what = cover(app, dialog.clone(), &look.x11).await?;
        // That of another process is not in the tree.
        let own = dialog.pid == app.info.pid;
        return Ok(if own { Hit::Covered { by: None, what } } else { Hit::Held { by: None, what } });
    }
    let mut raised = !app.screen.is_own() || window.popup;
    loop {
        let top = look.x11.run(top_at).await?;
        if top == Some(window.frame) || top == Some(window.id) {
            return Ok(Hit::Target);
        }
        let windows = look.x11.run(windows::all).await?;
        let over = windows.iter().find(|w| top == Some(w.frame) || top == Some(w.id));
        let blocks =
            over.is_none_or(|over| over.popup || over.modal || over.transient_for == Some(window.id));
        if raised || blocks {
            let what = match over.cloned() {
                None => "a window of another program".to_owned(),
                Some(over) => cover(app, over, &look.x11).await?,
            };
            return Ok(if top.is_none() { Hit::OffScreen } else { Hit::Covered { by: None, what } });
        }
        raised = true;
        let window = window.clone();
        look.x11.run(move |d| window_manager::raise(d, &window).map(drop)).await?;
    }
}

/// A window that covers one of the app, in words: that of another process with its program, and with what that is opened
/// as where it belongs to the app.
pub(crate) async fn cover(app: &App, window: Window, x11: &X11) -> Result<String> {
    if window.pid == app.info.pid {
        return Ok(window.words());
    }
    let (own, alone) = (app.info.pid, app.is_alone());
    x11.run(move |d| {
        let host = window.transient_for;
        let belongs = windows::all(d)?.iter().any(|w| Some(w.id) == host && w.pid == own);
        let pid = window.pid.filter(|_| belongs || alone);
        let words = windows::words_with_program(d, &window)?;
        Ok(pid.map_or_else(|| words.clone(), |pid| format!("{words} (linux:{pid})")))
    })
    .await
}

/// Whether an input at a point of its window reaches an object; or why nobody knows. `asked`: the app is asked, too. `over`:
/// the places of what may lie over it, where they were asked just now.
pub(crate) async fn within_hit(
    app: &App,
    reading: &Reading,
    at: usize,
    point: (f64, f64),
    offset: (f64, f64),
    asked: bool,
    over: Option<&[Option<Rect>]>,
) -> Result<std::result::Result<Within, String>> {
    let ordered = asked && app.link.toolkit.profile().draws_in_order;
    if ordered && let Some(hit) = over::over_hit(app, reading, at, point, offset).await? {
        return Ok(Ok(Within { hit, named: true }));
    }
    let inner = match asked {
        true => match inner_hit(app, reading, at, point, offset).await? {
            Ok(inner) => inner,
            Err(why) => return Ok(Err(why)),
        },
        false => None,
    };
    let named = inner.is_some();
    let hit = match inner {
        None | Some(Hit::Target) => beside_hit(app, reading, at, point, offset, over).await?,
        Some(other) => other,
    };
    Ok(Ok(Within { hit, named }))
}

/// Whether an input at a point of the app reaches the object: the app is asked what it has there, from the window
/// down. None where it names nothing; or why nobody knows.
async fn inner_hit(
    app: &App,
    reading: &Reading,
    at: usize,
    point: (f64, f64),
    offset: (f64, f64),
) -> Result<std::result::Result<Option<Hit>, String>> {
    let Some(last) = &reading.last else { return Ok(Ok(None)) };
    let objects = &last.picture.objects;
    let above = last.chain(at);
    let Some(&top) = above.last() else { return Ok(Ok(None)) };
    let (own, toolkit) = (objects[at].words(), last.picture.toolkit);
    let page = above.iter().copied().find(|&holder| is_document(objects[holder].role)).unwrap_or(top);
    let (top, page) = (objects[top].path.clone(), objects[page].path.clone());
    // These know all that they show: where the window names nothing, what the element stands in has to.
    let all = toolkit.profile().knows_all_that_it_shows;
    let mut there = point::deepest(app, &top, point, offset).await?;
    if all && there == There::Nothing {
        there = point::deepest(app, &page, point, offset).await?;
    }
    let path = match there {
        There::Is(path) => path,
        There::Unknown(why) => return Ok(Err(why)),
        There::Nothing if all => {
            return Ok(Err(format!("the app names nothing where {own} is")));
        }
        There::Nothing => return Ok(Ok(None)),
    };
    named_hit(app, reading, at, path).await.map(|hit| Ok(Some(hit)))
}

/// Whether an input that goes to what the app named reaches an object.
async fn named_hit(app: &App, reading: &Reading, at: usize, path: String) -> Result<Hit> {
    let Some(last) = &reading.last else { return Ok(Hit::Target) };
    let above = last.chain(at);
    let objects = &last.picture.objects;
    let there = last.at(&path);
    let is_part = |there: usize| {
        let inside = last.chain(there).contains(&at);
        inside || above.contains(&there) || is_of(&objects[there], &objects[at])
    };
    if there.is_some_and(is_part) {
        return Ok(Hit::Target);
    }
    let Some(there) = there.filter(|&there| objects[there].shown) else {
        return unread::unread_hit(app, reading, at, &path).await;
    };
    let what = objects[there].words();
    let by = Some(app.ids.handle(&path));
    Ok(Hit::Covered { by, what })
}

/// Whether something lies over an element in its own window: a later child of what holds both. GTK draws children in
/// their order, and answers `GetAccessibleAtPoint` with the first that has the point, which is the one below.
async fn beside_hit(
    app: &App,
    reading: &Reading,
    at: usize,
    point: (f64, f64),
    offset: (f64, f64),
    said: Option<&[Option<Rect>]>,
) -> Result<Hit> {
    let Some(last) = &reading.last else { return Ok(Hit::Target) };
    let over = above_it(&last.picture, at);
    if over.is_empty() {
        return Ok(Hit::Target);
    }
    let said = match said {
        Some(said) => said.to_vec(),
        None => {
            let paths: Vec<String> = over.iter().map(|&i| last.picture.objects[i].path.clone()).collect();
            ask::said(app, &paths).await?
        }
    };
    let here = |rect: &Option<Rect>| rect.is_some_and(|rect| has(shifted(rect, offset), point));
    let Some(covers) = said.iter().position(here).map(|i| over[i]) else { return Ok(Hit::Target) };
    if is_picked(app, reading, at, point, offset).await? {
        return Ok(Hit::Target);
    }
    let Some(last) = &reading.last else { return Ok(Hit::Target) };
    let what = words(&last.picture, covers);
    let path = last.picture.objects[covers].path.clone();
    let by = Some(app.ids.handle(&path));
    Ok(Hit::Covered { by, what })
}

/// Whether GTK 4 says that a press at a point reaches an object or what is in it. What lets presses through, and what a
/// container does not draw, has its place above others and says nothing of it.
async fn is_picked(
    app: &App,
    reading: &Reading,
    at: usize,
    point: (f64, f64),
    offset: (f64, f64),
) -> Result<bool> {
    let Some(last) =
        reading.last.as_ref().filter(|last| last.picture.toolkit.profile().says_what_a_press_reaches)
    else {
        return Ok(false);
    };
    let (objects, chain) = (&last.picture.objects, last.chain(at));
    let Some(&top) = popup_in(&last.picture, &chain).map_or(chain.last(), |popup| chain.get(popup)) else {
        return Ok(false);
    };
    let (target, top) = (objects[at].path.clone(), objects[top].path.clone());
    let There::Is(mut there) = point::deepest(app, &top, point, offset).await? else { return Ok(false) };
    // From the object that is there up: what a control is made of inside was not read.
    for _ in 0..DEEP {
        if there == target {
            return Ok(true);
        }
        if there == top {
            break;
        }
        let Some(above) = unread::above_now(app, &there).await? else { break };
        there = above;
    }
    Ok(false)
}

/// Whether something with this role is a page or another document in a window.
fn is_document(number: u32) -> bool {
    use role::{DOCUMENT_FRAME, DOCUMENT_PRESENTATION, DOCUMENT_TEXT, DOCUMENT_WEB};
    matches!(number, DOCUMENT_FRAME | DOCUMENT_PRESENTATION | DOCUMENT_TEXT | DOCUMENT_WEB)
}

/// The name of a modal window of the app, other than the one that holds an object, that is none of these.
fn coming<'p>(picture: &'p Picture, at: usize, shown: &[&Window]) -> Option<&'p str> {
    let top = *chain(picture, at).last()?;
    // One that is modal itself may have others below it.
    if picture.objects[top].is(states::MODAL) {
        return None;
    }
    let windows = picture.root().children.iter().filter(|&&w| w != top).map(|&w| &picture.objects[w]);
    let mut modal = windows.filter(|o| o.is(states::MODAL) && states::seen(o.states, picture.toolkit));
    modal.find(|o| !shown.iter().any(|w| w.modal || w.title == o.name)).map(|o| o.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::reading;
    use crate::model::Object;
    use crate::model::overlaps::{is_frame, labels};
    use crate::tests::speaker::{FIRST, SECOND, Speaker, WINDOW};
    use stickpin_x11desk::Extents;

    fn window(title: &str, modal: bool) -> Window {
        Window {
            id: 1,
            frame: 2,
            pid: Some(3),
            title: title.to_owned(),
            area: Rect::default(),
            shadow: Extents::default(),
            decoration: Extents::default(),
            presence: Presence::Shown,
            popup: false,
            modal,
            transient_for: None,
            active: false,
        }
    }

    #[test]
    fn what_lies_over_an_element_comes_later_in_a_panel() {
        let object = |role, children: &[usize], extents| Object {
            role,
            children: children.to_vec(),
            extents,
            shown: true,
            ..Object::default()
        };
        let at = |x| Some([x, 0, 100, 40]);
        let objects = vec![
            object(75, &[1], None),
            object(role::FRAME, &[2], at(0)),
            object(role::PANEL, &[3, 6], at(0)),
            object(role::FILLER, &[4, 5], at(0)),
            object(role::PUSH_BUTTON, &[], at(0)),
            object(role::PUSH_BUTTON, &[], at(200)),
            object(role::PUSH_BUTTON, &[], at(50)),
        ];
        let mut picture = Picture { toolkit: Toolkit::Gtk3, objects, truncated: false };
        assert_eq!(above_it(&picture, 4), [6], "a box lays its children out side by side");
        assert!(above_it(&picture, 6).is_empty(), "what comes first lies below");
        picture.toolkit = Toolkit::Gtk4;
        assert_eq!(above_it(&picture, 4), [6]);
        assert!(above_it(&picture, 5).is_empty(), "it is elsewhere");
        picture.objects[6].role = role::SCROLL_BAR;
        assert!(above_it(&picture, 4).is_empty());
        picture.toolkit = Toolkit::Qt;
        picture.objects[6].role = role::PUSH_BUTTON;
        assert!(above_it(&picture, 4).is_empty(), "it is asked what has the point");
        assert_eq!(words(&picture, 6), "push button without a name");
        picture.objects[3].name = "Group".to_owned();
        assert_eq!(words(&picture, 2), "filler \"Group\"");
    }

    #[test]
    fn another_element_with_the_same_name_is_another_one() {
        let object = |path: &str, role, name: &str| Object {
            path: path.to_owned(),
            role,
            name: name.to_owned(),
            ..Object::default()
        };
        let target = object("/1", role::PUSH_BUTTON, "Delete");
        let label = object("/2", role::LABEL, "Delete");
        assert!(labels(&label, &target));
        assert!(!labels(&object("/3", role::PUSH_BUTTON, "Delete"), &target), "a twin");
        let link = Object { states: states::FOCUSABLE, ..object("/4", role::LINK, "Delete") };
        assert!(!labels(&link, &target), "what somebody can act on");
        assert!(!labels(&object("/5", role::FILLER, ""), &object("/6", role::PUSH_BUTTON, "")), "no name");
        let other = object("/7", role::LABEL, "Name:");
        let field = Object { labelled_by: vec!["/7".to_owned()], ..object("/8", role::ENTRY, "") };
        assert!(labels(&other, &field) && !labels(&other, &target));
        let panel = object("/9", role::PANEL, "");
        let nameless = Object { states: states::EDITABLE, ..object("/10", role::TEXT, "") };
        assert!(is_frame(&panel, &nameless) && !is_frame(&panel, &target));
        assert!(!is_frame(&object("/11", role::PUSH_BUTTON, ""), &nameless));
    }

    #[test]
    fn what_is_hidden_in_itself_is_named_all_the_same() {
        let object = |children: &[usize], shown| Object {
            role: role::FILLER,
            children: children.to_vec(),
            shown,
            ..Object::default()
        };
        let objects = vec![object(&[1], true), object(&[2], true), object(&[3], false), object(&[2], false)];
        let picture = Picture { toolkit: Toolkit::Gtk3, objects, truncated: false };
        assert_eq!(words(&picture, 1), "filler without a name");
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
        let mut picture = Picture { toolkit: Toolkit::Gtk3, objects, truncated: false };
        let (main, dialog, other) = (window("Profile", false), window("Leave?", false), window("x", true));
        assert_eq!(coming(&picture, 2, &[&main]), Some("Leave?"));
        assert_eq!(coming(&picture, 2, &[&main, &dialog]), None, "the display judges");
        assert_eq!(coming(&picture, 2, &[&main, &other]), None, "it is there under another title");
        assert_eq!(coming(&picture, 4, &[&main]), None, "what is in it is not covered by it");
        picture.objects[3].states = states::MODAL;
        assert_eq!(coming(&picture, 2, &[&main]), None, "it is not shown");
    }

    /// What a toolkit's app says of an input at its first button, when it answers so, and how often its window was asked.
    async fn within(
        toolkit: Toolkit,
        points: &[(&'static str, &'static str)],
        refuses: &[(&'static str, &'static str)],
    ) -> (std::result::Result<(Hit, bool), String>, usize) {
        let app = Speaker::start();
        let (mut device, _) = app.device().await;
        device.app.link.toolkit = toolkit;
        reading::look(&mut device, &[]).await.unwrap();
        app.asked();
        app.becomes(|now| (now.points, now.refuses) = (points.to_vec(), refuses.to_vec()));
        let first =
            device.reading.last.as_ref().unwrap().picture.objects.iter().position(|o| o.path == FIRST);
        let hit =
            within_hit(&device.app, &device.reading, first.unwrap(), (50.0, 20.0), (0.0, 0.0), true, None)
                .await
                .unwrap();
        let asked = app.asked();
        let of_window = |(path, what, _): &&(String, String, i32)| path == WINDOW && what == POINT;
        (hit.map(|within| (within.hit, within.named)), asked.iter().filter(of_window).count())
    }

    const POINT: &str = "GetAccessibleAtPoint";
    const NOTHING: &str = "/org/a11y/atspi/null";

    #[tokio::test]
    async fn what_an_app_names_at_a_point_is_the_target_or_covers_it() {
        for toolkit in [Toolkit::Gecko, Toolkit::Office, Toolkit::Gtk4, Toolkit::Other] {
            let (hit, asked) = within(toolkit, &[(WINDOW, FIRST)], &[]).await;
            assert_eq!((hit, asked), (Ok((Hit::Target, true)), 1), "{toolkit:?}");
            let (hit, _) = within(toolkit, &[(WINDOW, SECOND)], &[]).await;
            assert!(matches!(&hit, Ok((Hit::Covered { what, .. }, _)) if what.contains("Other")), "{hit:?}");
        }
    }

    #[tokio::test]
    async fn an_empty_answer_is_none_where_all_that_is_shown_has_a_name() {
        let why = Err("the app names nothing where push button \"Save\" is".to_owned());
        for toolkit in [Toolkit::Gecko, Toolkit::Office] {
            let (hit, asked) = within(toolkit, &[(WINDOW, NOTHING)], &[]).await;
            assert_eq!((hit, asked), (why.clone(), 2), "{toolkit:?}");
        }
        // Others do not name all that they have.
        for toolkit in [Toolkit::Gtk4, Toolkit::Other] {
            let (hit, _) = within(toolkit, &[(WINDOW, NOTHING)], &[]).await;
            assert_eq!(hit, Ok((Hit::Target, false)), "{toolkit:?}");
        }
    }

    #[tokio::test]
    async fn an_error_is_no_word_that_the_target_is_there() {
        for toolkit in [Toolkit::Gecko, Toolkit::Office, Toolkit::Gtk4, Toolkit::Other] {
            for (refuses, says) in [
                (&[(WINDOW, POINT)][..], "not now"),
                (&[(FIRST, POINT)], "not now"),
                (&[(FIRST, "GetState")], "has just gone"),
            ] {
                let (hit, _) = within(toolkit, &[(WINDOW, FIRST)], refuses).await;
                assert!(hit.as_ref().is_err_and(|why| why.contains(says)), "{toolkit:?} {says}: {hit:?}");
            }
        }
    }
}
