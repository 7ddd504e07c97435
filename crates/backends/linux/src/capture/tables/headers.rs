//! Headers of columns and rows.

use super::{CellPosition, Paths, Table, TableRange};
use crate::bus::{BusResult, calls};
use crate::capture::question::{ALL_QUESTIONS, Question};
use crate::model::{role, states};

impl Table<'_> {
    /// Reads the headers. Those of columns are in row -1, those of rows in column -1. In Qt and
    /// GTK 3, the children of a table are its cells, line by line. The first line consists of the
    /// column headers, if there are any, and each line begins with its row header, if it has one.
    pub(super) async fn headers(
        &mut self,
        found: &[(CellPosition, usize)],
        part: &TableRange,
        known: &mut Paths,
    ) -> BusResult<Vec<(CellPosition, usize)>> {
        let profile = self.picture.profile();
        if !profile.headers_lie_before_cells {
            return Ok(Vec::new());
        }
        let mut asks = ALL_QUESTIONS.to_vec();
        asks.extend(profile.headers_may_be_hidden.then_some(Question::Extents));
        let first = self.look_up(vec![(-1, 0)], |table, _| calls::child(table, 0), known, &asks);
        let [(_, first)] = first.await?[..] else { return Ok(Vec::new()) };
        let (above, before) = match self.picture[first].role {
            role::TABLE_COLUMN_HEADER => (1, 0),
            role::TABLE_ROW_HEADER => (0, 1),
            // This is the corner, so there are both kinds of headers.
            role::PANEL => (1, 1),
            _ => return Ok(Vec::new()),
        };
        if before == 1 {
            // The first child is not the header of the first column.
            known.remove(&(-1, 0));
        }
        let (rows, columns) = part.all;
        let line = columns.saturating_add(before);
        let mut places: Vec<CellPosition> = Vec::new();
        if above == 1 {
            places.extend(part.columns.clone().map(|column| (-1, column)));
        }
        // If the number of children differs, it is unknown which of them are headers.
        let children = rows.saturating_add(above).checked_mul(line);
        if before == 1 && children == Some(self.picture[self.at].count) {
            places.extend(found.iter().map(|&((row, _), _)| (row, -1)));
            places.dedup();
        }
        let index = |(row, column): CellPosition| (row + above) * line + column + before;
        // The first child is in the capture already.
        let own = places.iter().position(|place| index(*place) == 0).map(|i| (places.remove(i), first));
        let children = self.look_up(places, |table, place| calls::child(table, index(place)), known, &asks);
        let mut headers = children.await?;
        headers.extend(own);
        headers.retain(|&((row, column), new)| {
            let object = &mut self.picture.objects[new];
            // Headers that are switched off still exist, and those of hidden columns have no width.
            let seen = !object.is_flat() && states::is_visible(object.states, self.picture.toolkit);
            // The rectangle is needed only to check whether the header is visible.
            object.extents = None;
            let fits = match object.role {
                role::TABLE_COLUMN_HEADER => row < 0,
                // A header that is a mere number does not identify its row, because another row may
                // get that number next.
                role::TABLE_ROW_HEADER => column < 0 && object.name.trim() != (row + 1).to_string(),
                _ => false,
            };
            seen && fits
        });
        Ok(headers)
    }
}
