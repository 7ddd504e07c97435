//! Lists, trees and spreadsheets that manage their descendants: only what is on the screen is read of them.
//!
//! Such an object is never asked for its children; a spreadsheet has 2^30 of them. Which cells can be seen is found out by
//! asking what is at its corners. A small table is read whole, and of a spreadsheet the cells that hold something.

mod pieces;

use crate::bus::{ACCESSIBLE, Args, COMPONENT, Call, Fault, Link, Message, Toolkit, property};
use crate::capture::DEPTH;
use crate::capture::ask::{Ask, Questions, SCREEN, WHOLE, reference};
use crate::model::{Interfaces, Object, Picture};
use crate::roles::number as role;
use crate::states;
use hashbrown::HashMap;
use std::ops::Range;

pub(crate) use pieces::{is_box, is_piece};

const TABLE: &str = "org.a11y.atspi.Table";

/// Cells up to which a table is read whole, whatever can be seen of it.
const WHOLE_TABLE: i64 = 600;

/// Cells from which on a table is a spreadsheet.
const SHEET: i64 = 1 << 20;

/// Cells that are read of one table at most.
const CELLS: i64 = 6_000;

/// Tables that are read of one app.
const TABLES: usize = 16;

/// What is added to the path of a row's first cell to name the row, which the app has no object for.
pub(crate) const ROW: &str = "#row";

/// The attribute of a cell that is the first of its row that can be seen; columns may be hidden.
pub(crate) const LEADS: &str = "leads";

/// How far inside its corners it is asked what is there: past borders, then past a line of headers.
const INSETS: &[i32] = &[3, 14, 32, 56];

/// Row and column, from 0.
type Place = (i32, i32);

/// Cells by their place; the headers of columns stand in the row before the first.
type Paths = HashMap<Place, String>;

/// The paths of the cells that can be seen, by the path of their table, where an app makes an object each time that a cell
/// is asked for, and keeps it: LibreOffice grew by two thirds in forty readings of a screenful. So each is asked for once
/// while its object lives. What it is called and what it holds comes from the object at every reading.
#[derive(Debug, Default, Clone)]
pub(crate) struct Cells {
    /// Of spreadsheets.
    sheets: HashMap<String, Paths>,
    /// Of the trees of Qt. Their objects go where their items go.
    trees: HashMap<String, Paths>,
}

impl Cells {
    /// Whether the app shows a spreadsheet, as far as was read.
    pub(crate) fn have_sheets(&self) -> bool {
        !self.sheets.is_empty()
    }
}

/// Reads the visible cells of every table that manages its descendants.
///
/// # Errors
/// When the app is gone or silent.
pub(crate) async fn read(link: &Link, picture: &mut Picture, cells: &mut Cells) -> Result<(), Fault> {
    let is_table = |o: &Object| o.shown && o.is(states::MANAGES_DESCENDANTS) && o.has(Interfaces::TABLE);
    let tables: Vec<usize> =
        (0..picture.objects.len()).filter(|&at| is_table(&picture.objects[at])).collect();
    if tables.len() > TABLES {
        picture.truncated = true;
    }
    let shown = |path: &String| tables.iter().any(|&at| picture.objects[at].path == *path);
    cells.sheets.retain(|path, _| shown(path));
    cells.trees.retain(|path, _| shown(path));
    for at in tables.into_iter().take(TABLES) {
        match one(link, picture, at, cells).await {
            Err(fault @ (Fault::Closed(_) | Fault::Silent(_))) => return Err(fault),
            Err(e) => {
                tracing::debug!("the cells of {} cannot be read: {e}", picture.objects[at].path);
                // It is not empty because of that.
                picture.truncated |= matches!(e, Fault::Refused(_) | Fault::Corrupt(_));
            }
            Ok(()) => {}
        }
    }
    Ok(())
}

/// Which part of a table is read, of how much.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    rows: Range<i32>,
    columns: Range<i32>,
    all: (i32, i32),
}

