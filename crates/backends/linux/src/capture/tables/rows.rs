//! Rows of tables, for which most apps have no objects.

use super::{CellPosition, TableRange};
use crate::model::{LEADS, Object, ObjectTree, ROW, role, states};
use std::ops::Range;

/// The state bits that mark a row as having children.
pub(super) const OPENS: u64 = states::EXPANDABLE | states::EXPANDED | states::COLLAPSED;

/// Groups cells and headers into rows, if a table has several columns or its rows have headers. If
/// some rows or columns were omitted, adds to the table's description which ones were read. `found`
/// is sorted.
pub(super) fn arrange(
    picture: &mut ObjectTree,
    at: usize,
    found: &[(CellPosition, usize)],
    part: &TableRange,
) {
    let single = part.all.1 == 1 && !found.iter().any(|((_, column), _)| *column < 0);
    // Icons in a grid are separate items, whereas the cells of a row with headers belong together.
    let items = picture.profile().shows_icons_in_tables
        && picture[at].role == role::TABLE
        && !found.iter().any(|((row, column), _)| *row < 0 || *column < 0);
    for &((row, column), cell) in found {
        picture[cell].shown = true;
        if column >= 0 && (row < 0 || !single) {
            picture[cell].attributes.push(("colindex".to_owned(), (column + 1).to_string()));
        }
    }
    let children = if single {
        found.iter().map(|&(_, cell)| cell).collect()
    } else {
        let mut rows: Vec<Object> = Vec::new();
        for line in found.chunk_by(|((row, _), _), ((next, _), _)| row == next) {
            let header = line.iter().take_while(|((_, column), _)| *column < 0).count();
            let Some(&((row, _), first)) = line.get(header) else { continue };
            // Cells of hidden columns exist as well; in a row out of view, all cells are hidden.
            let seen = |at: &usize| states::is_visible(picture[*at].states, picture.toolkit);
            let mut leads: Vec<usize> = line[header..].iter().map(|&(_, cell)| cell).filter(seen).collect();
            if !items {
                leads = vec![leads.first().copied().unwrap_or(first)];
            }
            for at in leads.into_iter().filter(|_| row >= 0) {
                picture[at].attributes.push((LEADS.to_owned(), String::new()));
            }
            rows.push(row_of(&picture[first], row, line.iter().map(|&(_, cell)| cell).collect()));
        }
        let from = picture.objects.len();
        picture.objects.extend(rows);
        (from..picture.objects.len()).collect()
    };
    let table = &mut picture[at];
    table.children = children;
    table.complete = true;
    let (rows, columns) = part.all;
    if part.rows != (0..rows) || part.columns != (0..columns) {
        let from_to = |part: &Range<i32>, all: i32| format!("{} to {} of {all}", part.start + 1, part.end);
        let across = format!(", columns {}", from_to(&part.columns, columns));
        let seen = format!("rows {}{}", from_to(&part.rows, rows), if single { "" } else { &across });
        table.description = format!("{} {seen}", table.description.trim()).trim().to_owned();
    }
}

