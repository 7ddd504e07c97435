//! Determines what covers an element in its own window, according to the current order of children.
//!
//! Qt and GTK 3 draw children in order, so later ones cover earlier ones. `GetAccessibleAtPoint`
//! returns the first one at the point, which is the lowest. The order of children therefore
//! determines what receives an input.

use crate::aim::hit::HitPoint;
use crate::app::{App, AppView, ask, lifecycle};
use crate::bus::{ACCESSIBLE, Call, Reference};
use crate::capture::question::{Question, Questions};
use crate::model::overlaps::{belongs_to, words};
use crate::model::{Object, ObjectTree, is_real, is_wrapper, popup_in, role as n, states as s};
use crate::toolkit::profile::Toolkit;
use stickpin_device::{HitResult, Result};

/// Determines whether something covers an object at a point, by the current order of children.
/// Returns `None` if the order is inconclusive: an ancestor does not extend to the point, or draws
/// in another order.
pub(super) async fn stacking_hit(spot: HitPoint<'_>, at: usize) -> Result<Option<HitResult>> {
    if !covers_point(spot, at).await? {
        return Ok(None);
    }
    let AppView { app, last } = spot.view;
    let Some(path) = covering_object(spot, at).await? else { return Ok(Some(HitResult::Target)) };
    let known = last.at(&path);
    let what = match known.filter(|&at| last[at].shown) {
        Some(at) => words(&last.picture, at),
        None => words(&read_objects(app, vec![path.clone()]).await?, 0),
    };
    Ok(Some(HitResult::Covered { by: known.map(|_| app.ids.handle(&path)), what }))
}

/// Returns whether all ancestors of an object in its window extend to a point and draw their
/// children in order.
pub(super) async fn covers_point(spot: HitPoint<'_>, at: usize) -> Result<bool> {
    let AppView { app, last } = spot.view;
    let above = last.chain(at);
    let holders = &above[1..end_of_window(&last.picture, &above)];
    if holders.iter().any(|&holder| last[holder].role == n::LAYERED_PANE) {
        return Ok(false);
    }
    let said = ask::extents_of(app, &last.paths(holders)).await?;
    Ok(said.into_iter().flatten().all(|place| spot.is_in(place)))
}

/// Returns the path of the object that covers another one at a point; `None` if nothing covers it.
pub(super) async fn covering_object(spot: HitPoint<'_>, at: usize) -> Result<Option<String>> {
    let AppView { app, last } = spot.view;
    let later = later(spot.view, at).await?;
    let said = ask::extents_of(app, &later).await?;
    let here = later.into_iter().zip(said).filter(|(_, rect)| rect.is_some_and(|rect| spot.is_in(rect)));
    let here: Vec<String> = here.map(|(path, _)| path).collect();
    let own = &last[at];
    let now = read_objects(app, here).await?;
    // The last one is drawn on top.
    let over = now.objects.into_iter().rev().find(|object| lies_over(object, own, now.toolkit));
    let over = over.inspect(|object| tracing::debug!(over = object.path, "lies over {}", own.path));
    Ok(over.map(|object| object.path))
}

/// Returns the siblings that follow an object or one of its ancestors and may cover the object,
/// innermost first.
async fn later(AppView { app, last }: AppView<'_>, at: usize) -> Result<Vec<String>> {
    let above = last.chain(at);
    let inside = &above[..end_of_window(&last.picture, &above)];
    let real = |at: &usize| is_real(&last[*at].path);
    let overlap =
        |pair: &&[usize]| pair.iter().all(real) && lets_overlap(last.picture.toolkit, &last[pair[1]]);
    let pairs: Vec<&[usize]> = inside.windows(2).filter(overlap).collect();
    let call = |pair: &&[usize]| Call::new(&last[pair[1]].path, ACCESSIBLE, "GetChildren");
    let children = app.link.each::<Vec<Reference>>(&pairs.iter().map(call).collect::<Vec<_>>()).await;
    let mut later = Vec::new();
    for (pair, children) in pairs.iter().zip(lifecycle::check_answer(app, children).await?) {
        let [child, holder] = [pair[0], pair[1]].map(|at| &last[at].path);
        // If the object does not support the query or is gone, its position reveals that later.
        let children = children.into_iter().flatten().map(|path| app.link.resolve_path(holder, path));
        // If the capture moved the child to this object, it is not among these children.
        later.extend(children.skip_while(|path| path != child).skip(1));
    }
    Ok(later)
}