async fn one(link: &Link, picture: &mut Picture, at: usize, kept: &mut Cells) -> Result<(), Fault> {
    let path = picture.objects[at].path.clone();
    let asked = [property(&path, TABLE, "NRows"), property(&path, TABLE, "NColumns")];
    let mut size = Vec::new();
    for answer in link.calls(&asked).await {
        size.push(count(&answer?)?);
    }
    let [rows, columns] = size[..] else { return Ok(()) };
    if rows <= 0 || columns <= 0 {
        return Ok(());
    }
    let cells = i64::from(rows) * i64::from(columns);
    let whole = Part { rows: 0..rows, columns: 0..columns, all: (rows, columns) };
    let part = if cells <= WHOLE_TABLE {
        whole
    } else if let Some(part) = in_sight(link, &path, (rows, columns)).await? {
        part
    } else {
        // Nothing at its corners: its beginning.
        let few = i32::try_from(WHOLE_TABLE / i64::from(columns.min(100))).unwrap_or(1).max(1);
        Part { rows: 0..rows.min(few), columns: 0..columns.min(100), all: (rows, columns) }
    };
    let columns = part.columns.len();
    let columns_read = columns.min(200);
    let most = usize::try_from(CELLS).unwrap_or(usize::MAX) / columns_read.max(1);
    let part = Part {
        columns: part.columns.start..part.columns.start + i32::try_from(columns_read).unwrap_or(0),
        rows: part.rows.start..part.rows.start + i32::try_from(part.rows.len().min(most)).unwrap_or(0),
        ..part
    };
    let tree = link.toolkit == Toolkit::Qt && picture.objects[at].role == role::TREE;
    if tree && let Some(known) = kept.trees.get_mut(&path) {
        *known = moved(link, picture, at, known, &part).await?;
    }
    let known = match (cells > SHEET, tree) {
        (true, _) => Some(kept.sheets.entry(path.clone()).or_default()),
        (false, true) => Some(kept.trees.entry(path.clone()).or_default()),
        (false, false) => None,
    };
    cells_of(link, picture, at, &path, &part, known, cells > SHEET).await
}

/// Where the cells of a tree are now that were known before. Those that are folded away stand in no row.
async fn moved(
    link: &Link,
    picture: &Picture,
    at: usize,
    known: &Paths,
    part: &Part,
) -> Result<Paths, Fault> {
    let (rows, columns) = part.all;
    // Its children are its lines, first that of the headers.
    let above = (picture.objects[at].count / columns).saturating_sub(rows);
    let mut moved: Paths = known
        .iter()
        .filter(|((row, column), _)| *row < 0 && *column < columns)
        .map(|(place, path)| (*place, path.clone()))
        .collect();
    let cells: Vec<&String> = known.iter().filter(|((row, _), _)| *row >= 0).map(|(_, path)| path).collect();
    let index = |path| Call { path, interface: ACCESSIBLE, member: "GetIndexInParent", args: Args::new() };
    let calls: Vec<Call<'_>> = cells.iter().map(|&path| index(path)).collect();
    for (path, answer) in cells.iter().zip(link.calls(&calls).await) {
        match answer {
            Ok(answer) => {
                let index = answer.body().int()?;
                let place = (index.div_euclid(columns).saturating_sub(above), index.rem_euclid(columns));
                if place.0 >= 0 {
                    moved.insert(place, (*path).clone());
                }
            }
            Err(fault @ (Fault::Closed(_) | Fault::Silent(_))) => return Err(fault),
            // Its item is gone.
            Err(_) => {}
        }
    }
    Ok(moved)
}

