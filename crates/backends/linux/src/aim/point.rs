//! What has a point: the way down from a window to the innermost object there, as the app says it, and up again to what lies
//! over that.

use super::place::shifted;
use crate::aim::there::{There, unknown};
use crate::aim::{hit, over, place};
use crate::app::{App, LinuxDevice, Reading, ask, life, reading};
use crate::bus::body::reference;
use crate::bus::fault::Fault;
use crate::bus::names::{ACCESSIBLE, COMPONENT, SCREEN};
use crate::bus::{Args, Cursor};
use crate::model::extents::has;
use crate::model::parents::{DEEP, POPOVER};
use crate::model::roles::number as role;
use crate::model::{Picture, states};
use crate::toolkit::Popups;
use stickpin_device::Result;
use stickpin_tree::{Handle, Rect, quote};
use stickpin_x11desk::{Window, windows};

/// The innermost object at a point of the screen, from this one down.
pub(crate) async fn deepest(app: &App, from: &str, point: (f64, f64), offset: (f64, f64)) -> Result<There> {
    #[expect(clippy::cast_possible_truncation, reason = "a point of a screen")]
    let (x, y) = ((point.0 - offset.0) as i32, (point.1 - offset.1) as i32);
    let mut path = from.to_owned();
    for _ in 0..DEEP {
        let args = Args::new().int(x).int(y).unsigned(SCREEN);
        let answer = app.link.call(&path, COMPONENT, "GetAccessibleAtPoint", args).await;
        let next = match answer.and_then(|answer| reference(&mut answer.body())) {
            Ok(there) => app.link.named(&path, there),
            Err(fault) => match is_the_last(app, &path, fault).await? {
                None => break,
                Some(why) => return Ok(There::Unknown(why)),
            },
        };
        if next.is_empty() || next.ends_with("/null") || next == path {
            break;
        }
        path = next;
    }
    Ok(if path == from { There::Nothing } else { There::Is(path) })
}

/// Whether an object that was asked what it has at a point, and answered so, is the last on the way down: it is there and
/// knows no such question. Else why nobody knows what is there.
async fn is_the_last(app: &App, path: &str, fault: Fault) -> Result<Option<String>> {
    match fault {
        // Qt says that there is no object where there is no such question, GTK 4 the other way round.
        Fault::Vanished | Fault::Unknown => {}
        Fault::Refused(why) => return Ok(Some(format!("the app answered with {}", quote(&why)))),
        Fault::Corrupt(_) => return Ok(Some("the app's answer cannot be read".to_owned())),
        fault => return Err(life::failed(app, fault).await),
    }
    let answer = app.link.call(path, ACCESSIBLE, "GetState", Args::new()).await;
    match answer.and_then(|answer| answer.body().items(4, Cursor::unsigned)) {
        Ok(all) if states::joined(&all) & states::DEFUNCT == 0 => Ok(None),
        Err(fault @ (Fault::Closed(_) | Fault::Silent(_))) => Err(life::failed(app, fault).await),
        _ => Ok(Some("what the app has there has just gone".to_owned())),
    }
}

/// The header of a table at a point: asked what is there, Qt answers with the table.
async fn header_at(
    app: &App,
    reading: &Reading,
    table: usize,
    point: (f64, f64),
    offset: (f64, f64),
) -> Result<Option<String>> {
    let Some(last) = &reading.last else { return Ok(None) };
    let objects = &last.picture.objects;
    if !matches!(objects[table].role, role::TABLE | role::TREE | role::TREE_TABLE) {
        return Ok(None);
    }
    let rows = objects[table].children.iter();
    let headers = rows.flat_map(|row| std::iter::once(row).chain(&objects[*row].children)).filter(|&&at| {
        matches!(objects[at].role, role::TABLE_COLUMN_HEADER | role::TABLE_ROW_HEADER) && objects[at].shown
    });
    let paths: Vec<String> = headers.map(|&at| objects[at].path.clone()).collect();
    let said = ask::said(app, &paths).await?;
    let here = |rect: &Option<Rect>| rect.is_some_and(|rect| has(shifted(rect, offset), point));
    Ok(paths.into_iter().zip(said).find(|(_, rect)| here(rect)).map(|(path, _)| path))
}

