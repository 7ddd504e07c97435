//! Lists, trees and spreadsheets that manage their descendants. Only the visible part of a large
//! one is read.
//!
//! The children of such an object are never listed; a spreadsheet has 2^30 of them. The visible
//! cells are determined from the objects at the corners. Small tables are read completely, and
//! spreadsheets without their empty cells.

mod cell_parts;
mod headers;
mod levels;
mod rows;
mod visible_range;

use crate::bus::calls::property;
use crate::bus::{ACCESSIBLE, BusError, BusResult, Call, Link, Reference, whole};
use crate::capture::question::{ALL_QUESTIONS, Question, Questions};
use crate::model::{Interfaces, Object, ObjectTree, role, states};
use hashbrown::HashMap;
use std::ops::Range;

use headers::Headers;

const TABLE: &str = "org.a11y.atspi.Table";

/// The maximum size of a table that is read completely, in cells.
const WHOLE_TABLE: i64 = 600;

/// The size above which a table counts as a spreadsheet, in cells.
const SHEET: i64 = 1 << 20;

/// The maximum number of cells that are read from one table.
const CELLS: i32 = 6_000;

/// The maximum number of tables that are read from one app.
const TABLES: usize = 16;

/// Row and column, from 0.
pub(crate) type CellPosition = (i32, i32);

/// Cells by position. Column headers are in row -1, and row headers in column -1.
pub(crate) type Paths = HashMap<CellPosition, String>;

/// The paths of visible cells, by the path of their table.
///
/// Some apps create and keep an object for each query of a cell: LibreOffice grew by two thirds in
/// forty captures of one screen. Each cell is therefore queried only once while its object exists.
/// Names and contents are read each time. The paths are kept for spreadsheets, and for trees of Qt,
/// whose objects move with their items.
pub(crate) type Cells = HashMap<String, Paths>;

/// Reads the visible cells of every table that manages its descendants.
///
/// # Errors
/// Returns an error if the app is gone or silent.
pub(crate) async fn read(link: &Link, picture: &mut ObjectTree, cells: &mut Cells) -> BusResult<()> {
    let is_table = |o: &Object| o.shown && o.is(states::MANAGES_DESCENDANTS) && o.has(Interfaces::TABLE);
    let tables: Vec<usize> = (0..picture.objects.len()).filter(|&at| is_table(&picture[at])).collect();
    picture.truncated |= tables.len() > TABLES;
    cells.retain(|path, _| tables.iter().any(|&at| picture[at].path == *path));
    for at in tables.into_iter().take(TABLES) {
        let path = picture[at].path.clone();
        match (Table { link, picture, at, path }).read(cells).await {
            Err(fault) if fault.is_lost() => return Err(fault),
            Err(e) => {
                tracing::debug!("the cells of {} cannot be read: {e}", picture[at].path);
                // The table need not be empty.
                picture.truncated |= matches!(e, BusError::Refused(_) | BusError::Corrupt(_));
            }
            Ok(()) => {}
        }
    }
    Ok(())
}

/// The part of a table that is read, and the size of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TableRange {
    rows: Range<i32>,
    columns: Range<i32>,
    all: (i32, i32),
}

/// A table of a capture in progress.
struct Table<'a> {
    link: &'a Link,
    picture: &'a mut ObjectTree,
    at: usize,
    path: String,
}