/// The cells between the one at the top left corner and the one at the bottom right.
async fn in_sight(link: &Link, path: &str, all: (i32, i32)) -> Result<Option<Part>, Fault> {
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

fn count(answer: &Message) -> Result<i32, Fault> {
    #[expect(clippy::cast_possible_truncation, reason = "counts are whole numbers of 32 bits on the wire")]
    Ok(answer.body().variant_number()?.unwrap_or(0.0) as i32)
}

/// Reads the cells of a part, and puts them into rows below the table. `known` has those that were asked for before.
async fn cells_of(
    link: &Link,
    picture: &mut Picture,
    at: usize,
    path: &str,
    part: &Part,
    mut known: Option<&mut Paths>,
    sheet: bool,
) -> Result<(), Fault> {
    let places = part.rows.clone().flat_map(|row| part.columns.clone().map(move |column| (row, column)));
    let mut places: Vec<Place> = places.collect();
    let first: &[Ask] = if sheet { &[Ask::States, Ask::Text] } else { &[Ask::States] };
    let mut found = Vec::new();
    if let Some(known) = known.as_deref_mut() {
        known.retain(|(row, column), _| {
            (*row < 0 || part.rows.contains(row)) && part.columns.contains(column)
        });
        let cells = places.iter().filter_map(|place| Some((*place, known.get(place)?.clone()))).collect();
        let (alive, gone) = look_at(link, picture, cells, first).await?;
        gone.iter().for_each(|place| drop(known.remove(place)));
        places.retain(|place| !known.contains_key(place));
        found = alive;
    }
    let cell = |&(row, column): &Place| Call {
        path,
        interface: TABLE,
        member: "GetAccessibleAt",
        args: Args::new().int(row).int(column),
    };
    let calls: Vec<Call<'_>> = places.iter().map(cell).collect();
    let mut cells = Vec::new();
    for (place, answer) in places.iter().zip(link.calls(&calls).await) {
        cells.extend(object_in(link, path, answer)?.map(|cell| (*place, cell)));
    }
    if let Some(known) = known.as_deref_mut() {
        known.extend(cells.iter().cloned());
    }
    found.extend(look_at(link, picture, cells, first).await?.0);
    found.sort_unstable();
    let empty = |object: &Object| object.text.as_deref().is_none_or(|text| text.trim().is_empty());
    found.retain(|&(_, new)| {
        let object = &picture.objects[new];
        // What is empty, and nobody is at, is left out of a spreadsheet.
        !object.is(states::DEFUNCT) && (!sheet || !empty(object) || object.is(states::FOCUSED))
    });
    let mut rest = Questions::default();
    for &(_, new) in &found {
        WHOLE
            .iter()
            .filter(|&&ask| ask != Ask::States && ask != Ask::Count)
            .for_each(|&ask| rest.add(new, ask));
    }
    let outline = matches!(picture.objects[at].role, role::TREE | role::TREE_TABLE);
    let opens = |&&(_, new): &&(Place, usize)| picture.objects[new].is(OPENS);
    // Where nothing opens, and all is known, there is one level.
    let deep = outline && (found.iter().any(|cell| opens(&cell)) || part.rows.start > 0);
    if deep {
        let ask = if link.toolkit == Toolkit::Gtk3 { Ask::Relations } else { Ask::Extents };
        firsts(&found).for_each(|(_, new)| rest.add(new, ask));
    }
    rest.ask(link, picture).await?;
    if link.toolkit == Toolkit::Gtk3 {
        pieces::read(link, picture, &found).await?;
    }
    if deep {
        levels(link, picture, path, &found).await?;
    }
    let headers = match sheet {
        true => Headers::default(),
        false => headers(link, picture, at, &found, part, known).await?,
    };
    arrange(picture, at, &found, &headers, part);
    Ok(())
}

/// States of what has something below it.
const OPENS: u64 = states::EXPANDABLE | states::EXPANDED | states::COLLAPSED;

/// The cells that begin their rows.
fn firsts(found: &[(Place, usize)]) -> impl Iterator<Item = (i32, usize)> + '_ {
    found.iter().filter(|((_, column), _)| *column == 0).map(|&((row, _), new)| (row, new))
}

/// Says of the rows of a tree how deep they are.
async fn levels(
    link: &Link,
    picture: &mut Picture,
    path: &str,
    found: &[(Place, usize)],
) -> Result<(), Fault> {
    let deep = match link.toolkit {
        Toolkit::Gtk3 => levels_by_parents(link, picture, path, found).await?,
        _ => levels_by_place(link, picture, path, found).await?,
    };
    for (at, level) in deep {
        picture.objects[at].attributes.push(("level".to_owned(), level.to_string()));
    }
    Ok(())
}

