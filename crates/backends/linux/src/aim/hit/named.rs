//! The object that an app names at a point: the way down from a window to the innermost object.

use crate::aim::hit::{HitPoint, Resolved, Unresolved};
use crate::app::{App, ask, lifecycle};
use crate::bus::calls;
use crate::bus::error::BusError;
use crate::bus::names::SCREEN;
use crate::model::parents::DEEP;
use crate::model::roles::number as role;
use crate::model::states;
use stickpin_device::Result;
use stickpin_tree::quote;

/// Returns the innermost object that the app names at a spot, starting from this one; `None` if it
/// names no other.
pub(super) async fn deepest(spot: HitPoint<'_>, from: &str) -> Resolved<Option<String>> {
    let link = &spot.view.app.link;
    #[expect(clippy::cast_possible_truncation, reason = "a point of a screen")]
    let (x, y) = ((spot.point.0 - spot.offset.0) as i32, (spot.point.1 - spot.offset.1) as i32);
    let mut path = from.to_owned();
    for _ in 0..DEEP {
        let answer = link.call(calls::at_point(&path, (x, y), SCREEN)).await;
        let next = match answer.and_then(|answer| answer.read()) {
            Ok(there) => link.named(&path, there),
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

/// Checks that an object that failed to answer what it has at a point is the last one on the way
/// down: it exists, but does not support the question.
async fn is_the_last(app: &App, path: &str, fault: BusError) -> Resolved<()> {
    let unknown = |why: String| Err(Unresolved::Unknown(why));
    match fault {
        // Qt reports a missing object for a missing method, and GTK 4 a missing method for a
        // missing object.
        BusError::Vanished | BusError::Unknown => {}
        BusError::Refused(why) => return unknown(format!("the app answered with {}", quote(&why))),
        BusError::Corrupt(_) => return unknown("the app's answer cannot be read".to_owned()),
        fault => return Err(lifecycle::capture_error(app, fault).await.into()),
    }
    match ask::or_none(app, ask::states_now(app, path).await).await? {
        Some(states) if states & states::DEFUNCT == 0 => Ok(()),
        _ => unknown("what the app has there has just gone".to_owned()),
    }
}

/// Returns the header of a table at a spot. Qt names only the table.
pub(super) async fn header_at(spot: HitPoint<'_>, table: usize) -> Result<Option<String>> {
    let objects = spot.view.last.objects();
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
