//! Hit tests for an input without a target element.

use crate::aim::hit::named::{deepest, header_at};
use crate::aim::hit::{HitPoint, Resolved, Unresolved, stacking};
use crate::aim::{position, window};
use crate::app::{LinuxDevice, WindowStack, capture};
use crate::model::{DEEP, Point};
use crate::toolkit::profile::Popups;
use stickpin_device::Result;
use stickpin_tree::Handle;
use stickpin_x11desk::Window;

/// Returns the element that an input at a point of the screen reaches.
///
/// # Errors
/// Returns `ELEMENT_COVERED` when the app does not name its object there.
pub(crate) async fn element_there(device: &mut LinuxDevice, point: Point) -> Result<Option<Handle>> {
    let mut found = once_there(device, point).await;
    if let Err(Unresolved::Unknown(why)) = &found {
        // The app may have changed just now.
        tracing::debug!(?point, "is looked at again: {why}");
        capture::capture_app(device, &[]).await?;
        found = once_there(device, point).await;
    }
    found.map_err(|unresolved| unresolved.at(&format!("{},{}", point.0, point.1)))
}

/// Returns the innermost element at a point, in one attempt.
async fn once_there(device: &mut LinuxDevice, (x, y): Point) -> Resolved<Option<Handle>> {
    let Some(sight) = WindowStack::of(&device.app).await? else {
        return Err(device.app.screen.unseen("determine what is at a point").into());
    };
    if device.last.tree.is_none() {
        capture::capture_app(device, &[]).await?;
    }
    let Some(window) = sight.at((x, y)).await?.filter(|w| w.pid == device.app.info.pid) else {
        return Ok(None);
    };
    let (view, last) = (device.view(), &device.last);
    // GTK 4 answers for a window as if it had no pop-ups, so their content is queried.
    let apart = window.popup && last.picture.profile().popups == Popups::InWindows;
    let popovers = last.picture.objects.iter().filter(|o| apart && o.shown && last.picture.is_popover(o));
    let inside = popovers.flat_map(|popover| popover.children.iter().copied()).filter(|&at| last[at].shown);
    let tops = if apart { inside.collect() } else { last.picture.root().children.clone() };
    for at in tops {
        let shown_by = window::window_of(view, at, &sight.windows).await?;
        let of_another = |w: &Window| w.id != window.id && (apart || !window.popup);
        if shown_by.is_none_or(|w| of_another(&w)) {
            continue;
        }
        let offset = match position::locate_on_screen(view, at, Some(&sight)).await? {
            Some(placed) if (window.popup && !apart) || placed.rect.contains(x, y) => placed.offset,
            _ => continue,
        };
        let path = &last[at].path;
        let found = match deepest(HitPoint { view, point: (x, y), offset }, path).await? {
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

/// Returns the object that receives an input at a point. Starts from the object that the app named,
/// and continues with what covers it, repeatedly.
async fn uppermost(device: &mut LinuxDevice, mut at: usize, point: Point, offset: Point) -> Resolved<Handle> {
    // Each step goes to an object that is later in the app's order.
    for _ in 0..DEEP {
        let spot = HitPoint { view: device.view(), point, offset };
        let ordered = device.app.profile().draws_in_order && stacking::covers_point(spot, at).await?;
        let over = if ordered { stacking::covering_object(spot, at).await? } else { None };
        let Some(over) = over else {
            let header = header_at(spot, at).await?;
            let path = header.as_ref().unwrap_or(&device.last[at].path);
            return Ok(device.app.ids.handle(path));
        };
        let found = deepest(spot, &over).await?.unwrap_or(over);
        let Some(next) = read_at(device, &found).await? else {
            return Err(Unresolved::Unknown(
                "the app reports an element there that is not in its tree".to_owned(),
            ));
        };
        at = next;
    }
    Err(Unresolved::Unknown("the app keeps reporting more elements at the same point".to_owned()))
}

/// Returns the index of an object; reads the app if the last capture lacks it.
async fn read_at(device: &mut LinuxDevice, path: &str) -> Result<Option<usize>> {
    if device.last.at(path).is_none() {
        capture::capture_app(device, &[]).await?;
    }
    Ok(device.last.at(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::heap::{spot, why};
    use crate::tests::speaker::{FIRST, SECOND, Speaker, WINDOW};
    use crate::toolkit::profile::Toolkit;

    /// A point in both buttons, where one covers the other.
    const OVERLAP: (f64, f64) = (50.0, 70.0);

    /// Returns a device of a toolkit that has read an app of two buttons, the first of which is
    /// covered by the second.
    async fn read(toolkit: Toolkit) -> (LinuxDevice, Speaker) {
        let app = Speaker::start();
        app.becomes(|now| now.stacked = true);
        let (mut device, _) = app.device().await;
        device.app.link.toolkit = toolkit;
        capture::capture_app(&mut device, &[]).await.unwrap();
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
        // Outside the overlap, nothing covers the button.
        let (mut device, app) = read(Toolkit::Qt).await;
        app.becomes(|now| now.stacked = false);
        let first = read_at(&mut device, FIRST).await.unwrap().expect("it was read");
        let found = uppermost(&mut device, first, (50.0, 20.0), (0.0, 0.0)).await.unwrap();
        assert_eq!(found, device.app.ids.handle(FIRST));
    }

    #[tokio::test]
    async fn descent_ends_without_a_name_and_fails_on_errors() {
        let (device, app) = read(Toolkit::Gtk4).await;
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
                deepest(spot(&device, OVERLAP, (0.0, 0.0)), WINDOW).await.unwrap(),
                there,
                "{points:?}"
            );
        }
        app.becomes(|now| (now.points, now.refuses) = (vec![(WINDOW, FIRST)], vec![(FIRST, "GetState")]));
        let there = deepest(spot(&device, OVERLAP, (0.0, 0.0)), WINDOW).await;
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
            let there = deepest(spot(&device, OVERLAP, (0.0, 0.0)), WINDOW).await;
            assert_eq!(there.map_err(why), Err(says.to_owned()));
        }
    }
}