/// By what they say that they are below: in GTK 3, where what was scrolled away has no place.
async fn levels_by_parents(
    link: &Link,
    picture: &mut Picture,
    path: &str,
    found: &[(Place, usize)],
) -> Result<Vec<(usize, usize)>, Fault> {
    let mut outer: HashMap<String, String> = HashMap::new();
    let mut next: Vec<usize> = firsts(found).map(|(_, new)| new).collect();
    for _ in 0..DEPTH {
        for object in next.iter().map(|&at| &picture.objects[at]) {
            outer.insert(object.path.clone(), object.child_of.clone());
        }
        let mut above: Vec<String> = next.iter().map(|&at| picture.objects[at].child_of.clone()).collect();
        above.retain(|above| !above.is_empty() && above != path && !outer.contains_key(above));
        above.sort_unstable();
        above.dedup();
        if above.is_empty() {
            break;
        }
        // What was not read, because it is above what can be seen.
        let above = above.into_iter().map(|above| ((0, 0), above)).collect();
        next =
            look_at(link, picture, above, &[Ask::Relations]).await?.0.into_iter().map(|(_, at)| at).collect();
    }
    let level = |at: usize| {
        let up = std::iter::successors(outer.get(&picture.objects[at].path), |above| outer.get(*above));
        // One that ends elsewhere, or nowhere, is no path through this tree.
        up.take(DEPTH).position(|above| above == path).map(|above| (at, above + 1))
    };
    Ok(firsts(found).filter_map(|(_, new)| level(new)).collect())
}

/// By where they begin, of which Qt says no more: what is deeper begins further in.
async fn levels_by_place(
    link: &Link,
    picture: &mut Picture,
    path: &str,
    found: &[(Place, usize)],
) -> Result<Vec<(usize, usize)>, Fault> {
    let mut open: Vec<i32> = Vec::new();
    // The first row of all is as far out as any, also where it was scrolled away.
    if firsts(found).next().is_some_and(|(row, _)| row > 0) {
        let args = Args::new().int(0).int(0);
        let first = link.call(path, TABLE, "GetAccessibleAt", args).await;
        if let Some(first) = object_in(link, path, first)? {
            let first = look_at(link, picture, vec![((0, 0), first)], &[Ask::Extents]).await?.0;
            open.extend(first.first().and_then(|&(_, new)| Some(picture.objects[new].extents?[0])));
        }
    }
    let mut levels = Vec::new();
    for (_, new) in firsts(found) {
        // Only for this: what a cell has no place for is read all the same.
        if let Some([left, ..]) = picture.objects[new].extents.take() {
            levels.push((new, level(&mut open, left)));
        }
    }
    Ok(levels)
}

/// How deep something is that begins at `left`, counting from 1; `open` has where those begin that it may stand in.
fn level(open: &mut Vec<i32>, left: i32) -> usize {
    open.retain(|&outer| outer < left);
    open.push(left);
    open.len()
}

/// What stands above the columns of a table and before its rows.
#[derive(Debug, Default)]
struct Headers {
    columns: Vec<(i32, usize)>,
    rows: HashMap<i32, usize>,
}