/// The innermost element at a point of the screen.
///
/// # Errors
/// `ELEMENT_COVERED` when the app does not say what it has there.
pub(crate) async fn element_there(device: &mut LinuxDevice, x: f64, y: f64) -> Result<Option<Handle>> {
    let mut again = false;
    loop {
        match once_there(device, (x, y)).await? {
            Ok(found) => return Ok(found),
            Err(why) if std::mem::replace(&mut again, true) => {
                return Err(unknown(&format!("{x},{y}"), &why));
            }
            // It may have changed in that moment.
            Err(why) => {
                tracing::debug!("{x},{y} is looked at again: {why}");
                reading::look(device, &[]).await?;
            }
        }
    }
}

/// The same, looked at once; and why nobody knows it, where that is so.
async fn once_there(
    device: &mut LinuxDevice,
    (x, y): (f64, f64),
) -> Result<std::result::Result<Option<Handle>, String>> {
    let Some(sight) = place::sight(&device.app).await? else {
        return Err(device.app.screen.unseen("tell what is at a point"));
    };
    if device.reading.last.is_none() {
        reading::look(device, &[]).await?;
    }
    let top = sight.x11.run(move |d| windows::top_at(d, x, y)).await?;
    let there = sight.windows.iter().find(|w| top == Some(w.frame) || top == Some(w.id)).cloned();
    let Some(window) = there.filter(|w| w.pid == device.app.info.pid) else { return Ok(Ok(None)) };
    let Some(last) = &device.reading.last else { return Ok(Ok(None)) };
    // GTK 4 answers for a window as if none of its pop-ups were there: what lies in one is asked.
    let apart = window.popup && last.picture.toolkit.profile().popups == Popups::InWindows;
    let tops = if apart { in_popovers(&last.picture) } else { last.picture.root().children.clone() };
    for at in tops {
        let of_another = |w: &Window| w.id != window.id && (apart || !window.popup);
        if hit::window_of(&device.app, &device.reading, at, &sight.windows)
            .await?
            .is_none_or(|w| of_another(&w))
        {
            continue;
        }
        let offset = match place::placed(&device.app, &device.reading, at, Some(&sight)).await? {
            Some(placed) if (window.popup && !apart) || has(placed.rect, (x, y)) => placed.offset,
            _ => continue,
        };
        let Some(last) = &device.reading.last else { return Ok(Ok(None)) };
        let path = last.picture.objects[at].path.clone();
        let found = match deepest(&device.app, &path, (x, y), offset).await? {
            There::Is(found) => found,
            There::Nothing if apart => path,
            There::Nothing => continue,
            There::Unknown(why) => return Ok(Err(why)),
        };
        let Some(at) = read_at(device, &found).await? else { return Ok(Ok(None)) };
        return uppermost(device, at, (x, y), offset).await;
    }
    Ok(Ok(None))
}

/// What an input at a point goes to, from what the app named there: what lies over that, if anything does, and what lies
/// over that again.
async fn uppermost(
    device: &mut LinuxDevice,
    mut at: usize,
    point: (f64, f64),
    offset: (f64, f64),
) -> Result<std::result::Result<Option<Handle>, String>> {
    // Each step goes to what comes later in the order of the app.
    for _ in 0..DEEP {
        let over = match device.app.link.toolkit.profile().draws_in_order
            && over::order_tells(&device.app, &device.reading, at, point, offset).await?
        {
            true => over::over(&device.app, &device.reading, at, point, offset).await?,
            false => None,
        };
        let Some(over) = over else {
            let header = header_at(&device.app, &device.reading, at, point, offset).await?;
            let Some(last) = &device.reading.last else { return Ok(Ok(None)) };
            let path = header.as_ref().unwrap_or(&last.picture.objects[at].path);
            return Ok(Ok(Some(device.app.ids.handle(path))));
        };
        let found = match deepest(&device.app, &over, point, offset).await? {
            There::Is(found) => found,
            There::Nothing => over,
            There::Unknown(why) => return Ok(Err(why)),
        };
        let Some(next) = read_at(device, &found).await? else {
            return Ok(Err("what the app has there is not in what it shows".to_owned()));
        };
        at = next;
    }
    Ok(Err("the app names one thing over another without end".to_owned()))
}