/// Creates a row, for which the app has no object, with a path derived from that of its first cell.
/// The row of the column headers has no index.
fn row_of(first: &Object, row: i32, children: Vec<usize>) -> Object {
    let row = (row >= 0).then(|| ("rowindex".to_owned(), (row + 1).to_string()));
    let level = first.attribute("level").map(|level| ("level".to_owned(), level.to_owned()));
    Object {
        path: format!("{}{ROW}", first.path),
        role: role::TABLE_ROW,
        shown: true,
        complete: true,
        attributes: row.into_iter().chain(level).collect(),
        states: states::USABLE | first.states & OPENS,
        children,
        ..Object::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolkit::profile::Toolkit;

    fn picture(cells: usize) -> ObjectTree {
        let objects = (0..=cells).map(|n| Object { path: format!("/{n}"), ..Object::default() }).collect();
        ObjectTree { toolkit: Toolkit::Gtk3, objects, truncated: false }
    }

    #[test]
    fn cells_stand_in_rows_and_what_is_left_out_is_said() {
        let mut picture = picture(3);
        let part = TableRange { rows: 4..6, columns: 0..2, all: (100, 2) };
        let found = [((4, 0), 1), ((4, 1), 2), ((5, 1), 3)];
        arrange(&mut picture, 0, &found, &part);
        let rows = picture.objects[0].children.clone();
        let cells: Vec<_> = rows.iter().map(|&row| picture.objects[row].children.clone()).collect();
        assert_eq!(cells, [vec![1, 2], vec![3]]);
        assert_eq!(picture.objects[rows[0]].path, "/1#row");
        assert_eq!(picture.objects[rows[1]].attribute("rowindex"), Some("6"));
        assert_eq!(picture.objects[0].description, "rows 5 to 6 of 100, columns 1 to 2 of 2");
        let leads = |picture: &ObjectTree| {
            (1..=3).filter(|&at| picture.objects[at].attribute(LEADS).is_some()).collect::<Vec<_>>()
        };
        assert_eq!(leads(&picture), [1, 3]);
        // The first column is hidden.
        picture.objects[0].children.clear();
        picture.objects.truncate(4);
        picture.objects.iter_mut().for_each(|object| object.attributes.clear());
        picture.objects[2].states = states::SHOWING;
        arrange(&mut picture, 0, &found, &part);
        assert_eq!(leads(&picture), [2, 3]);
    }

    #[test]
    fn each_icon_of_a_view_of_qt_without_headers_is_listed() {
        let leads = |role: u32, headers: &[(CellPosition, usize)]| {
            let mut picture = picture(4);
            picture.toolkit = Toolkit::Qt;
            picture.objects[0].role = role;
            picture.objects.iter_mut().for_each(|object| object.states = states::SHOWING | states::VISIBLE);
            let part = TableRange { rows: 0..2, columns: 0..2, all: (2, 2) };
            let found = [headers, &[((0, 0), 1), ((0, 1), 2), ((1, 0), 3)]].concat();
            arrange(&mut picture, 0, &found, &part);
            (1..=3).filter(|&at| picture.objects[at].attribute(LEADS).is_some()).collect::<Vec<_>>()
        };
        assert_eq!(leads(role::TABLE, &[]), [1, 2, 3]);
        assert_eq!(leads(role::TABLE, &[((-1, 0), 4)]), [1, 3]);
        assert_eq!(leads(role::TREE, &[]), [1, 3]);
    }

    #[test]
    fn headers_stand_above_the_rows_and_before_their_cells() {
        let mut picture = picture(5);
        let part = TableRange { rows: 0..1, columns: 0..2, all: (1, 2) };
        let found = [((-1, 0), 3), ((-1, 1), 4), ((0, -1), 5), ((0, 0), 1), ((0, 1), 2)];
        arrange(&mut picture, 0, &found, &part);
        let rows = &picture.objects[0].children;
        let cells: Vec<_> = rows.iter().map(|&row| picture.objects[row].children.clone()).collect();
        assert_eq!(cells, [vec![3, 4], vec![5, 1, 2]]);
        assert_eq!(picture.objects[rows[0]].attribute("rowindex"), None, "it is none of them");
        assert_eq!(picture.objects[4].attribute("colindex"), Some("2"));
    }

    #[test]
    fn a_row_of_one_cell_keeps_its_header() {
        let mut picture = picture(2);
        let part = TableRange { rows: 0..1, columns: 0..1, all: (1, 1) };
        arrange(&mut picture, 0, &[((0, -1), 2), ((0, 0), 1)], &part);
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
            &TableRange { rows: 0..2, columns: 0..1, all: (2, 1) },
        );
        assert_eq!(picture.objects[0].children, [1, 2]);
        assert!(picture.objects[0].description.is_empty());
    }
}
