//! Hit tests, which determine the element that an input at a point reaches, and whether that is the
//! intended element. The X server determines which window gets the input (`aim/window.rs`), and the
//! app names its object at the point (`named`). The order of children determines what covers that
//! object (`stacking`), and the ancestors determine what an unread object belongs to (`named`).

pub(super) mod named;
pub(super) mod stacking;

use crate::aim::hit::named::{deepest, header_at};
use crate::aim::position;
use crate::aim::window::{self, window_hit};
use crate::app::{AppView, WindowStack, ask};
use crate::model::overlaps::{belongs_to, possible_covers, words};
use crate::model::{DEEP, Facts, Point, popup_in, roles};
use crate::toolkit::profile::{Popups, Toolkit};
use stickpin_device::{Error, HitResult, Result};
use stickpin_tree::{Rect, quote};
use stickpin_x11desk::Window;

/// The reason why a hit test has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unresolved {
    /// The result is unknown, for this reason. Another attempt may succeed.
    #[error("{0}")]
    Unknown(String),
    #[error(transparent)]
    Failed(#[from] Error),
}

impl Unresolved {
    /// Converts the reason to the error for an input at `target`.
    pub(crate) fn at(self, target: &str) -> Error {
        match self {
            Self::Failed(error) => error,
            Self::Unknown(why) => {
                let message = format!("cannot determine what an input at {target} would hit: {why}");
                Error::element_covered(message).hint("run `stickpin snapshot -i` to see what is there now")
            }
        }
    }
}

pub(crate) type Resolved<T> = Result<T, Unresolved>;

/// A point of the screen, and the offset from the toolkit's coordinates to screen coordinates.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HitPoint<'d> {
    pub(crate) view: AppView<'d>,
    pub(crate) point: Point,
    pub(crate) offset: Point,
}

impl HitPoint<'_> {
    /// Returns whether the point is inside a rectangle in the toolkit's coordinates.
    fn is_in(&self, place: Rect) -> bool {
        place.translate(self.offset).contains(self.point.0, self.point.1)
    }
}

/// An input that is meant for an object in a window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IntendedTarget<'d> {
    pub(crate) at: usize,
    pub(crate) window: &'d Window,
    /// Whether the window is known to be the topmost one at the point.
    pub(crate) on_top: bool,
    /// Whether the input goes to the element's own action, which no other element can receive.
    pub(crate) by_action: bool,
    /// The rectangles of objects that may cover the target, if they were queried just now.
    pub(crate) over: Option<&'d [Option<Rect>]>,
}

/// The result of a hit test.
#[derive(Debug)]
pub(crate) struct HitOutcome {
    pub(crate) hit: HitResult,
    /// Whether the app named an object at the point, or the order of children was conclusive.
    pub(crate) named: bool,
}

impl HitOutcome {
    /// Returns the result of a second test, which ran after the pointer arrived. `named` states
    /// whether the first test named an object. GTK 4 does not name objects that have never been
    /// shown before: if only the first test named an object, a new object is assumed to cover the
    /// target.
    pub(crate) fn after(self, named: bool, toolkit: Toolkit) -> HitResult {
        let came = toolkit.profile().new_is_silent && named && !self.named && self.hit == HitResult::Target;
        let what = || "an element that appeared when the pointer arrived".to_owned();
        if came { HitResult::Covered { by: None, what: what() } } else { self.hit }
    }
}

/// Determines whether an input at a point of the screen reaches the object that it is meant for.
pub(crate) async fn hit_test(
    spot: HitPoint<'_>,
    sight: &WindowStack,
    IntendedTarget { at, window, on_top, by_action, over }: IntendedTarget<'_>,
) -> Resolved<HitOutcome> {
    let AppView { app, last } = spot.view;
    let hit = match window::pending_dialog(&last.picture, last.top(at), app.info.pid, &sight.windows) {
        Some(name) => {
            let what = format!("the dialog {}, which is just opening", quote(name));
            HitResult::Covered { by: None, what }
        }
        None if on_top => HitResult::Target,
        None => window_hit(app, spot.point, window, sight).await?,
    };
    if hit != HitResult::Target {
        return Ok(HitOutcome { hit, named: false });
    }
    // A popup is a separate window. The app would name the object below it.
    within(spot, at, !by_action && !window.popup, over).await
}

