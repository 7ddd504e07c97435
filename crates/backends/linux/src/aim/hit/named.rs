//! Finds the object that an app names at a point. Descends from a window to the innermost object,
//! and determines the owner of an object that was missing or hidden in the last capture. Such an
//! object may be a part of the target, be hidden below it, or have appeared above it since.

use crate::aim::hit::{HitPoint, Resolved, Unresolved, stacking};
use crate::app::{App, AppView, ask, lifecycle};
use crate::bus::{BusError, calls};
use crate::model::overlaps::{self, belongs_to};
use crate::model::{DEEP, role, states};
use stickpin_device::{HitResult, Result};
use stickpin_tree::quote;

/// Returns the innermost object that the app names at a point, starting from the object `from`;
/// `None` if the app names no object there inside `from`.
pub(super) async fn deepest(spot: HitPoint<'_>, from: &str) -> Resolved<Option<String>> {
    let link = &spot.view.app.link;
    #[expect(clippy::cast_possible_truncation, reason = "a point of a screen")]
    let (x, y) = ((spot.point.0 - spot.offset.0) as i32, (spot.point.1 - spot.offset.1) as i32);
    let mut path = from.to_owned();
    for _ in 0..DEEP {
        let answer = link.call(calls::at_point(&path, (x, y), link.toolkit)).await;
        let next = match answer.and_then(|answer| answer.read()) {
            Ok(there) => link.resolve_path(&path, there),
            Err(fault) => {
                is_the_last(spot.view.app, &path, fault).await?;
                break;
            }
        };
        if next.is_empty() || next.ends_with("/null") || next == path {
            break;
        }
        path = next;
    }
    Ok(Some(path).filter(|path| path != from))
}

/// Checks that an object that failed to name its content at a point is the last one of the descent:
/// it exists, but does not support the query.
async fn is_the_last(app: &App, path: &str, fault: BusError) -> Resolved<()> {
    let unknown = |why: String| Err(Unresolved::Unknown(why));
    match fault {
        // Qt reports a missing method as a missing object, and GTK 4 reports a missing object as a
        // missing method.
        BusError::Vanished | BusError::Unknown => {}
        BusError::Refused(why) => return unknown(format!("the app returned the error {}", quote(&why))),
        BusError::Corrupt(_) => return unknown("the app's response cannot be parsed".to_owned()),
        fault => return Err(lifecycle::capture_error(app, fault).await.into()),
    }
    match ask::or_none(app, ask::states_now(app, path).await).await? {
        Some(states) if states & states::DEFUNCT == 0 => Ok(()),
        _ => unknown("the element that the app reported there has just disappeared".to_owned()),
    }
}

/// Returns the path of the table header at a point; `None` if there is no header. For a point on a
/// header, Qt names only the table.
pub(super) async fn header_at(spot: HitPoint<'_>, table: usize) -> Result<Option<String>> {
    let objects = &spot.view.last.picture.objects;
    if !matches!(objects[table].role, role::TABLE | role::TREE | role::TREE_TABLE) {
        return Ok(None);
    }
    let rows = objects[table].children.iter();
    let headers = rows.flat_map(|row| std::iter::once(row).chain(&objects[*row].children)).filter(|&&at| {
        matches!(objects[at].role, role::TABLE_COLUMN_HEADER | role::TABLE_ROW_HEADER) && objects[at].shown
    });
    let paths: Vec<String> = headers.map(|&at| objects[at].path.clone()).collect();
    let said = ask::extents_of(spot.view.app, &paths).await?;
    let mut here = paths.into_iter().zip(said).filter(|(_, rect)| rect.is_some_and(|rect| spot.is_in(rect)));
    Ok(here.next().map(|(path, _)| path))
}

/// Determines whether an object that would receive an input, but was not read, is a part of the
/// target. Examines the object's ancestors up to the first one that was read.
pub(super) async fn unread_hit(view: AppView<'_>, target: usize, path: &str) -> Result<HitResult> {
    let AppView { app, last } = view;
    let own = &last[target];
    // GTK 4 names what receives an input; others may name hidden objects.
    let seen = app.profile().says_what_a_press_reaches;
    let read = |path: &str| last.at(path).filter(|&at| last[at].shown || at == target);
    let Some((up, holder)) = ascend(app, path, read).await? else { return Ok(HitResult::Target) };
    let inside = last.chain(holder).contains(&target);
    let holds_both = last.chain(target).contains(&holder);
    if inside || (holds_both && !seen) {
        return Ok(HitResult::Target);
    }
    let named = if holds_both { up } else { last[holder].path.clone() };
    let there = stacking::read_objects(app, vec![path.to_owned(), named]).await?;
    if there.objects.iter().any(|object| belongs_to(object, own)) {
        return Ok(HitResult::Target);
    }
    tracing::debug!(path, "is at the point, but not in {}", own.path);
    Ok(HitResult::Covered { by: None, what: overlaps::words(&there, 1) })
}