/// Reads the current state of objects.
pub(super) async fn read_objects(app: &App, paths: Vec<String>) -> Result<ObjectTree> {
    let object = |path| Object { path, shown: true, ..Object::default() };
    let objects: Vec<Object> = paths.into_iter().map(object).collect();
    let mut questions = Questions::default();
    let asks = [Question::States, Question::Role, Question::Name, Question::Count];
    (0..objects.len()).for_each(|at| questions.add_all(at, asks));
    let mut now = ObjectTree { toolkit: app.link.toolkit, objects, truncated: false };
    let told = questions.ask(&app.link, &mut now).await;
    lifecycle::check_answer(app, told).await.map(|_| now)
}

/// Returns the number of entries of `above` that are inside the window. A popup counts as a window.
fn end_of_window(picture: &ObjectTree, above: &[usize]) -> usize {
    let panel = |at: &usize| picture[*at].role == n::PANEL && picture[*at].is(s::MODAL);
    let popover = || above.iter().position(panel).filter(|_| picture.profile().popovers_are_panels);
    popup_in(picture, above).or_else(popover).map_or(above.len(), |popup| popup + 1)
}

/// Returns whether children of an object may overlap. Children of tables, lists and menus do not
/// overlap, and there may be many of them.
fn lets_overlap(toolkit: Toolkit, holder: &Object) -> bool {
    let aligned = matches!(
        holder.role,
        n::TABLE | n::TREE_TABLE | n::TREE | n::LIST | n::LIST_BOX | n::MENU | n::MENU_BAR
    );
    let may = !aligned && !holder.is(s::MANAGES_DESCENDANTS);
    if toolkit.profile().only_panels_overlap { holder.role == n::PANEL } else { may }
}