/// Returns the path of the object that an input at a point of the screen reaches; `None` if the app
/// has no object there. Finds the window at the point, then the innermost object in it. The object
/// need not be in the last capture.
pub(crate) async fn object_at(
    view: AppView<'_>,
    sight: &WindowStack,
    point: Point,
) -> Resolved<Option<String>> {
    let AppView { app, last } = view;
    let Some(window) = sight.at(point).await?.filter(|w| w.pid == app.info.pid) else { return Ok(None) };
    // GTK 4 answers for a window as if it had no popups, so their content is queried.
    let apart = window.popup && last.picture.profile().popups == Popups::InWindows;
    let popovers = last.picture.objects.iter().filter(|o| apart && o.shown && last.picture.is_popover(o));
    let inside = popovers.flat_map(|popover| popover.children.iter().copied()).filter(|&at| last[at].shown);
    let tops = if apart { inside.collect() } else { last.picture.root().children.clone() };
    let in_popup = window.popup && !apart;
    for at in tops {
        let shown_by = window::window_of(view, at, &sight.windows).await?;
        if shown_by.is_none_or(|w| !in_popup && w.id != window.id) {
            continue;
        }
        let Some(placed) = position::locate_on_screen(view, at, Some(sight)).await? else { continue };
        if !in_popup && !placed.rect.contains(point.0, point.1) {
            continue;
        }
        let spot = HitPoint { view, point, offset: placed.offset };
        let path = &last[at].path;
        let found = deepest(spot, path).await?.or_else(|| apart.then(|| path.clone()));
        if let Some(found) = found {
            return uppermost(spot, found).await.map(Some);
        }
    }
    Ok(None)
}

/// Determines the object that receives an input at a point. Starts with the object that the app
/// named, and repeatedly continues with the object that covers it.
async fn uppermost(spot: HitPoint<'_>, named: String) -> Resolved<String> {
    let AppView { app, last } = spot.view;
    let Some(mut at) = last.at(&named) else { return Ok(named) };
    // Each step goes to an object that is later in the app's order.
    for _ in 0..DEEP {
        let ordered = app.profile().draws_in_order && stacking::covers_point(spot, at).await?;
        let over = if ordered { stacking::covering_object(spot, at).await? } else { None };
        let Some(over) = over else {
            return Ok(header_at(spot, at).await?.unwrap_or_else(|| last[at].path.clone()));
        };
        let found = deepest(spot, &over).await?.unwrap_or(over);
        at = last.at(&found).ok_or_else(|| {
            Unresolved::Unknown("the app reports an element there that is not in its tree".to_owned())
        })?;
    }
    Err(Unresolved::Unknown("the app keeps reporting more elements at the same point".to_owned()))
}

/// Performs the hit test for an input that an object's window receives. `asked` states whether to
/// query the app for the object at the point.
async fn within(
    spot: HitPoint<'_>,
    at: usize,
    asked: bool,
    over: Option<&[Option<Rect>]>,
) -> Resolved<HitOutcome> {
    let ordered = asked && spot.view.app.profile().draws_in_order;
    if ordered && let Some(hit) = stacking::stacking_hit(spot, at).await? {
        return Ok(HitOutcome { hit, named: true });
    }
    let inner = if asked { inner_hit(spot, at).await? } else { None };
    let named = inner.is_some();
    let hit = match inner {
        None | Some(HitResult::Target) => beside_hit(spot, at, over).await?,
        Some(other) => other,
    };
    Ok(HitOutcome { hit, named })
}

/// Asks the app for the object at a point, descending from the window. Returns `None` if the app
/// names no object, which is an error for toolkits that name everything that they show.
async fn inner_hit(spot: HitPoint<'_>, at: usize) -> Resolved<Option<HitResult>> {
    let last = spot.view.last;
    let top = last.top(at);
    let is_page = |&at: &usize| roles::is(last[at].role, Facts::DOCUMENT);
    let page = last.chain(at).into_iter().find(is_page).unwrap_or(top);
    // Some toolkits name everything that they show. If their window names nothing, the document
    // must.
    let all = last.picture.profile().knows_all_that_it_shows;
    let mut there = deepest(spot, &last[top].path).await?;
    if all && there.is_none() {
        there = deepest(spot, &last[page].path).await?;
    }
    match there {
        Some(path) => Ok(Some(named_hit(spot.view, at, &path).await?)),
        None if all => Err(Unresolved::Unknown(format!(
            "the app reports no element at the position of {}",
            last[at].describe()
        ))),
        None => Ok(None),
    }
}