impl Table<'_> {
    /// Reads the visible cells.
    async fn read(&mut self, kept: &mut Cells) -> BusResult<()> {
        let path = self.path.clone();
        let asked = [property(&path, TABLE, "NRows"), property(&path, TABLE, "NColumns")];
        let answers = self.link.calls(&asked).await.into_iter();
        let size = answers.map(|answer| Ok(whole(answer?.property_number()?.or(Some(0.0)))));
        let [rows, columns] = size.collect::<Result<Vec<_>, _>>()?[..] else { return Ok(()) };
        let icons =
            self.link.toolkit.profile().shows_icons_in_tables && self.picture[self.at].role == role::TABLE;
        let extra = if icons { self.last_line((rows, columns)).await? } else { Vec::new() };
        let rows = if extra.is_empty() { rows } else { rows + 1 };
        if rows <= 0 || columns <= 0 {
            return Ok(());
        }
        let cells = i64::from(rows) * i64::from(columns);
        let whole = TableRange { rows: 0..rows, columns: 0..columns, all: (rows, columns) };
        let part = if cells <= WHOLE_TABLE {
            whole
        } else if let Some(part) = self.visible_range((rows, columns)).await? {
            part
        } else {
            // No visible cell was found. The first cells are read, which need not be the ones that
            // are shown.
            self.picture.truncated = true;
            let few = i32::try_from(WHOLE_TABLE / i64::from(columns.min(100))).unwrap_or(1).max(1);
            TableRange { rows: 0..rows.min(few), columns: 0..columns.min(100), all: (rows, columns) }
        };
        let first = |range: Range<i32>, most: i32| range.start..range.end.min(range.start + most);
        let columns = first(part.columns, 200);
        let rows = first(part.rows, CELLS / (columns.end - columns.start).max(1));
        let part = TableRange { rows, columns, ..part };
        let tree =
            self.link.toolkit.profile().counts_trees_by_lines && self.picture[self.at].role == role::TREE;
        if tree && let Some(known) = kept.get_mut(&path) {
            *known = self.current_positions(known, &part).await?;
        }
        let known = (cells > SHEET || tree).then(|| kept.entry(path.clone()).or_default());
        let extra = extra.into_iter().filter(|((row, _), _)| part.rows.contains(row)).collect();
        self.cells(&part, known, (cells > SHEET, extra)).await
    }

    /// Returns the known cells of a tree by their current positions. Cells that are gone or folded
    /// are omitted.
    async fn current_positions(&self, known: &Paths, part: &TableRange) -> BusResult<Paths> {
        let (rows, columns) = part.all;
        // The children of the table are its cells, line by line, beginning with the headers.
        let above = (self.picture[self.at].count / columns).saturating_sub(rows);
        let mut moved: Paths = known
            .iter()
            .filter(|((row, column), _)| *row < 0 && *column < columns)
            .map(|(place, path)| (*place, path.clone()))
            .collect();
        let cells: Vec<&String> =
            known.iter().filter(|((row, _), _)| *row >= 0).map(|(_, path)| path).collect();
        let index = |path| Call::new(path, ACCESSIBLE, "GetIndexInParent");
        let calls: Vec<Call<'_>> = cells.iter().map(|&path| index(path)).collect();
        for (path, index) in cells.iter().zip(self.link.each::<i32>(&calls).await?) {
            // A cell without an index is gone.
            let Some(index) = index else { continue };
            let place = (index.div_euclid(columns).saturating_sub(above), index.rem_euclid(columns));
            if place.0 >= 0 {
                moved.insert(place, (*path).clone());
            }
        }
        Ok(moved)
    }

    /// Reads the cells of a part of the table and puts them into rows below the table. `known`
    /// contains cells from earlier captures, and `extra` contains those without a position in the
    /// table.
    async fn cells(
        &mut self,
        part: &TableRange,
        mut known: Option<&mut Paths>,
        (sheet, extra): (bool, Vec<(CellPosition, String)>),
    ) -> BusResult<()> {
        let places = part.rows.clone().flat_map(|row| part.columns.clone().map(move |column| (row, column)));
        let mut places: Vec<CellPosition> = places.collect();
        let first: &[Question] =
            if sheet { &[Question::States, Question::Text] } else { &[Question::States] };
        let mut found = Vec::new();
        if let Some(known) = known.as_deref_mut() {
            known.retain(|(row, column), _| {
                (*row < 0 || part.rows.contains(row)) && part.columns.contains(column)
            });
            let cells = places.iter().filter_map(|place| Some((*place, known.get(place)?.clone()))).collect();
            let (alive, gone) = self.look_at(cells, first).await?;
            gone.iter().for_each(|place| drop(known.remove(place)));
            places.retain(|place| !known.contains_key(place));
            found = alive;
        }
        let calls: Vec<Call<'_>> = places.iter().map(|&place| cell(&self.path, place)).collect();
        let mut cells = extra;
        let there = self.objects(&calls).await?;
        cells.extend(places.iter().zip(there).filter_map(|(place, cell)| Some((*place, cell?))));
        if let Some(known) = known.as_deref_mut() {
            known.extend(cells.iter().cloned());
        }
        found.extend(self.look_at(cells, first).await?.0);
        found.sort_unstable();
        let empty = |object: &Object| object.text.as_deref().is_none_or(|text| text.trim().is_empty());
        found.retain(|&(_, new)| {
            let object = &self.picture[new];
            // Empty cells of a spreadsheet are left out, unless they have the focus.
            !object.is(states::DEFUNCT) && (!sheet || !empty(object) || object.is(states::FOCUSED))
        });
        let asks = ALL_QUESTIONS.iter().filter(|ask| !matches!(ask, Question::States | Question::Count));
        let asked = found.iter().flat_map(|&(_, new)| asks.clone().map(move |&ask| (new, ask)));
        let mut rest = Questions(asked.collect());
        let outline = matches!(self.picture[self.at].role, role::TREE | role::TREE_TABLE);
        let opens = |&&(_, new): &&(CellPosition, usize)| self.picture[new].is(rows::OPENS);
        // If no row can be opened and all rows are known, there is only one level.
        let deep = outline && (found.iter().any(|cell| opens(&cell)) || part.rows.start > 0);
        if deep {
            let by_parents = self.link.toolkit.profile().rows_name_their_parent;
            let ask = if by_parents { Question::Relations } else { Question::Extents };
            levels::firsts(&found).for_each(|(_, new)| rest.0.push((new, ask)));
        }
        rest.ask(self.link, self.picture).await?;
        if self.link.toolkit.profile().cells_hold_cells {
            self.read_pieces(&found).await?;
        }
        if deep {
            self.read_levels(&found).await?;
        }
        let headers = if sheet { Headers::default() } else { self.headers(&found, part, known).await? };
        rows::arrange(self.picture, self.at, &found, &headers, part);
        Ok(())
    }

    /// Returns the objects that the table names in its answers; `None` for an answer that names no
    /// object, for example for a position covered by an adjacent cell.
    async fn objects(&self, calls: &[Call<'_>]) -> BusResult<Vec<Option<String>>> {
        let named = self.link.each::<Reference>(calls).await?.into_iter();
        let object = |named| {
            Some(self.link.resolve_path(&self.path, named)).filter(|o| !o.is_empty() && !o.ends_with("/null"))
        };
        Ok(named.map(|named| named.and_then(object)).collect())
    }

    /// Adds cells to the capture and queries them. Returns their indices, and the positions of
    /// cells that are gone.
    async fn look_at(
        &mut self,
        cells: Vec<(CellPosition, String)>,
        asks: &[Question],
    ) -> BusResult<(Vec<(CellPosition, usize)>, Vec<CellPosition>)> {
        let from = self.picture.objects.len();
        let mut questions = Questions::default();
        let mut places = Vec::new();
        for (place, path) in cells {
            let new = self.picture.objects.len();
            self.picture.objects.push(Object { path, count: -1, complete: true, ..Object::default() });
            questions.add_all(new, asks.iter().copied());
            places.push(place);
        }
        let vanished = questions.ask(self.link, self.picture).await?.vanished;
        let (gone, alive): (Vec<_>, Vec<_>) =
            places.into_iter().zip(from..).partition(|(_, new)| vanished.contains(new));
        Ok((alive, gone.into_iter().map(|(place, _)| place).collect()))
    }
}

/// Creates the call that gets the cell at a position of a table.
fn cell(table: &str, (row, column): CellPosition) -> Call<'_> {
    Call::new(table, TABLE, "GetAccessibleAt").with((row, column))
}
