//! Headers that Firefox calls those of columns, and that stand before their rows.
//!
//! Which of the two a `th` without `scope` is, Gecko decides when it first hears of it, and keeps: one that was there before
//! the cells of its row were is a column header for ever (its browser process keeps roles; `HTMLTableHeaderCell` looks at the
//! siblings). So pages that make their rows cell by cell have them wrong.

use crate::model::Picture;
use crate::model::roles::number as n;
use hashbrown::HashSet;

/// The objects that are headers of rows whatever Gecko says: the first of a row of cells, where no columns begin.
pub(super) fn of_rows(picture: &Picture) -> HashSet<usize> {
    let mut out = HashSet::new();
    if !picture.toolkit.profile().first_cells_are_headers {
        return out;
    }
    let shown =
        |at: usize| picture.objects[at].children.iter().copied().filter(|&c| picture.objects[c].shown);
    let role = |at: usize| picture.objects[at].role;
    let headed = |row: usize| {
        let mut cells = shown(row);
        let first = cells.next().filter(|&first| role(first) == n::COLUMN_HEADER)?;
        let mut rest = cells.peekable();
        (rest.peek().is_some() && rest.all(|cell| role(cell) == n::TABLE_CELL)).then_some(first)
    };
    let tables = (0..picture.objects.len()).filter(|&at| role(at) == n::TABLE && picture.objects[at].shown);
    for table in tables {
        // A part of a table may have an object of its own.
        let lines = shown(table).flat_map(|at| {
            let row = (role(at) == n::TABLE_ROW).then_some(at);
            row.into_iter().chain(shown(at).filter(move |_| row.is_none()))
        });
        let rows: Vec<Option<usize>> = lines.filter(|&at| role(at) == n::TABLE_ROW).map(headed).collect();
        // A first row may be `<th scope=col>` beside a corner that is empty: unless all rows begin so, it is left alone.
        let all = rows.len() > 1 && rows.iter().all(Option::is_some);
        out.extend(rows.into_iter().skip(usize::from(!all)).flatten());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Object;
    use crate::toolkit::Toolkit;

    /// The roles that the first cells of rows come out with, a letter for each cell: `c` and `r` for headers of columns and
    /// rows, `d` for others.
    fn headed(toolkit: Toolkit, rows: &[&str]) -> Vec<usize> {
        let object = |role| Object { role, shown: true, ..Object::default() };
        let mut picture = Picture { toolkit, objects: vec![object(75), object(n::TABLE)], truncated: false };
        let mut firsts = Vec::new();
        for row in rows {
            let at = picture.objects.len();
            picture.objects[1].children.push(at);
            picture.objects.push(object(n::TABLE_ROW));
            firsts.push(at + 1);
            for cell in row.chars() {
                let new = picture.objects.len();
                picture.objects[at].children.push(new);
                picture.objects.push(object(match cell {
                    'c' => n::COLUMN_HEADER,
                    'r' => n::ROW_HEADER,
                    _ => n::TABLE_CELL,
                }));
            }
        }
        let found = of_rows(&picture);
        assert!(found.iter().all(|at| firsts.contains(at)));
        (0..rows.len()).filter(|&row| found.contains(&firsts[row])).collect()
    }

    const NONE: [usize; 0] = [];

    #[test]
    fn a_header_before_the_cells_of_its_row_is_one_of_the_row() {
        let headed = |rows: &[&str]| headed(Toolkit::Gecko, rows);
        assert_eq!(headed(&["cd", "cd", "rd"]), [1]);
        assert_eq!(headed(&["cd", "cd"]), [0, 1]);
        assert_eq!(headed(&["cc", "cd", "cd"]), [1, 2]);
        // What may begin columns does not begin its row.
        assert_eq!(headed(&["cd", "dd"]), NONE);
        assert_eq!(headed(&["cd"]), NONE);
        assert_eq!(headed(&["cc", "dd", "c", "cc"]), NONE);
    }

    #[test]
    fn other_toolkits_know_their_headers() {
        assert_eq!(headed(Toolkit::Gtk3, &["cd", "cd"]), NONE);
    }
}