/// Determines whether the object that the app named is the target.
async fn named_hit(view: AppView<'_>, at: usize, path: &str) -> Result<HitResult> {
    let last = view.last;
    let is_part = |there: usize| {
        let inside = last.chain(there).contains(&at);
        inside || last.chain(at).contains(&there) || belongs_to(&last[there], &last[at])
    };
    match last.at(path) {
        Some(there) if is_part(there) => Ok(HitResult::Target),
        Some(there) if last[there].shown => {
            Ok(HitResult::Covered { by: Some(view.app.ids.handle(path)), what: last[there].describe() })
        }
        _ => named::unread_hit(view, at, path).await,
    }
}

/// Determines whether a later sibling of an element or of one of its ancestors covers the element.
///
/// GTK draws children in order, and `GetAccessibleAtPoint` returns the first one at the point,
/// which is the lowest. `said` contains the rectangles of these siblings, if they were queried just
/// now.
async fn beside_hit(spot: HitPoint<'_>, at: usize, said: Option<&[Option<Rect>]>) -> Resolved<HitResult> {
    let AppView { app, last } = spot.view;
    let over = possible_covers(&last.picture, at);
    let said = match said {
        Some(said) => said.to_vec(),
        None => ask::extents_of(app, &last.paths(&over)).await?,
    };
    let here = |rect: &Option<Rect>| rect.is_some_and(|rect| spot.is_in(rect));
    let Some(covers) = said.iter().position(here).map(|i| over[i]) else { return Ok(HitResult::Target) };
    if is_picked(spot, at).await? {
        return Ok(HitResult::Target);
    }
    let by = Some(app.ids.handle(&last[covers].path));
    Ok(HitResult::Covered { by, what: words(&last.picture, covers) })
}

