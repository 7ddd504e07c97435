//! Which cells of a table can be seen: those between the one at its upper left corner and the one at its lower right.

use super::{Part, TABLE};
use crate::bus::{ACCESSIBLE, Args, COMPONENT, Call, Fault, Link};
use crate::capture::ask::{SCREEN, reference};

/// How far inside its corners it is asked what is there: past borders, then past a line of headers.
const INSETS: &[i32] = &[3, 14, 32, 56];

/// The cells between the one at the top left corner and the one at the bottom right.
pub(super) async fn in_sight(link: &Link, path: &str, all: (i32, i32)) -> Result<Option<Part>, Fault> {
    let answer = link.call(path, COMPONENT, "GetExtents", Args::new().unsigned(SCREEN)).await?;
    let mut c = answer.body();
    c.fields()?;
    let [x, y, width, height] = [c.int()?, c.int()?, c.int()?, c.int()?];
    if width <= 0 || height <= 0 {
        return Ok(None);
    }
    let (right, bottom) = (x.saturating_add(width), y.saturating_add(height));
    let first =
        corner(link, path, INSETS.iter().map(|i| (x.saturating_add(3), y.saturating_add(*i)))).await?;
    let last =
        corner(link, path, INSETS.iter().map(|i| (right.saturating_sub(*i), bottom.saturating_sub(3))))
            .await?;
    let Some((top, left)) = first else { return Ok(None) };
    // Rows that end above the lower edge, columns that end before the right one: a page of either.
    let (low, far) = last.unwrap_or((top.saturating_add(60), left.saturating_add(20)));
    let rows = top.min(low)..top.max(low).saturating_add(1).min(all.0);
    let columns = left.min(far)..left.max(far).saturating_add(1).min(all.1);
    Ok(Some(Part { rows, columns, all }))
}

/// Row and column of the first of these points that a cell is at.
async fn corner(
    link: &Link,
    path: &str,
    points: impl Iterator<Item = (i32, i32)>,
) -> Result<Option<(i32, i32)>, Fault> {
    for (x, y) in points {
        let args = Args::new().int(x).int(y).unsigned(SCREEN);
        let answer = match link.call(path, COMPONENT, "GetAccessibleAtPoint", args).await {
            Ok(answer) => answer,
            Err(fault @ (Fault::Closed(_) | Fault::Silent(_))) => return Err(fault),
            // It has nothing there.
            Err(_) => continue,
        };
        let cell = link.named(path, reference(&mut answer.body())?);
        if cell.is_empty() || cell.ends_with("/null") || cell == path {
            continue;
        }
        let index = link.call(&cell, ACCESSIBLE, "GetIndexInParent", Args::new()).await?.body().int()?;
        let at = |member| Call { path, interface: TABLE, member, args: Args::new().int(index) };
        let mut place = Vec::new();
        for answer in link.calls(&[at("GetRowAtIndex"), at("GetColumnAtIndex")]).await {
            place.push(answer?.body().int()?);
        }
        if let [row, column] = place[..]
            && row >= 0
            && column >= 0
        {
            return Ok(Some((row, column)));
        }
    }
    Ok(None)
}
