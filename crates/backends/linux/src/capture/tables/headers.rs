//! Headers of columns and rows.

use super::{CellPosition, Paths, Table, TableRange};
use crate::bus::{BusResult, Call, calls};
use crate::capture::question::{ALL_QUESTIONS, Question};
use crate::model::{role, states};
use hashbrown::HashMap;

/// The column and row headers of a table.
#[derive(Debug, Default)]
pub(super) struct Headers {
    pub(super) columns: Vec<(i32, usize)>,
    pub(super) rows: HashMap<i32, usize>,
}

impl Table<'_> {
    /// Reads the headers. In Qt and GTK 3, the children of a table are its cells, line by line. The
    /// first line consists of the column headers, if there are any, and each line begins with its
    /// row header, if it has one.
    pub(super) async fn headers(
        &mut self,
        found: &[(CellPosition, usize)],
        part: &TableRange,
        mut known: Option<&mut Paths>,
    ) -> BusResult<Headers> {
        if !self.link.toolkit.profile().headers_lie_before_cells {
            return Ok(Headers::default());
        }
        let first = self.children_at(&[((-1, 0), 0)], known.as_deref_mut()).await?;
        let Some(&(_, first)) = first.first() else { return Ok(Headers::default()) };
        let (above, before) = match self.picture[first].role {
            role::TABLE_COLUMN_HEADER => (1, 0),
            role::TABLE_ROW_HEADER => (0, 1),
            // This is the corner, so there are both kinds of headers.
            role::PANEL => (1, 1),
            _ => return Ok(Headers::default()),
        };
        let (rows, columns) = part.all;
        let line = i64::from(columns) + before;
        let mut places: Vec<(CellPosition, i64)> = Vec::new();
        if above == 1 {
            places.extend(part.columns.clone().map(|column| ((-1, column), before + i64::from(column))));
        }
        // If the number of children differs, it is unknown which of them are headers.
        if before == 1 && i64::from(self.picture[self.at].count) == (i64::from(rows) + above) * line {
            let mut seen: Vec<i32> = found.iter().map(|&((row, _), _)| row).collect();
            seen.dedup();
            places.extend(seen.into_iter().map(|row| ((row, -1), (i64::from(row) + above) * line)));
        }
        let mut headers = Headers::default();
        for ((row, column), new) in self.children_at(&places, known).await? {
            let object = &mut self.picture.objects[new];
            // Headers that are switched off still exist, and those of hidden columns have no width.
            let hidden = object.is_flat() || !states::is_visible(object.states, self.picture.toolkit);
            // The rectangle is needed only to check whether the header is visible.
            object.extents = None;
            match object.role {
                _ if hidden => {}
                role::TABLE_COLUMN_HEADER if row < 0 => headers.columns.push((column, new)),
                // A header that is a mere number does not identify its row, because another row may
                // get that number next.
                role::TABLE_ROW_HEADER if column < 0 && object.name.trim() != (row + 1).to_string() => {
                    headers.rows.insert(row, new);
                }
                _ => {}
            }
        }
        Ok(headers)
    }

    /// Adds children of the table to the capture by their indices. `known` contains those from
    /// earlier captures.
    async fn children_at(
        &mut self,
        places: &[(CellPosition, i64)],
        known: Option<&mut Paths>,
    ) -> BusResult<Vec<(CellPosition, usize)>> {
        let mut fresh = Paths::default();
        let known = known.unwrap_or(&mut fresh);
        let unknown = places.iter().filter(|(place, _)| !known.contains_key(place));
        let unknown: Vec<(CellPosition, i32)> =
            unknown.filter_map(|(place, n)| Some((*place, i32::try_from(*n).ok()?))).collect();
        let calls: Vec<Call<'_>> =
            unknown.iter().map(|&(_, index)| calls::child(&self.path, index)).collect();
        let there = self.objects(&calls).await?;
        known.extend(unknown.iter().zip(there).filter_map(|((place, _), child)| Some((*place, child?))));
        let children =
            places.iter().filter_map(|(place, _)| Some((*place, known.get(place)?.clone()))).collect();
        let mut asks = ALL_QUESTIONS.to_vec();
        if self.link.toolkit.profile().headers_may_be_hidden {
            asks.push(Question::Extents);
        }
        let (alive, gone) = self.look_at(children, &asks).await?;
        gone.iter().for_each(|place| drop(known.remove(place)));
        Ok(alive)
    }
}