/// Returns whether GTK 4 reports that a press at a point reaches an object or a part of it. An
/// element that lets presses through, or is not drawn, may be positioned above others, but is not
/// reported.
async fn is_picked(spot: HitPoint<'_>, at: usize) -> Result<bool> {
    let AppView { app, last } = spot.view;
    if !last.picture.profile().says_what_a_press_reaches {
        return Ok(false);
    }
    let chain = last.chain(at);
    let top = popup_in(&last.picture, &chain).map_or_else(|| last.top(at), |popup| chain[popup]);
    let there = match deepest(spot, &last[top].path).await {
        Ok(Some(there)) => there,
        Ok(None) | Err(Unresolved::Unknown(_)) => return Ok(false),
        Err(Unresolved::Failed(error)) => return Err(error),
    };
    // The ascent starts at the named object, because internal parts of controls were not read.
    let ends = |path: &str| [at, top].into_iter().find(|&end| last[end].path == path);
    Ok(named::ascend(app, &there, ends).await?.is_some_and(|(_, end)| end == at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{LastCapture, LinuxDevice, capture};
    use crate::model::overlaps::{is_frame, is_label_of};
    use crate::model::role;
    use crate::model::{Object, ObjectTree, states};
    use crate::tests::heap::{spot, why};
    use crate::tests::speaker::{FIRST, SECOND, Speaker, WINDOW};

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
        let mut picture = ObjectTree { toolkit: Toolkit::Gtk3, objects, truncated: false };
        assert_eq!(possible_covers(&picture, 4), [6], "a box lays its children out side by side");
        assert!(possible_covers(&picture, 6).is_empty(), "what comes first lies below");
        picture.toolkit = Toolkit::Gtk4;
        assert_eq!(possible_covers(&picture, 4), [6]);
        assert!(possible_covers(&picture, 5).is_empty(), "it is elsewhere");
        picture.objects[6].role = role::SCROLL_BAR;
        assert!(possible_covers(&picture, 4).is_empty());
        picture.toolkit = Toolkit::Qt;
        picture.objects[6].role = role::PUSH_BUTTON;
        assert!(possible_covers(&picture, 4).is_empty(), "it is asked what has the point");
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
        assert!(is_label_of(&label, &target));
        assert!(!is_label_of(&object("/3", role::PUSH_BUTTON, "Delete"), &target), "a twin");
        let link = Object { states: states::FOCUSABLE, ..object("/4", role::LINK, "Delete") };
        assert!(!is_label_of(&link, &target), "what somebody can act on");
        assert!(
            !is_label_of(&object("/5", role::FILLER, ""), &object("/6", role::PUSH_BUTTON, "")),
            "no name"
        );
        let other = object("/7", role::LABEL, "Name:");
        let field = Object { labelled_by: vec!["/7".to_owned()], ..object("/8", role::ENTRY, "") };
        assert!(is_label_of(&other, &field) && !is_label_of(&other, &target));
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
        let picture = ObjectTree { toolkit: Toolkit::Gtk3, objects, truncated: false };
        assert_eq!(words(&picture, 1), "filler without a name");
    }

    /// Returns the hit result at the first button of an app that answers like this, and how often
    /// its window was queried.
    async fn within(
        toolkit: Toolkit,
        points: &[(&'static str, &'static str)],
        refuses: &[(&'static str, &'static str)],
    ) -> (Result<(HitResult, bool), String>, usize) {
        let app = Speaker::start();
        let (mut device, _) = app.device().await;
        device.app.link.toolkit = toolkit;
        capture::capture_app(&mut device, &[]).await.unwrap();
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
            assert_eq!((hit, asked), (Ok((HitResult::Target, true)), 1), "{toolkit:?}");
            let (hit, _) = within(toolkit, &[(WINDOW, SECOND)], &[]).await;
            assert!(
                matches!(&hit, Ok((HitResult::Covered { what, .. }, _)) if what.contains("Other")),
                "{hit:?}"
            );
        }
    }

    #[tokio::test]
    async fn an_empty_answer_is_none_where_all_that_is_shown_has_a_name() {
        let why = Err("the app reports no element at the position of push button \"Save\"".to_owned());
        for toolkit in [Toolkit::Gecko, Toolkit::Office] {
            let (hit, asked) = within(toolkit, &[(WINDOW, NOTHING)], &[]).await;
            assert_eq!((hit, asked), (why.clone(), 2), "{toolkit:?}");
        }
        // Other toolkits do not name all of their objects.
        for toolkit in [Toolkit::Gtk4, Toolkit::Other] {
            let (hit, _) = within(toolkit, &[(WINDOW, NOTHING)], &[]).await;
            assert_eq!(hit, Ok((HitResult::Target, false)), "{toolkit:?}");
        }
    }

    #[tokio::test]
    async fn an_error_is_no_word_that_the_target_is_there() {
        for toolkit in [Toolkit::Gecko, Toolkit::Office, Toolkit::Gtk4, Toolkit::Other] {
            for (refuses, says) in [
                (&[(WINDOW, POINT)][..], "not now"),
                (&[(FIRST, POINT)], "not now"),
                (&[(FIRST, "GetState")], "has just disappeared"),
            ] {
                let (hit, _) = within(toolkit, &[(WINDOW, FIRST)], refuses).await;
                assert!(hit.as_ref().is_err_and(|why| why.contains(says)), "{toolkit:?} {says}: {hit:?}");
            }
        }
    }

    /// A point in both buttons, where one covers the other.
    const OVERLAP: Point = (50.0, 70.0);

    /// Returns the object that an input reaches at a point for which the app names `named`.
    async fn uppermost(device: &LinuxDevice, point: Point, named: &str) -> Resolved<String> {
        super::uppermost(spot(device, point, (0.0, 0.0)), named.to_owned()).await
    }

    #[tokio::test]
    async fn what_lies_over_what_is_named_is_what_an_input_goes_to() {
        let read = async |toolkit| {
            let app = Speaker::start();
            app.becomes(|now| now.stacked = true);
            let (mut device, _) = app.device().await;
            device.app.link.toolkit = toolkit;
            capture::capture_app(&mut device, &[]).await.unwrap();
            (device, app)
        };
        for (toolkit, there) in [(Toolkit::Qt, SECOND), (Toolkit::Gtk4, FIRST)] {
            let (device, app) = read(toolkit).await;
            app.becomes(|now| now.points = vec![(SECOND, SECOND)]);
            assert_eq!(uppermost(&device, OVERLAP, FIRST).await.unwrap(), there, "{toolkit:?}");
            assert_eq!(uppermost(&device, OVERLAP, "/unread").await.unwrap(), "/unread", "{toolkit:?}");
        }
        // Outside the overlap, nothing covers the button.
        let (device, app) = read(Toolkit::Qt).await;
        app.becomes(|now| now.stacked = false);
        assert_eq!(uppermost(&device, (50.0, 20.0), FIRST).await.unwrap(), FIRST);
        // The object that covers it was not read, so the result is unknown.
        let (mut device, _app) = read(Toolkit::Qt).await;
        let second = device.last.at(SECOND).unwrap();
        device.last.picture[second].path = "/renamed".to_owned();
        let LastCapture { picture, tree, changes_when_read, .. } = std::mem::take(&mut device.last);
        device.last = LastCapture::new(picture, tree.unwrap(), changes_when_read);
        let unread = uppermost(&device, OVERLAP, FIRST).await;
        assert_eq!(why(unread.unwrap_err()), "the app reports an element there that is not in its tree");
    }
}