/// Reads the headers. Qt and GTK 3 have them among the children, which are lines: first that of the column headers, where
/// there is one, and in each line first the header of the row, where rows have them.
async fn headers(
    link: &Link,
    picture: &mut Picture,
    at: usize,
    found: &[(Place, usize)],
    part: &Part,
    mut known: Option<&mut Paths>,
) -> Result<Headers, Fault> {
    if !matches!(link.toolkit, Toolkit::Qt | Toolkit::Gtk3) {
        return Ok(Headers::default());
    }
    let first = children_at(link, picture, at, &[((-1, 0), 0)], known.as_deref_mut()).await?;
    let Some(&(_, first)) = first.first() else { return Ok(Headers::default()) };
    let (above, before) = match picture.objects[first].role {
        role::TABLE_COLUMN_HEADER => (1, 0),
        role::TABLE_ROW_HEADER => (0, 1),
        // Of both: what stands in the corner.
        role::PANEL => (1, 1),
        _ => return Ok(Headers::default()),
    };
    let (rows, columns) = part.all;
    let line = i64::from(columns) + before;
    let mut places: Vec<(Place, i64)> = Vec::new();
    if above == 1 {
        places.extend(part.columns.clone().map(|column| ((-1, column), before + i64::from(column))));
    }
    // Where the children are not as many as that, it is not known which are which.
    if before == 1 && i64::from(picture.objects[at].count) == (i64::from(rows) + above) * line {
        let mut seen: Vec<i32> = found.iter().map(|&((row, _), _)| row).collect();
        seen.dedup();
        places.extend(seen.into_iter().map(|row| ((row, -1), (i64::from(row) + above) * line)));
    }
    let mut headers = Headers::default();
    for ((row, column), new) in children_at(link, picture, at, &places, known).await? {
        let object = &mut picture.objects[new];
        // Only for this, as long as it can be seen.
        let (extents, states) = (object.extents.take(), object.states);
        let (number, name) = (object.role, object.name.trim());
        // Those that are switched off are there all the same, and those of hidden columns have no width.
        let hidden = extents.is_some_and(|[_, _, width, height]| width <= 0 || height <= 0);
        if hidden || !states::seen(states, picture.toolkit) {
            continue;
        }
        match number {
            role::TABLE_COLUMN_HEADER if row < 0 => headers.columns.push((column, new)),
            // One that only counts says nothing of its row: another one may be there next.
            role::TABLE_ROW_HEADER if column < 0 && name != (row + 1).to_string() => {
                headers.rows.insert(row, new);
            }
            _ => {}
        }
    }
    Ok(headers)
}

/// Takes children of an object into the picture, by their numbers. `known` has those that were asked for before.
async fn children_at(
    link: &Link,
    picture: &mut Picture,
    at: usize,
    places: &[(Place, i64)],
    known: Option<&mut Paths>,
) -> Result<Vec<(Place, usize)>, Fault> {
    let path = picture.objects[at].path.clone();
    let mut fresh = Paths::default();
    let known = known.unwrap_or(&mut fresh);
    let unknown = places.iter().filter(|(place, _)| !known.contains_key(place));
    let unknown: Vec<(Place, i32)> =
        unknown.filter_map(|(place, n)| Some((*place, i32::try_from(*n).ok()?))).collect();
    let child = |&(_, n): &(Place, i32)| Call {
        path: &path,
        interface: ACCESSIBLE,
        member: "GetChildAtIndex",
        args: Args::new().int(n),
    };
    let calls: Vec<Call<'_>> = unknown.iter().map(child).collect();
    for ((place, _), answer) in unknown.iter().zip(link.calls(&calls).await) {
        known.extend(object_in(link, &path, answer)?.map(|child| (*place, child)));
    }
    let children = places.iter().filter_map(|(place, _)| Some((*place, known.get(place)?.clone()))).collect();
    let mut asks = WHOLE.to_vec();
    if link.toolkit == Toolkit::Qt {
        asks.push(Ask::Extents);
    }
    let (alive, gone) = look_at(link, picture, children, &asks).await?;
    gone.iter().for_each(|place| drop(known.remove(place)));
    Ok(alive)
}

/// The object that an answer names, if there is one.
fn object_in(link: &Link, by: &str, answer: Result<Message, Fault>) -> Result<Option<String>, Fault> {
    match answer {
        Ok(answer) => {
            let object = link.named(by, reference(&mut answer.body())?);
            Ok(Some(object).filter(|object| !object.is_empty() && !object.ends_with("/null")))
        }
        Err(fault @ (Fault::Closed(_) | Fault::Silent(_))) => Err(fault),
        // A place that a cell beside it reaches into.
        Err(_) => Ok(None),
    }
}

