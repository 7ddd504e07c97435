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
use hashbrown::{HashMap, HashSet};
use std::ops::Range;

const TABLE: &str = "org.a11y.atspi.Table";

/// The maximum size of a table that is read completely, in cells.
const WHOLE_TABLE: i32 = 600;

/// The size above which a table counts as a spreadsheet, in cells.
const SHEET: i32 = 1 << 20;

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
        let read = Table { link, picture, at, path }.read(cells).await;
        let Err(fault) = read else { continue };
        if fault.is_lost() {
            return Err(fault);
        }
        tracing::debug!("the cells of {} cannot be read: {fault}", picture[at].path);
        // The table need not be empty.
        picture.truncated |= matches!(fault, BusError::Refused(_) | BusError::Corrupt(_));
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
        let asked = [property(&self.path, TABLE, "NRows"), property(&self.path, TABLE, "NColumns")];
        let answers = self.link.calls(&asked).await.into_iter();
        let size = answers.map(|answer| Ok(whole(answer?.property_number()?.or(Some(0.0)))));
        let [rows, columns] = size.collect::<Result<Vec<_>, _>>()?[..] else { return Ok(()) };
        let (profile, role) = (self.picture.profile(), self.picture[self.at].role);
        let icons = profile.shows_icons_in_tables && role == role::TABLE;
        let extra = if icons { self.last_line((rows, columns)).await? } else { Paths::default() };
        let rows = if extra.is_empty() { rows } else { rows + 1 };
        if rows <= 0 || columns <= 0 {
            return Ok(());
        }
        let all = (rows, columns);
        let cells = rows.saturating_mul(columns);
        let part = if cells <= WHOLE_TABLE {
            Some(TableRange { rows: 0..rows, columns: 0..columns, all })
        } else {
            self.visible_range(all).await?
        };
        // If no visible cell was found, the first cells are read, which need not be the ones that
        // are shown.
        self.picture.truncated |= part.is_none();
        let first = |range: Range<i32>, most: i32| range.start..range.end.min(range.start + most);
        let few = first(0..rows, WHOLE_TABLE / columns.min(100));
        let part = part.unwrap_or(TableRange { rows: few, columns: 0..columns.min(100), all });
        let columns = first(part.columns, 200);
        let rows = first(part.rows, CELLS / (columns.end - columns.start).max(1));
        let part = TableRange { rows, columns, all };
        let (sheet, tree) = (cells > SHEET, profile.counts_trees_by_lines && role == role::TREE);
        let mut unkept = Paths::default();
        let known = if sheet || tree { kept.entry(self.path.clone()).or_default() } else { &mut unkept };
        if tree {
            *known = self.current_positions(known, all).await?;
        }
        self.cells(&part, known, extra, sheet).await
    }

    /// Returns the known cells of a tree by their current positions. Cells that are gone or folded
    /// are omitted.
    async fn current_positions(&self, known: &Paths, (rows, columns): (i32, i32)) -> BusResult<Paths> {
        // The children of the table are its cells, line by line, beginning with the headers.
        let above = (self.picture[self.at].count / columns).saturating_sub(rows);
        let (mut moved, cells): (Paths, Paths) =
            known.clone().into_iter().partition(|((row, _), _)| *row < 0);
        let cells: Vec<String> = cells.into_values().collect();
        let index = |path| Call::new(path, ACCESSIBLE, "GetIndexInParent");
        let indices =
            self.link.each::<i32>(&cells.iter().map(|path| index(path)).collect::<Vec<_>>()).await?;
        let position =
            |index: i32| (index.div_euclid(columns).saturating_sub(above), index.rem_euclid(columns));
        // A cell without an index is gone.
        let cells = cells.into_iter().zip(indices).filter_map(|(path, index)| Some((position(index?), path)));
        moved.extend(cells.filter(|((row, _), _)| *row >= 0));
        Ok(moved)
    }

    /// Reads the cells of a part of the table and puts them into rows below the table. `known`
    /// contains cells from earlier captures, and `extra` contains those without a position in the
    /// table, whose columns need not be part of the range.
    async fn cells(
        &mut self,
        part: &TableRange,
        known: &mut Paths,
        extra: Paths,
        sheet: bool,
    ) -> BusResult<()> {
        known.retain(|(row, column), _| {
            (*row < 0 || part.rows.contains(row)) && part.columns.contains(column)
        });
        let first: &[Question] =
            if sheet { &[Question::States, Question::Text] } else { &[Question::States] };
        let places = part.rows.clone().flat_map(|row| part.columns.clone().map(move |column| (row, column)));
        let beside =
            extra.keys().filter(|(row, column)| part.rows.contains(row) && !part.columns.contains(column));
        let places = places.chain(beside.copied()).collect();
        known.extend(extra);
        let mut found = self.look_up(places, cell, known, first).await?;
        let empty = |object: &Object| object.text.as_deref().is_none_or(|text| text.trim().is_empty());
        found.retain(|&(_, new)| {
            let object = &self.picture[new];
            // Empty cells of a spreadsheet are left out, unless they have the focus.
            !object.is(states::DEFUNCT) && (!sheet || !empty(object) || object.is(states::FOCUSED))
        });
        let asks = ALL_QUESTIONS.iter().filter(|ask| !matches!(ask, Question::States | Question::Count));
        let asked = found.iter().flat_map(|&(_, new)| asks.clone().map(move |&ask| (new, ask)));
        let mut rest = Questions(asked.collect());
        let profile = self.picture.profile();
        let outline = matches!(self.picture[self.at].role, role::TREE | role::TREE_TABLE);
        let opens = found.iter().any(|&(_, new)| self.picture[new].is(rows::OPENS));
        // If no row can be opened and all rows are known, there is only one level.
        let deep = outline && (opens || part.rows.start > 0);
        if deep {
            let ask = if profile.rows_name_their_parent { Question::Relations } else { Question::Extents };
            levels::firsts(&found).for_each(|(_, new)| rest.0.push((new, ask)));
        }
        rest.ask(self.link, self.picture).await?;
        if profile.cells_hold_cells {
            self.read_pieces(&found).await?;
        }
        if deep {
            self.read_levels(&found).await?;
        }
        if !sheet {
            found.extend(self.headers(&found, part, known).await?);
            found.sort_unstable();
        }
        rows::arrange(self.picture, self.at, &found, part);
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

    /// Adds the objects at these positions to the capture and queries them. Their paths are in
    /// `known`, which is updated, or are queried with `call`, which receives the path of the table.
    async fn look_up(
        &mut self,
        mut places: Vec<CellPosition>,
        call: impl Fn(&str, CellPosition) -> Call<'_>,
        known: &mut Paths,
        asks: &[Question],
    ) -> BusResult<Vec<(CellPosition, usize)>> {
        let mut found = Vec::new();
        while !places.is_empty() {
            let unknown: Vec<CellPosition> =
                places.iter().filter(|place| !known.contains_key(*place)).copied().collect();
            let asked: HashSet<CellPosition> = unknown.iter().copied().collect();
            let calls: Vec<Call<'_>> = unknown.iter().map(|&place| call(&self.path, place)).collect();
            let there = self.objects(&calls).await?;
            known.extend(unknown.iter().zip(there).filter_map(|(place, path)| Some((*place, path?))));
            let paths = places.iter().filter_map(|place| Some((*place, known.get(place)?.clone())));
            let (alive, gone) = self.look_at(paths.collect(), asks).await?;
            found.extend(alive);
            gone.iter().for_each(|place| drop(known.remove(place)));
            // Where an object of an earlier capture is gone, there may be another one now.
            places = gone.into_iter().filter(|place| !asked.contains(place)).collect();
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Adds objects to the capture and queries them. Returns their indices, and the keys of those
    /// that are gone.
    async fn look_at<K>(
        &mut self,
        paths: Vec<(K, String)>,
        asks: &[Question],
    ) -> BusResult<(Vec<(K, usize)>, Vec<K>)> {
        let from = self.picture.objects.len();
        let mut questions = Questions::default();
        let mut keys = Vec::new();
        for (key, path) in paths {
            questions.add_all(self.picture.objects.len(), asks.iter().copied());
            self.picture.objects.push(Object { path, count: -1, complete: true, ..Object::default() });
            keys.push(key);
        }
        let vanished = questions.ask(self.link, self.picture).await?.vanished;
        let vanished: HashSet<usize> = vanished.into_iter().collect();
        let (gone, alive): (Vec<_>, Vec<_>) =
            keys.into_iter().zip(from..).partition(|(_, new)| vanished.contains(new));
        Ok((alive, gone.into_iter().map(|(key, _)| key).collect()))
    }
}

/// Creates the call that gets the cell at a position of a table.
fn cell(table: &str, (row, column): CellPosition) -> Call<'_> {
    Call::new(table, TABLE, "GetAccessibleAt").with((row, column))
}