/// Returns whether a later object at the point is visible there and is not a part of the target.
fn lies_over(object: &Object, target: &Object, toolkit: Toolkit) -> bool {
    let apart =
        matches!(object.role, n::SCROLL_BAR | n::MENU | n::POPUP_MENU | n::WINDOW | n::DIALOG | n::TOOL_TIP);
    // An empty object may let presses through, like Qt objects that only paint over others.
    let empty = object.name.is_empty() && object.count < 1 && !object.is(s::FOCUSABLE);
    let paints = toolkit.profile().paints_over_controls
        && empty
        && (is_wrapper(object.role) || object.role == n::LABEL);
    s::is_visible(object.states, toolkit)
        && !apart
        && !paints
        && !object.floats()
        && !belongs_to(object, target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::LinuxDevice;
    use crate::bus::names::ROOT;
    use crate::model::parents::chain;
    use crate::model::roles::number as role;
    use crate::tests::heap::{Heap, Thing, at, covered, read, spot};

    fn object(role: u32, states: u64, name: &str) -> Object {
        Object { role, states, name: name.to_owned(), ..Object::default() }
    }

    #[test]
    fn visible_overlap_covers_unless_related() {
        let target = object(role::PUSH_BUTTON, s::SHOWING, "Send");
        let over = |of: &Object| lies_over(of, &target, Toolkit::Qt);
        assert!(over(&object(role::PUSH_BUTTON, s::SHOWING, "Delete")));
        assert!(
            over(&object(role::FILLER, s::SHOWING, "Shade"))
                && over(&object(role::PUSH_BUTTON, s::SHOWING, ""))
        );
        assert!(!over(&object(role::PUSH_BUTTON, s::VISIBLE, "Delete")), "it is hidden");
        assert!(!over(&object(role::LABEL, s::SHOWING, "Send")), "its label");
        assert!(!over(&object(role::POPUP_MENU, s::SHOWING, "")), "a window of its own");
        assert!(!over(&object(role::FRAME, s::SHOWING | s::RESIZABLE, "Tools")), "a dock that floats");
        let empty = object(role::FILLER, s::SHOWING, "");
        assert!(!over(&empty), "it may only paint");
        assert!(over(&Object { count: 2, ..empty.clone() }), "it holds others");
        assert!(lies_over(&empty, &target, Toolkit::Gtk3));
    }

    #[test]
    fn the_way_up_from_a_popover_ends_with_it() {
        let object = |role, states, children: &[usize]| Object {
            role,
            states,
            children: children.to_vec(),
            ..Object::default()
        };
        let objects = vec![
            object(75, 0, &[1]),
            object(role::FRAME, 0, &[2]),
            object(role::PANEL, 0, &[3]),
            object(role::TOGGLE_BUTTON, 0, &[4]),
            object(role::PANEL, s::MODAL, &[5]),
            object(role::PUSH_BUTTON, 0, &[]),
        ];
        let mut picture = ObjectTree { toolkit: Toolkit::Gtk3, objects, truncated: false };
        let end = |picture: &ObjectTree, at| end_of_window(picture, &chain(picture, at));
        assert_eq!((end(&picture, 5), end(&picture, 3)), (2, 3));
        picture.toolkit = Toolkit::Qt;
        assert_eq!(end(&picture, 5), 5);
    }

    #[test]
    fn overlap_is_possible_in_gtk_3_panels_and_qt() {
        let holder = |role| object(role, 0, "");
        assert!(lets_overlap(Toolkit::Gtk3, &holder(role::PANEL)));
        assert!(!lets_overlap(Toolkit::Gtk3, &holder(role::FILLER)), "a box");
        assert!(lets_overlap(Toolkit::Qt, &holder(role::FILLER)));
        assert!(!lets_overlap(Toolkit::Qt, &holder(role::TABLE)));
        let sheet = object(role::FILLER, s::MANAGES_DESCENDANTS, "");
        assert!(!lets_overlap(Toolkit::Qt, &sheet), "it may have a thousand million");
    }

    const BOTH: [Toolkit; 2] = [Toolkit::Qt, Toolkit::Gtk3];

    /// The center of the button.
    const MIDDLE: (f64, f64) = (50.0, 25.0);

    /// Returns a button in a form on a page.
    fn heap() -> Heap {
        let large = |thing| Thing { place: (0, 0, 400, 300), ..thing };
        Heap(vec![
            large(Thing::new("/window", "Window", role::FRAME, ROOT)),
            large(Thing::new("/page", "Page", role::PANEL, "/window")),
            Thing::new("/before", "Undo", role::PUSH_BUTTON, "/form"),
            large(Thing::new("/form", "Form", role::PANEL, "/page")),
            Thing::new("/target", "Send", role::PUSH_BUTTON, "/form"),
            Thing { place: (10, 50, 80, 30), ..button("/beside", "Cancel", "/form") },
        ])
    }

    fn button(path: &'static str, name: &'static str, above: &'static str) -> Thing {
        Thing::new(path, name, role::PUSH_BUTTON, above)
    }

    /// Returns the object with this path.
    fn thing<'h>(heap: &'h mut Heap, path: &str) -> &'h mut Thing {
        heap.0.iter_mut().find(|thing| thing.path == path).unwrap()
    }

    /// Returns the hit result of a press on the middle of the button if the app has changed in this
    /// way since it was read.
    async fn said(toolkit: Toolkit, heap: Heap, since: impl FnOnce(&mut Heap)) -> Option<HitResult> {
        let (app, device) = read(toolkit, heap).await;
        app.becomes(since);
        let target = at(&device, "/target");
        stacking_hit(spot(&device, MIDDLE, (0.0, 0.0)), target).await.unwrap()
    }

    /// Returns the hit result after these objects have appeared.
    async fn came(toolkit: Toolkit, things: &[Thing]) -> Option<HitResult> {
        said(toolkit, heap(), |heap| heap.0.extend(things)).await
    }

    #[tokio::test]
    async fn later_sibling_at_the_point_covers_in_any_parent() {
        for toolkit in BOTH {
            assert_eq!(came(toolkit, &[]).await, Some(HitResult::Target), "{toolkit:?}");
            for above in ["/form", "/page"] {
                let hit = came(toolkit, &[button("/x", "Delete", above)]).await;
                assert_eq!(hit, Some(covered("push button \"Delete\"")), "{toolkit:?} {above}");
            }
            let elsewhere = Thing { place: (10, 50, 80, 30), ..button("/x", "Delete", "/form") };
            assert_eq!(came(toolkit, &[elsewhere]).await, Some(HitResult::Target), "{toolkit:?}");
            let hidden = Thing { states: s::ENABLED, ..button("/x", "Delete", "/form") };
            assert_eq!(came(toolkit, &[hidden]).await, Some(HitResult::Target), "{toolkit:?}");
            let inside = button("/x", "Delete", "/target");
            assert_eq!(came(toolkit, &[inside]).await, Some(HitResult::Target), "a part of it, {toolkit:?}");
        }
    }

    #[tokio::test]
    async fn last_of_several_covers_is_named() {
        for toolkit in BOTH {
            let two = [button("/x", "Delete", "/form"), button("/y", "Move", "/form")];
            assert_eq!(came(toolkit, &two).await, Some(covered("push button \"Move\"")), "{toolkit:?}");
            let outer = [button("/x", "Delete", "/page"), button("/y", "Move", "/form")];
            assert_eq!(came(toolkit, &outer).await, Some(covered("push button \"Delete\"")), "{toolkit:?}");
            let label = [two[0], Thing::new("/y", "Send", role::LABEL, "/form")];
            let hit = came(toolkit, &label).await;
            assert_eq!(hit, Some(covered("push button \"Delete\"")), "its own label, {toolkit:?}");
        }
    }

    #[tokio::test]
    async fn the_order_counts_that_there_is_now() {
        for toolkit in BOTH {
            let (app, device) = read(toolkit, heap()).await;
            let [target, before] = ["/target", "/before"].map(|path| at(&device, path));
            let zero = (0.0, 0.0);
            assert_eq!(
                stacking_hit(spot(&device, MIDDLE, zero), target).await.unwrap(),
                Some(HitResult::Target)
            );
            let by = |device: &LinuxDevice, path: &str, what: &str| {
                Some(HitResult::Covered { by: Some(device.app.ids.handle(path)), what: what.to_owned() })
            };
            let send = by(&device, "/target", "push button \"Send\"");
            assert_eq!(stacking_hit(spot(&device, MIDDLE, zero), before).await.unwrap(), send, "{toolkit:?}");
            app.becomes(|heap| heap.0.reverse());
            let undo = by(&device, "/before", "push button \"Undo\"");
            assert_eq!(stacking_hit(spot(&device, MIDDLE, zero), target).await.unwrap(), undo, "{toolkit:?}");
            assert_eq!(
                stacking_hit(spot(&device, MIDDLE, zero), before).await.unwrap(),
                Some(HitResult::Target)
            );
        }
    }

    #[tokio::test]
    async fn what_was_hidden_when_it_was_read_covers_as_what_it_is_now() {
        for toolkit in BOTH {
            let mut folded = heap();
            folded.0.push(Thing { states: s::ENABLED, ..button("/x", "Wait", "/form") });
            let (app, device) = read(toolkit, folded).await;
            let target = at(&device, "/target");
            assert_eq!(
                stacking_hit(spot(&device, MIDDLE, (0.0, 0.0)), target).await.unwrap(),
                Some(HitResult::Target)
            );
            app.becomes(|heap| *thing(heap, "/x") = button("/x", "Stop", "/form"));
            let by = Some(device.app.ids.handle("/x"));
            let stop = HitResult::Covered { by, what: "push button \"Stop\"".to_owned() };
            assert_eq!(
                stacking_hit(spot(&device, MIDDLE, (0.0, 0.0)), target).await.unwrap(),
                Some(stop),
                "{toolkit:?}"
            );
        }
    }

    #[tokio::test]
    async fn what_is_empty_may_only_paint_in_qt() {
        let shade = Thing::new("/x", "", role::PANEL, "/form");
        assert_eq!(came(Toolkit::Qt, &[shade]).await, Some(HitResult::Target));
        assert_eq!(came(Toolkit::Gtk3, &[shade]).await, Some(covered("panel without a name")));
        let full = [shade, button("/y", "Delete", "/x")];
        assert_eq!(came(Toolkit::Qt, &full).await, Some(covered("panel without a name")), "it holds others");
        let below = [button("/y", "Delete", "/form"), shade];
        assert_eq!(came(Toolkit::Qt, &below).await, Some(covered("push button \"Delete\"")));
    }

    #[tokio::test]
    async fn order_is_unknown_outside_the_parents_box() {
        for toolkit in BOTH {
            for holder in ["/form", "/page", "/window"] {
                let ends = |heap: &mut Heap| {
                    thing(heap, holder).place = (0, 0, 40, 300);
                    heap.0.push(button("/x", "Delete", "/form"));
                };
                assert_eq!(said(toolkit, heap(), ends).await, None, "{toolkit:?} {holder}");
            }
        }
    }

    #[tokio::test]
    async fn layered_panes_have_another_order() {
        for toolkit in BOTH {
            for holder in ["/form", "/page"] {
                let mut layered = heap();
                thing(&mut layered, holder).role = role::LAYERED_PANE;
                layered.0.push(button("/x", "Delete", "/form"));
                assert_eq!(said(toolkit, layered, |_| {}).await, None, "{toolkit:?} {holder}");
            }
        }
    }

    #[tokio::test]
    async fn places_are_those_on_the_screen() {
        for toolkit in BOTH {
            let (app, device) = read(toolkit, heap()).await;
            app.becomes(|heap| heap.0.push(button("/x", "Delete", "/form")));
            let target = at(&device, "/target");
            let moved = (400.0, 0.0);
            assert_eq!(
                stacking_hit(spot(&device, MIDDLE, moved), target).await.unwrap(),
                None,
                "{toolkit:?}"
            );
            let there = stacking_hit(spot(&device, (450.0, 25.0), moved), target).await.unwrap();
            assert_eq!(there, Some(covered("push button \"Delete\"")), "{toolkit:?}");
        }
    }

    #[tokio::test]
    async fn what_stands_side_by_side_is_not_asked_for_its_order() {
        for (toolkit, holder) in [(Toolkit::Qt, role::LIST), (Toolkit::Gtk3, role::FILLER)] {
            let aligned = |holder| {
                let mut aligned = heap();
                thing(&mut aligned, "/form").role = holder;
                aligned.0.push(button("/x", "Delete", "/form"));
                said(toolkit, aligned, |_| {})
            };
            assert_eq!(aligned(holder).await, Some(HitResult::Target), "{toolkit:?}");
            assert!(matches!(aligned(role::PANEL).await, Some(HitResult::Covered { .. })), "{toolkit:?}");
        }
    }

    #[tokio::test]
    async fn what_comes_later_than_a_pop_up_in_its_window_lies_below_it() {
        let popups = [(Toolkit::Qt, role::POPUP_MENU, 0), (Toolkit::Gtk3, role::PANEL, s::MODAL)];
        for (toolkit, popup, states) in popups {
            let mut open = heap();
            thing(&mut open, "/form").role = popup;
            thing(&mut open, "/form").states |= states;
            // Where the popup extends beyond its window, the page does not extend to it.
            thing(&mut open, "/page").place = (0, 0, 5, 5);
            open.0.push(button("/x", "Delete", "/page"));
            assert_eq!(said(toolkit, open, |_| {}).await, Some(HitResult::Target), "{toolkit:?}");
        }
    }
}