/// Takes cells into the picture and asks each of them this; where they are in it, and the places of those that are not
/// there any more.
async fn look_at(
    link: &Link,
    picture: &mut Picture,
    cells: Vec<(Place, String)>,
    asks: &[Ask],
) -> Result<(Vec<(Place, usize)>, Vec<Place>), Fault> {
    let from = picture.objects.len();
    let mut questions = Questions::default();
    let mut places = Vec::new();
    for (place, path) in cells {
        let new = picture.objects.len();
        picture.objects.push(Object { path, count: -1, complete: true, ..Object::default() });
        asks.iter().for_each(|&ask| questions.add(new, ask));
        places.push(place);
    }
    let vanished = questions.ask(link, picture).await?.vanished;
    let (gone, alive): (Vec<_>, Vec<_>) =
        places.into_iter().zip(from..).partition(|(_, new)| vanished.contains(new));
    Ok((alive, gone.into_iter().map(|(place, _)| place).collect()))
}

/// Puts cells into rows, where a table has more than one column or its rows have headers, and says what was left out.
fn arrange(picture: &mut Picture, at: usize, found: &[(Place, usize)], headers: &Headers, part: &Part) {
    let single = part.all.1 == 1 && headers.rows.is_empty();
    let mut children: Vec<usize> = Vec::new();
    for &(column, header) in &headers.columns {
        let object = &mut picture.objects[header];
        object.shown = true;
        object.attributes.push(("colindex".to_owned(), (column + 1).to_string()));
    }
    let above: Vec<usize> = headers.columns.iter().map(|&(_, header)| header).collect();
    match above.first() {
        Some(&first) if !single => {
            children.push(picture.objects.len());
            let line = row_of(&picture.objects[first], None, above);
            picture.objects.push(line);
        }
        _ => children.extend(above),
    }
    let mut last = None;
    for (place, &((row, column), cell)) in found.iter().enumerate() {
        picture.objects[cell].shown = true;
        if single {
            children.push(cell);
            continue;
        }
        if last != Some(row) {
            last = Some(row);
            let header = headers.rows.get(&row).copied();
            header.iter().for_each(|&header| picture.objects[header].shown = true);
            children.push(picture.objects.len());
            let line = row_of(&picture.objects[cell], Some(row), header.into_iter().collect());
            picture.objects.push(line);
            // The cells of hidden columns are there all the same; of a row out of sight all are hidden.
            let in_row = found[place..].iter().take_while(|((other, _), _)| *other == row).map(|&(_, at)| at);
            let seen = |at: &usize| states::seen(picture.objects[*at].states, picture.toolkit);
            let leads = in_row.clone().find(seen).unwrap_or(cell);
            picture.objects[leads].attributes.push((LEADS.to_owned(), String::new()));
        }
        let object = &mut picture.objects[cell];
        object.attributes.push(("colindex".to_owned(), (column + 1).to_string()));
        if let Some(&row) = children.last() {
            picture.objects[row].children.push(cell);
        }
    }
    let table = &mut picture.objects[at];
    table.children = children;
    table.complete = true;
    let (rows, columns) = part.all;
    if part.rows.len() < usize::try_from(rows).unwrap_or(0)
        || part.columns.len() < usize::try_from(columns).unwrap_or(0)
    {
        let seen = format!("rows {} to {}", part.rows.start + 1, part.rows.end);
        let of = if single {
            format!("of {rows}")
        } else {
            format!("of {rows}, columns {} to {} of {columns}", part.columns.start + 1, part.columns.end)
        };
        table.description = format!("{} {seen} {of}", table.description.trim()).trim().to_owned();
    }
}