/// Finds the first of an object and its current ancestors for which `ends` returns a value. Returns
/// the value and the path of the child that leads there, or of the object itself if it is the
/// first. Returns `None` if there is no such object.
pub(super) async fn ascend<T>(
    app: &App,
    path: &str,
    ends: impl Fn(&str) -> Option<T>,
) -> Result<Option<(String, T)>> {
    let (mut below, mut here) = (path.to_owned(), path.to_owned());
    for _ in 0..DEEP {
        if let Some(end) = ends(&here) {
            return Ok(Some((below, end)));
        }
        let above = lifecycle::check_answer(app, app.link.parents(&[&here]).await).await?.pop().flatten();
        let Some(above) = above.filter(|(_, above)| !above.ends_with("/null")) else { return Ok(None) };
        let next = app.link.resolve_path(&here, above);
        below = std::mem::replace(&mut here, next);
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::capture;
    use crate::bus::names::ROOT;
    use crate::model::roles::number as role;
    use crate::model::states as s;
    use crate::tests::heap::{Heap, Thing, at, covered, read, spot, why};
    use crate::tests::speaker::{FIRST, Speaker, WINDOW};
    use crate::toolkit::profile::Toolkit;

    /// Returns a button in a box, and objects next to the box.
    fn heap() -> Heap {
        let folded = Thing::new("/folded", "Folded", role::PANEL, "/window");
        Heap(vec![
            Thing::new("/window", "Window", role::FRAME, ROOT),
            Thing::new("/before", "Before", role::PUSH_BUTTON, "/window"),
            Thing::new("/box", "Form", role::PANEL, "/window"),
            Thing::new("/target", "Send", role::PUSH_BUTTON, "/box"),
            Thing::new("/part", "Icon", role::ICON, "/target"),
            Thing::new("/other", "Delete", role::PUSH_BUTTON, "/window"),
            Thing { states: s::ENABLED, ..folded },
        ])
    }

    /// Returns an object that appeared after the app was read and that its parent does not list.
    fn came(path: &'static str, name: &'static str, role: u32, above: &'static str) -> Thing {
        Thing { listed: false, ..Thing::new(path, name, role, above) }
    }

    /// Returns the hit result of a press on the target that reaches an object that appeared inside
    /// another one.
    async fn said(toolkit: Toolkit, comes: &[(&'static str, &'static str, u32, &'static str)]) -> HitResult {
        let (app, device) = read(toolkit, heap()).await;
        let all = comes.iter().map(|&(path, name, role, above)| came(path, name, role, above));
        app.becomes(|heap| heap.0.extend(all));
        let target = at(&device, "/target");
        unread_hit(device.view(), target, comes[0].0).await.unwrap()
    }

    const ALL: [Toolkit; 3] = [Toolkit::Gtk4, Toolkit::Gtk3, Toolkit::Qt];

    #[tokio::test]
    async fn what_came_into_an_element_is_a_part_of_it_however_deep() {
        for toolkit in ALL {
            let hit = said(toolkit, &[("/x", "Spinner", role::PANEL, "/target")]).await;
            assert_eq!(hit, HitResult::Target, "{toolkit:?}");
            let deep = [("/x", "Spinner", role::PANEL, "/y"), ("/y", "", role::FILLER, "/part")];
            assert_eq!(said(toolkit, &deep).await, HitResult::Target, "{toolkit:?}");
        }
    }

    #[tokio::test]
    async fn what_came_into_another_element_covers_with_that() {
        for toolkit in ALL {
            let deep = [("/x", "Spinner", role::PANEL, "/y"), ("/y", "", role::FILLER, "/other")];
            assert_eq!(said(toolkit, &deep).await, covered("push button \"Delete\""), "{toolkit:?}");
        }
    }

    #[tokio::test]
    async fn unread_sibling_covers_where_toolkit_names_visible() {
        let deep = [("/x", "Label", role::PANEL, "/y"), ("/y", "Toast", role::PUSH_BUTTON, "/window")];
        assert_eq!(
            said(Toolkit::Gtk4, &deep).await,
            covered("push button \"Toast\""),
            "the outermost that is new"
        );
        for toolkit in [Toolkit::Gtk3, Toolkit::Qt] {
            assert_eq!(said(toolkit, &deep).await, HitResult::Target, "{toolkit:?}");
        }
        // The object that contains the new one was hidden when the app was read, and may be shown
        // now.
        let folded = [("/x", "Label", role::PANEL, "/folded")];
        assert_eq!(said(Toolkit::Gtk4, &folded).await, covered("panel \"Folded\""));
        assert_eq!(said(Toolkit::Gtk3, &folded).await, HitResult::Target, "it may be hidden still");
    }

    #[tokio::test]
    async fn what_only_says_what_an_element_is_called_is_of_it() {
        let inner = [("/x", "Send", role::LABEL, "/other")];
        assert_eq!(said(Toolkit::Gtk4, &inner).await, HitResult::Target);
        let outer = [("/x", "", role::PANEL, "/y"), ("/y", "Send", role::LABEL, "/window")];
        assert_eq!(said(Toolkit::Gtk4, &outer).await, HitResult::Target);
    }

    #[tokio::test]
    async fn what_lies_in_nothing_that_was_read_proves_nothing() {
        assert_eq!(said(Toolkit::Gtk4, &[("/x", "Toast", role::PANEL, "")]).await, HitResult::Target);
        let circle = [("/x", "Toast", role::PANEL, "/y"), ("/y", "Toast", role::PANEL, "/x")];
        assert_eq!(said(Toolkit::Gtk4, &circle).await, HitResult::Target);
    }

    #[tokio::test]
    async fn content_hidden_at_capture_belongs_to_its_element() {
        let (app, device) = read(Toolkit::Gtk4, heap()).await;
        app.becomes(|heap| heap.0.push(came("/x", "Spinner", role::PANEL, "/folded")));
        let target = at(&device, "/folded");
        assert!(!device.last[target].shown);
        assert_eq!(unread_hit(device.view(), target, "/x").await.unwrap(), HitResult::Target);
    }

    /// A point in the first button.
    const MIDDLE: (f64, f64) = (50.0, 20.0);

    #[tokio::test]
    async fn descent_ends_without_a_name_and_fails_on_errors() {
        let app = Speaker::start();
        let (mut device, _) = app.device().await;
        device.app.link.toolkit = Toolkit::Gtk4;
        capture::capture_app(&mut device, &[]).await.unwrap();
        let ways = [
            (vec![(WINDOW, FIRST), (FIRST, "/org/a11y/atspi/null")], Some(FIRST.to_owned())),
            (vec![(WINDOW, FIRST), (FIRST, FIRST)], Some(FIRST.to_owned())),
            // The first button does not support the query, but exists.
            (vec![(WINDOW, FIRST)], Some(FIRST.to_owned())),
            (vec![(WINDOW, "/org/a11y/atspi/null")], None),
            (vec![], None),
        ];
        for (points, there) in ways {
            app.becomes(|now| now.points.clone_from(&points));
            assert_eq!(
                deepest(spot(&device, MIDDLE, (0.0, 0.0)), WINDOW).await.unwrap(),
                there,
                "{points:?}"
            );
        }
        app.becomes(|now| (now.points, now.refuses) = (vec![(WINDOW, FIRST)], vec![(FIRST, "GetState")]));
        let there = deepest(spot(&device, MIDDLE, (0.0, 0.0)), WINDOW).await;
        assert_eq!(
            there.map_err(why),
            Err("the element that the app reported there has just disappeared".to_owned())
        );
        let question = "GetAccessibleAtPoint";
        for (refuses, garbles, says) in [
            (vec![(FIRST, question)], vec![], "the app returned the error \"Failed: not now\""),
            (vec![(WINDOW, question)], vec![], "the app returned the error \"Failed: not now\""),
            (vec![], vec![(FIRST, question)], "the app's response cannot be parsed"),
        ] {
            app.becomes(|now| (now.refuses, now.garbles) = (refuses, garbles));
            let there = deepest(spot(&device, MIDDLE, (0.0, 0.0)), WINDOW).await;
            assert_eq!(there.map_err(why), Err(says.to_owned()));
        }
    }
}
