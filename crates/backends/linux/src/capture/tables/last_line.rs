//! The cells of a last line that a view of icons does not count as a row.
//!
//! KDE's item views divide the number of their things by that of their columns: two files in four columns are no row, six
//! are one. What is left over is among their children, and at no place of the table.

use super::{Place, object_in};
use crate::bus::fault::Fault;
use crate::bus::names::ACCESSIBLE;
use crate::bus::{Args, Call, Link};
use crate::model::roles::number as role;

/// The cells behind the last whole row, with their places. `count` is how many children the table has.
///
/// # Errors
/// When the app is gone or silent.
pub(super) async fn read(
    link: &Link,
    path: &str,
    count: i32,
    (rows, columns): (i32, i32),
) -> Result<Vec<(Place, String)>, Fault> {
    let Some(whole) = rows.checked_mul(columns).filter(|_| rows >= 0 && columns > 0) else {
        return Ok(Vec::new());
    };
    let over = count.saturating_sub(whole);
    if over <= 0 || over >= columns {
        return Ok(Vec::new());
    }
    let child =
        |index| Call { path, interface: ACCESSIBLE, member: "GetChildAtIndex", args: Args::new().int(index) };
    let calls: Vec<Call<'_>> = std::iter::once(0).chain(whole..count).map(child).collect();
    let mut found = Vec::new();
    for answer in link.calls(&calls).await {
        found.push(object_in(link, path, answer)?);
    }
    // Where headers are among the children, these are cells of a row.
    let Some(first) = found.first().cloned().flatten() else { return Ok(Vec::new()) };
    let role = link.call(&first, ACCESSIBLE, "GetRole", Args::new()).await;
    let cells = match role {
        Ok(role) => role.body().unsigned()? == role::TABLE_CELL,
        Err(fault @ (Fault::Closed(_) | Fault::Silent(_))) => return Err(fault),
        Err(_) => false,
    };
    let places = (0..over).map(|column| (rows, column));
    let last = places.zip(found.into_iter().skip(1)).filter_map(|(place, cell)| Some((place, cell?)));
    Ok(if cells { last.collect() } else { Vec::new() })
}