/// An object as it was read, by its index; what was not is read now.
async fn read_at(device: &mut LinuxDevice, path: &str) -> Result<Option<usize>> {
    let known = |d: &LinuxDevice| d.reading.last.as_ref()?.at(path);
    if known(device).is_none() {
        reading::look(device, &[]).await?;
    }
    Ok(known(device))
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
    use crate::tests::speaker::{FIRST, SECOND, Speaker, WINDOW};
    use crate::toolkit::Toolkit;

    /// A point of both buttons where one lies over the other.
    const POINT: (f64, f64) = (50.0, 70.0);

    /// A device of a toolkit that has read an app of two buttons, the first of which lies below the second.
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
            let found = uppermost(&mut device, first, POINT, (0.0, 0.0)).await.unwrap().unwrap();
            assert_eq!(found, Some(device.app.ids.handle(there)), "{toolkit:?}");
        }
        // Beside it nothing lies over it.
        let (mut device, app) = read(Toolkit::Qt).await;
        app.becomes(|now| now.stacked = false);
        let first = read_at(&mut device, FIRST).await.unwrap().expect("it was read");
        let found = uppermost(&mut device, first, (50.0, 20.0), (0.0, 0.0)).await.unwrap().unwrap();
        assert_eq!(found, Some(device.app.ids.handle(FIRST)));
    }

    #[tokio::test]
    async fn the_way_down_ends_where_nothing_more_is_named_and_an_error_is_no_end() {
        let (device, app) = read(Toolkit::Gtk4).await;
        let ways = [
            (vec![(WINDOW, FIRST), (FIRST, "/org/a11y/atspi/null")], There::Is(FIRST.to_owned())),
            (vec![(WINDOW, FIRST), (FIRST, FIRST)], There::Is(FIRST.to_owned())),
            // It knows no such question, and is there.
            (vec![(WINDOW, FIRST)], There::Is(FIRST.to_owned())),
            (vec![(WINDOW, "/org/a11y/atspi/null")], There::Nothing),
            (vec![], There::Nothing),
        ];
        for (points, there) in ways {
            app.becomes(|now| now.points.clone_from(&points));
            assert_eq!(deepest(&device.app, WINDOW, POINT, (0.0, 0.0)).await.unwrap(), there, "{points:?}");
        }
        app.becomes(|now| (now.points, now.refuses) = (vec![(WINDOW, FIRST)], vec![(FIRST, "GetState")]));
        let gone = There::Unknown("what the app has there has just gone".to_owned());
        assert_eq!(deepest(&device.app, WINDOW, POINT, (0.0, 0.0)).await.unwrap(), gone);
        let question = "GetAccessibleAtPoint";
        for (refuses, garbles, why) in [
            (vec![(FIRST, question)], vec![], "the app answered with \"Failed: not now\""),
            (vec![(WINDOW, question)], vec![], "the app answered with \"Failed: not now\""),
            (vec![], vec![(FIRST, question)], "the app's answer cannot be read"),
        ] {
            app.becomes(|now| (now.refuses, now.garbles) = (refuses, garbles));
            let there = deepest(&device.app, WINDOW, POINT, (0.0, 0.0)).await.unwrap();
            assert_eq!(there, There::Unknown(why.to_owned()));
        }
    }
}
