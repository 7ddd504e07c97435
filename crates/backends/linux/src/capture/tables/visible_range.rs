//! Visible cells of a table: those between the cells at its top-left and bottom-right corners.
//!
//! This includes the last line of an icon view, which KDE does not count as a row. KDE divides the
//! number of items by the number of columns: two files in four columns make no row, six make one.
//! The remaining items are children of the table, but have no position in it.

use super::{Paths, TABLE, Table, TableRange};
use crate::bus::{ACCESSIBLE, BusResult, Call, calls};
use crate::model::role;

/// The distances from a corner, in pixels, at which the table is queried: past borders, then past
/// headers.
const INSETS: &[i32] = &[3, 14, 32, 56];

/// The number of points along each side at which a table is queried if it has no cell at its
/// top-left corner.
const POINTS: i32 = 8;

impl Table<'_> {
    /// Returns the range of cells between the top-left and the bottom-right corner of the table;
    /// `None` if the table has no size or no cell is found.
    pub(super) async fn visible_range(&self, all: (i32, i32)) -> BusResult<Option<TableRange>> {
        let extents = self.link.call(calls::extents(&self.path, self.link.toolkit)).await?;
        let [x, y, width, height]: [i32; 4] = extents.read()?;
        if width <= 0 || height <= 0 {
            return Ok(None);
        }
        let (right, bottom) = (x.saturating_add(width), y.saturating_add(height));
        let first = self.corner(INSETS.iter().map(|i| (x.saturating_add(3), y.saturating_add(*i)))).await?;
        let last =
            self.corner(INSETS.iter().map(|i| (right.saturating_sub(*i), bottom.saturating_sub(3)))).await?;
        let Some((top, left)) = first else { return self.among([x, y, width, height], all).await };
        // The rows may end above the bottom edge and the columns before the right edge. In that
        // case, one page is assumed.
        let (low, far) = last.unwrap_or((top.saturating_add(60), left.saturating_add(20)));
        let rows = top.min(low)..top.max(low).saturating_add(1).min(all.0);
        let columns = left.min(far)..left.max(far).saturating_add(1).min(all.1);
        Ok(Some(TableRange { rows, columns, all }))
    }

    /// Returns the range of the cells found at points all over the table, extended by one line on
    /// each side. Icons have gaps between them, and there may be no icon at a corner.
    async fn among(&self, [x, y, width, height]: [i32; 4], all: (i32, i32)) -> BusResult<Option<TableRange>> {
        let at = |from: i32, size: i32, of: i32| {
            from.saturating_add(size.saturating_mul(2 * of + 1) / (2 * POINTS))
        };
        let mut found: Vec<(i32, i32)> = Vec::new();
        for nth in 0..POINTS * POINTS {
            let point = (at(x, width, nth % POINTS), at(y, height, nth / POINTS));
            found.extend(self.corner(std::iter::once(point)).await?);
        }
        let range = |of: fn(&(i32, i32)) -> i32, all: i32| {
            let (least, most) = (found.iter().map(of).min()?, found.iter().map(of).max()?);
            Some(least.saturating_sub(1).max(0)..most.saturating_add(2).min(all))
        };
        let (rows, columns) = (range(|place| place.0, all.0), range(|place| place.1, all.1));
        Ok(rows.zip(columns).map(|(rows, columns)| TableRange { rows, columns, all }))
    }

    /// Returns the position of the first cell that is found at these points; `None` if there is no
    /// cell at any of them.
    async fn corner(&self, points: impl Iterator<Item = (i32, i32)>) -> BusResult<Option<(i32, i32)>> {
        for point in points {
            let there =
                self.objects(&[calls::at_point(&self.path, point, self.link.toolkit)]).await?.pop().flatten();
            let Some(cell) = there.filter(|cell| *cell != self.path) else { continue };
            let index: i32 =
                self.link.call(Call::new(&cell, ACCESSIBLE, "GetIndexInParent")).await?.read()?;
            let at = |member| Call::new(&self.path, TABLE, member).with((index,));
            let row: i32 = self.link.call(at("GetRowAtIndex")).await?.read()?;
            let column: i32 = self.link.call(at("GetColumnAtIndex")).await?.read()?;
            if row >= 0 && column >= 0 {
                return Ok(Some((row, column)));
            }
        }
        Ok(None)
    }

    /// Returns the cells after the last complete row, with their positions.
    ///
    /// # Errors
    /// Returns an error if the app is gone or silent.
    pub(super) async fn last_line(&self, (rows, columns): (i32, i32)) -> BusResult<Paths> {
        let count = self.picture[self.at].count;
        let whole = rows.checked_mul(columns).filter(|_| rows >= 0).unwrap_or(count);
        let over = count.saturating_sub(whole);
        if over <= 0 || over >= columns {
            return Ok(Paths::default());
        }
        let child = |index| calls::child(&self.path, index);
        let calls: Vec<Call<'_>> = std::iter::once(0).chain(whole..count).map(child).collect();
        let mut found = self.objects(&calls).await?.into_iter();
        // If the first child is a header, the last children are cells of a row.
        let Some(first) = found.next().flatten() else { return Ok(Paths::default()) };
        let role = self.link.each::<u32>(&[Call::new(&first, ACCESSIBLE, "GetRole")]).await?;
        if role != [Some(role::TABLE_CELL)] {
            return Ok(Paths::default());
        }
        let places = (0..over).map(|column| (rows, column));
        Ok(places.zip(found).filter_map(|(place, cell)| Some((place, cell?))).collect())
    }
}