/// A row, for which the app has no object: it goes by the path of its first cell.
fn row_of(first: &Object, row: Option<i32>, children: Vec<usize>) -> Object {
    Object {
        path: format!("{}{ROW}", first.path),
        role: role::TABLE_ROW,
        shown: true,
        complete: true,
        attributes: row
            .map(|row| ("rowindex".to_owned(), (row + 1).to_string()))
            .into_iter()
            .chain(first.attribute("level").map(|level| ("level".to_owned(), level.to_owned())))
            .collect(),
        states: states::VISIBLE
            | states::SHOWING
            | states::ENABLED
            | states::SENSITIVE
            | first.states & OPENS,
        children,
        ..Object::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(cells: usize) -> Picture {
        let objects = (0..=cells).map(|n| Object { path: format!("/{n}"), ..Object::default() }).collect();
        Picture { toolkit: Toolkit::Gtk3, objects, truncated: false }
    }

    #[test]
    fn cells_stand_in_rows_and_what_is_left_out_is_said() {
        let mut picture = picture(3);
        let part = Part { rows: 4..6, columns: 0..2, all: (100, 2) };
        let found = [((4, 0), 1), ((4, 1), 2), ((5, 1), 3)];
        arrange(&mut picture, 0, &found, &Headers::default(), &part);
        let rows = picture.objects[0].children.clone();
        let cells: Vec<_> = rows.iter().map(|&row| picture.objects[row].children.clone()).collect();
        assert_eq!(cells, [vec![1, 2], vec![3]]);
        assert_eq!(picture.objects[rows[0]].path, "/1#row");
        assert_eq!(picture.objects[rows[1]].attribute("rowindex"), Some("6"));
        assert_eq!(picture.objects[0].description, "rows 5 to 6 of 100, columns 1 to 2 of 2");
        let leads = |picture: &Picture| {
            (1..=3).filter(|&at| picture.objects[at].attribute(LEADS).is_some()).collect::<Vec<_>>()
        };
        assert_eq!(leads(&picture), [1, 3]);
        // The first column is hidden.
        picture.objects[0].children.clear();
        picture.objects.truncate(4);
        picture.objects.iter_mut().for_each(|object| object.attributes.clear());
        picture.objects[2].states = states::SHOWING;
        arrange(&mut picture, 0, &found, &Headers::default(), &part);
        assert_eq!(leads(&picture), [2, 3]);
    }

    #[test]
    fn headers_stand_above_the_rows_and_before_their_cells() {
        let mut picture = picture(5);
        let part = Part { rows: 0..1, columns: 0..2, all: (1, 2) };
        let headers = Headers { columns: vec![(0, 3), (1, 4)], rows: [(0, 5)].into_iter().collect() };
        arrange(&mut picture, 0, &[((0, 0), 1), ((0, 1), 2)], &headers, &part);
        let rows = &picture.objects[0].children;
        let cells: Vec<_> = rows.iter().map(|&row| picture.objects[row].children.clone()).collect();
        assert_eq!(cells, [vec![3, 4], vec![5, 1, 2]]);
        assert_eq!(picture.objects[rows[0]].attribute("rowindex"), None, "it is none of them");
        assert_eq!(picture.objects[4].attribute("colindex"), Some("2"));
    }

    #[test]
    fn what_begins_further_in_is_deeper() {
        let levels = |outer: &[i32], lefts: &[i32]| {
            let mut open = outer.to_vec();
            lefts.iter().map(|&left| level(&mut open, left)).collect::<Vec<_>>()
        };
        assert_eq!(levels(&[], &[20, 40, 60, 60, 40, 20]), [1, 2, 3, 3, 2, 1]);
        // Only a part was read, and what the first row stands in was not.
        assert_eq!(levels(&[20], &[40, 60, 20, 40]), [2, 3, 1, 2]);
        // Further out than anything yet.
        assert_eq!(levels(&[], &[60, 40, 60]), [1, 1, 2]);
    }

    #[test]
    fn a_row_of_one_cell_keeps_its_header() {
        let mut picture = picture(2);
        let headers = Headers { columns: Vec::new(), rows: [(0, 2)].into_iter().collect() };
        let part = Part { rows: 0..1, columns: 0..1, all: (1, 1) };
        arrange(&mut picture, 0, &[((0, 0), 1)], &headers, &part);
        let row = picture.objects[0].children[0];
        assert_eq!(picture.objects[row].children, [2, 1]);
    }

    #[test]
    fn a_list_of_one_column_has_no_rows() {
        let mut picture = picture(2);
        arrange(
            &mut picture,
            0,
            &[((0, 0), 1), ((1, 0), 2)],
            &Headers::default(),
            &Part { rows: 0..2, columns: 0..1, all: (2, 1) },
        );
        assert_eq!(picture.objects[0].children, [1, 2]);
        assert!(picture.objects[0].description.is_empty());
    }
}
