//! The cells of a last line that a view of icons does not count as a row.
//!
//! KDE's item views divide the number of their things by that of their columns: two files in four columns are no row, six
//! are one. What is left over is among their children, and at no place of the table.

use super::{Place, objects};
use crate::bus::fault::Fault;
use crate::bus::names::ACCESSIBLE;
use crate::bus::{Call, Link, calls};
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
    let child = |index| calls::child(path, index);
    let calls: Vec<Call<'_>> = std::iter::once(0).chain(whole..count).map(child).collect();
    let mut found = objects(link, path, &calls).await?.into_iter();
    // Where headers are among the children, these are cells of a row.
    let Some(first) = found.next().flatten() else { return Ok(Vec::new()) };
    let role = link.each::<u32>(&[Call::new(&first, ACCESSIBLE, "GetRole")]).await?;
    if role != [Some(role::TABLE_CELL)] {
        return Ok(Vec::new());
    }
    let places = (0..over).map(|column| (rows, column));
    Ok(places.zip(found).filter_map(|(place, cell)| Some((place, cell?))).collect())
}
