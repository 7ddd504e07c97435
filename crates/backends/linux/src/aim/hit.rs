//! What lies under a point: whether an input there reaches the element that it is meant for, and
//! which element it reaches where it is meant for none. The X server says which window gets it
//! (`aim/window.rs`), the app what it has there (`named`), the order of what it holds what lies
//! over that (`order`), and what it lies in whose it is where it was not read (`unread`).

pub(super) mod named;
pub(super) mod order;
mod unread;

use crate::aim::hit::named::{deepest, header_at};
use crate::aim::place::{self, shifted};
use crate::aim::window::{self, window_hit};
use crate::app::look::Sight;
use crate::app::{LinuxDevice, View, ask, reading};
use crate::model::Picture;
use crate::model::extents::has;
use crate::model::overlaps::{above_it, is_of, words};
use crate::model::parents::{DEEP, POPOVER, popup_in};
use crate::model::roles::number as role;
use crate::toolkit::{Popups, Toolkit};
use stickpin_device::{Error, Hit, Result};
use stickpin_tree::{Handle, Rect};
use stickpin_x11desk::Window;

/// Why it was not told what lies under a point.
#[derive(Debug)]
pub(crate) enum Unresolved {
    /// Nobody knows, and why. It may be told when it is asked again.
    Unknown(String),
    Failed(Error),
}

impl From<Error> for Unresolved {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Unresolved {
    /// The error of an input at something of which nobody knows what it would reach.
    pub(crate) fn at(self, target: &str) -> Error {
        match self {
            Self::Failed(error) => error,
            Self::Unknown(why) => {
                let message = format!("what an input at {target} would reach is not known: {why}");
                Error::element_covered(message)
                    .hint("it was looked at twice; stickpin snapshot -i shows what is there now")
            }
        }
    }
}

pub(crate) type Resolved<T> = Result<T, Unresolved>;

/// A point of the screen, and what has to be added there to positions of the toolkit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot<'d> {
    pub(crate) view: View<'d>,
    pub(crate) point: (f64, f64),
    pub(crate) offset: (f64, f64),
}

impl Spot<'_> {
    /// Whether it is in a place, as the toolkit says that.
    fn is_in(&self, place: Rect) -> bool {
        has(shifted(place, self.offset), self.point)
    }
}

/// An input that is meant for an object in a window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meant<'d> {
    pub(crate) at: usize,
    pub(crate) window: &'d Window,
    pub(crate) sight: &'d Sight,
    /// Whether that window is known to be the topmost there.
    pub(crate) on_top: bool,
    /// Whether the app is asked what it has there: not where nothing else of it can receive the
    /// input.
    pub(crate) asked: bool,
    /// The places of what may lie over the object, where they were asked just now.
    pub(crate) over: Option<&'d [Option<Rect>]>,
}

/// What an input reaches that is meant for an object.
#[derive(Debug)]
pub(crate) struct Under {
    pub(crate) hit: Hit,
    /// Whether the app named what it has there.
    pub(crate) named: bool,
}

impl Under {
    /// The hit of a second look, after the app answered otherwise a moment ago: GTK 4 has no name
    /// for what was never
    /// shown before.
    pub(crate) fn after(self, named: bool, toolkit: Toolkit) -> Hit {
        let came = toolkit.profile().new_is_silent && named && !self.named && self.hit == Hit::Target;
        let what = || "what came up when the pointer arrived".to_owned();
        if came { Hit::Covered { by: None, what: what() } } else { self.hit }
    }
}

/// What an input at a spot reaches that is meant for an object.
pub(crate) async fn under(spot: Spot<'_>, meant: Meant<'_>) -> Resolved<Under> {
    let Meant { at, window, sight, on_top, asked, over } = meant;
    let hit = match window::coming_dialog(spot.view, at, &sight.windows) {
        Some(what) => Hit::Covered { by: None, what },
        None if on_top => Hit::Target,
        None => window_hit(spot.view.app, window, spot.point, sight).await?,
    };
    if hit != Hit::Target {
        return Ok(Under { hit, named: false });
    }
    within(spot, at, asked, over).await
}

/// What lies there, for an input that goes to the window of the object.
async fn within(spot: Spot<'_>, at: usize, asked: bool, over: Option<&[Option<Rect>]>) -> Resolved<Under> {
    let ordered = asked && spot.view.app.link.toolkit.profile().draws_in_order;
    if ordered && let Some(hit) = order::over_hit(spot, at).await? {
        return Ok(Under { hit, named: true });
    }
    let inner = if asked { inner_hit(spot, at).await? } else { None };
    let named = inner.is_some();
    let hit = match inner {
        None | Some(Hit::Target) => beside_hit(spot, at, over).await?,
        Some(other) => other,
    };
    Ok(Under { hit, named })
}

/// Whether an input at a spot reaches an object: the app is asked what it has there, from the
/// window down. None where it names nothing.
async fn inner_hit(spot: Spot<'_>, at: usize) -> Resolved<Option<Hit>> {
    let last = spot.view.last;
    let (objects, above, top) = (last.objects(), last.chain(at), last.top(at));
    let page = above.iter().copied().find(|&holder| is_document(objects[holder].role)).unwrap_or(top);
    // These know all that they show: where the window names nothing, what the element stands in has
    // to.
    let all = last.picture.toolkit.profile().knows_all_that_it_shows;
    let mut there = deepest(spot, &objects[top].path).await?;
    if all && there.is_none() {
        there = deepest(spot, &objects[page].path).await?;
    }
    match there {
        Some(path) => Ok(Some(named_hit(spot.view, at, &path).await?)),
        None if all => {
            Err(Unresolved::Unknown(format!("the app names nothing where {} is", objects[at].words())))
        }
        None => Ok(None),
    }
}

/// Whether an input that goes to what the app named reaches an object.
async fn named_hit(view: View<'_>, at: usize, path: &str) -> Result<Hit> {
    let (last, objects) = (view.last, view.last.objects());
    let there = last.at(path);
    let is_part = |there: usize| {
        let inside = last.chain(there).contains(&at);
        inside || last.chain(at).contains(&there) || is_of(&objects[there], &objects[at])
    };
    if there.is_some_and(is_part) {
        return Ok(Hit::Target);
    }
    let Some(there) = there.filter(|&there| objects[there].shown) else {
        return unread::unread_hit(view, at, path).await;
    };
    Ok(Hit::Covered { by: Some(view.app.ids.handle(path)), what: objects[there].words() })
}

/// Whether something lies over an element in its own window: a later child of what holds both. GTK
/// draws children in their order, and answers `GetAccessibleAtPoint` with the first that has the
/// point, which is the one below. `said`: where those are, if that was asked just now.
async fn beside_hit(spot: Spot<'_>, at: usize, said: Option<&[Option<Rect>]>) -> Resolved<Hit> {
    let View { app, last } = spot.view;
    let over = above_it(&last.picture, at);
    if over.is_empty() {
        return Ok(Hit::Target);
    }
    let said = match said {
        Some(said) => said.to_vec(),
        None => ask::said(app, &last.paths(&over)).await?,
    };
    let here = |rect: &Option<Rect>| rect.is_some_and(|rect| spot.is_in(rect));
    let Some(covers) = said.iter().position(here).map(|i| over[i]) else { return Ok(Hit::Target) };
    if is_picked(spot, at).await? {
        return Ok(Hit::Target);
    }
    let by = Some(app.ids.handle(&last.objects()[covers].path));
    Ok(Hit::Covered { by, what: words(&last.picture, covers) })
}

/// Whether GTK 4 says that a press at a spot reaches an object or what is in it. What lets presses
/// through, and what a container does not draw, has its place above others and says nothing of it.
async fn is_picked(spot: Spot<'_>, at: usize) -> Result<bool> {
    let View { app, last } = spot.view;
    if !last.picture.toolkit.profile().says_what_a_press_reaches {
        return Ok(false);
    }
    let (objects, chain) = (last.objects(), last.chain(at));
    let top = match popup_in(&last.picture, &chain) {
        Some(popup) => chain[popup],
        None => last.top(at),
    };
    let mut there = match deepest(spot, &objects[top].path).await {
        Ok(Some(there)) => there,
        Ok(None) | Err(Unresolved::Unknown(_)) => return Ok(false),
        Err(Unresolved::Failed(error)) => return Err(error),
    };
    // From the object that is there up: what a control is made of inside was not read.
    for _ in 0..DEEP {
        if there == objects[at].path {
            return Ok(true);
        }
        if there == objects[top].path {
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

/// The element that an input at a point of the screen reaches.
///
/// # Errors
/// `ELEMENT_COVERED` when the app does not say what it has there.
pub(crate) async fn element_there(device: &mut LinuxDevice, point: (f64, f64)) -> Result<Option<Handle>> {
    let mut found = once_there(device, point).await;
    if let Err(Unresolved::Unknown(why)) = &found {
        // It may have changed in that moment.
        tracing::debug!(?point, "is looked at again: {why}");
        reading::look(device, &[]).await?;
        found = once_there(device, point).await;
    }
    found.map_err(|unresolved| unresolved.at(&format!("{},{}", point.0, point.1)))
}

/// The innermost element at a point, looked at once.
async fn once_there(device: &mut LinuxDevice, (x, y): (f64, f64)) -> Resolved<Option<Handle>> {
    let Some(sight) = Sight::of(&device.app.screen).await? else {
        return Err(device.app.screen.unseen("tell what is at a point").into());
    };
    if device.last.tree.is_none() {
        reading::look(device, &[]).await?;
    }
    let Some(window) = sight.at((x, y)).await?.filter(|w| w.pid == device.app.info.pid) else {
        return Ok(None);
    };
    let (view, last) = (device.view(), &device.last);
    // GTK 4 answers for a window as if none of its pop-ups were there: what lies in one is asked.
    let apart = window.popup && last.picture.toolkit.profile().popups == Popups::InWindows;
    let tops = if apart { in_popovers(&last.picture) } else { last.picture.root().children.clone() };
    for at in tops {
        let shown_by = window::window_of(view, at, &sight.windows).await?;
        let of_another = |w: &Window| w.id != window.id && (apart || !window.popup);
        if shown_by.is_none_or(|w| of_another(&w)) {
            continue;
        }
        let offset = match place::placed(view, at, Some(&sight)).await? {
            Some(placed) if (window.popup && !apart) || has(placed.rect, (x, y)) => placed.offset,
            _ => continue,
        };
        let path = &last.objects()[at].path;
        let found = match deepest(Spot { view, point: (x, y), offset }, path).await? {
            Some(found) => found,
            None if apart => path.clone(),
            None => continue,
        };
        return match read_at(device, &found).await? {
            Some(at) => uppermost(device, at, (x, y), offset).await.map(Some),
            None => Ok(None),
        };
    }
    Ok(None)
}

/// What an input at a point goes to, from what the app named there: what lies over that, if
/// anything does, and what lies over that again.
async fn uppermost(
    device: &mut LinuxDevice,
    mut at: usize,
    point: (f64, f64),
    offset: (f64, f64),
) -> Resolved<Handle> {
    // Each step goes to what comes later in the order of the app.
    for _ in 0..DEEP {
        let spot = Spot { view: device.view(), point, offset };
        let ordered = device.app.link.toolkit.profile().draws_in_order && order::tells(spot, at).await?;
        let over = if ordered { order::over(spot, at).await? } else { None };
        let Some(over) = over else {
            let header = header_at(spot, at).await?;
            let path = header.as_ref().unwrap_or(&device.last.objects()[at].path);
            return Ok(device.app.ids.handle(path));
        };
        let found = deepest(spot, &over).await?.unwrap_or(over);
        let Some(next) = read_at(device, &found).await? else {
            return Err(Unresolved::Unknown("what the app has there is not in what it shows".to_owned()));
        };
        at = next;
    }
    Err(Unresolved::Unknown("the app names one thing over another without end".to_owned()))
}

/// An object as it was read, by its index; what was not is read now.
async fn read_at(device: &mut LinuxDevice, path: &str) -> Result<Option<usize>> {
    if device.last.at(path).is_none() {
        reading::look(device, &[]).await?;
    }
    Ok(device.last.at(path))
}

/// What is shown in the pop-ups of GTK 4.
fn in_popovers(picture: &Picture) -> Vec<usize> {
    let popovers = picture.objects.iter().filter(|object| object.shown && object.name == POPOVER);
    let inside = popovers.flat_map(|popover| popover.children.iter().copied());
    inside.filter(|&at| picture.objects[at].shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::overlaps::{is_frame, labels};
    use crate::model::{Object, states};
    use crate::tests::heap::spot;
    use crate::tests::speaker::{FIRST, SECOND, Speaker, WINDOW};

    /// Why nobody knows what is there.
    fn why(unresolved: Unresolved) -> String {
        match unresolved {
            Unresolved::Unknown(why) => why,
            Unresolved::Failed(error) => panic!("{error}"),
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

    /// What a toolkit's app says of an input at its first button, when it answers so, and how often
    /// its window was asked.
    async fn within(
        toolkit: Toolkit,
        points: &[(&'static str, &'static str)],
        refuses: &[(&'static str, &'static str)],
    ) -> (Result<(Hit, bool), String>, usize) {
        let app = Speaker::start();
        let (mut device, _) = app.device().await;
        device.app.link.toolkit = toolkit;
        reading::look(&mut device, &[]).await.unwrap();
        app.asked();
        app.becomes(|now| (now.points, now.refuses) = (points.to_vec(), refuses.to_vec()));
        let first = device.last.at(FIRST).unwrap();
        let hit = super::within(spot(&device, (50.0, 20.0), (0.0, 0.0)), first, true, None).await;
        let asked = app.asked();
        let of_window = |(path, what, _): &&(String, String, i32)| path == WINDOW && what == POINT;
        (hit.map(|under| (under.hit, under.named)).map_err(why), asked.iter().filter(of_window).count())
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

    /// A point of both buttons where one lies over the other.
    const OVERLAP: (f64, f64) = (50.0, 70.0);

    /// A device of a toolkit that has read an app of two buttons, the first of which lies below the
    /// second.
    async fn read(toolkit: Toolkit) -> (LinuxDevice, Speaker) {
        let app = Speaker::start();
        app.becomes(|now| now.stacked = true);
        let (mut device, _) = app.device().await;
        device.app.link.toolkit = toolkit;
        reading::look(&mut device, &[]).await.unwrap();
        (device, app)
    }

    #[tokio::test]
    async fn what_lies_over_what_is_named_is_what_an_input_goes_to() {
        for (toolkit, there) in [(Toolkit::Qt, SECOND), (Toolkit::Gtk4, FIRST)] {
            let (mut device, app) = read(toolkit).await;
            app.becomes(|now| now.points = vec![(SECOND, SECOND)]);
            let first = read_at(&mut device, FIRST).await.unwrap().expect("it was read");
            let found = uppermost(&mut device, first, OVERLAP, (0.0, 0.0)).await.unwrap();
            assert_eq!(found, device.app.ids.handle(there), "{toolkit:?}");
        }
        // Beside it nothing lies over it.
        let (mut device, app) = read(Toolkit::Qt).await;
        app.becomes(|now| now.stacked = false);
        let first = read_at(&mut device, FIRST).await.unwrap().expect("it was read");
        let found = uppermost(&mut device, first, (50.0, 20.0), (0.0, 0.0)).await.unwrap();
        assert_eq!(found, device.app.ids.handle(FIRST));
    }

    #[tokio::test]
    async fn the_way_down_ends_where_nothing_more_is_named_and_an_error_is_no_end() {
        let (device, app) = read(Toolkit::Gtk4).await;
        let ways = [
            (vec![(WINDOW, FIRST), (FIRST, "/org/a11y/atspi/null")], Some(FIRST.to_owned())),
            (vec![(WINDOW, FIRST), (FIRST, FIRST)], Some(FIRST.to_owned())),
            // It knows no such question, and is there.
            (vec![(WINDOW, FIRST)], Some(FIRST.to_owned())),
            (vec![(WINDOW, "/org/a11y/atspi/null")], None),
            (vec![], None),
        ];
        for (points, there) in ways {
            app.becomes(|now| now.points.clone_from(&points));
            assert_eq!(
                deepest(spot(&device, OVERLAP, (0.0, 0.0)), WINDOW).await.unwrap(),
                there,
                "{points:?}"
            );
        }
        app.becomes(|now| (now.points, now.refuses) = (vec![(WINDOW, FIRST)], vec![(FIRST, "GetState")]));
        let there = deepest(spot(&device, OVERLAP, (0.0, 0.0)), WINDOW).await;
        assert_eq!(there.map_err(why), Err("what the app has there has just gone".to_owned()));
        let question = "GetAccessibleAtPoint";
        for (refuses, garbles, says) in [
            (vec![(FIRST, question)], vec![], "the app answered with \"Failed: not now\""),
            (vec![(WINDOW, question)], vec![], "the app answered with \"Failed: not now\""),
            (vec![], vec![(FIRST, question)], "the app's answer cannot be read"),
        ] {
            app.becomes(|now| (now.refuses, now.garbles) = (refuses, garbles));
            let there = deepest(spot(&device, OVERLAP, (0.0, 0.0)), WINDOW).await;
            assert_eq!(there.map_err(why), Err(says.to_owned()));
        }
    }
}
