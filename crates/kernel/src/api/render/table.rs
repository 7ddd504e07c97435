//! Tables as text: plain lines for programs, aligned columns for a terminal.

use unicode_width::UnicodeWidthStr;

/// The separator between two columns on a terminal.
const COLUMN_GAP: &str = "  ";

/// The minimum width of a prose column, in terminal columns.
const MIN_PROSE_WIDTH: usize = 12;

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// Text that a reader may type or compare; never shortened.
    Word(String),
    /// Titles and addresses; shortened on a narrow terminal.
    Prose(String),
}

impl Cell {
    /// Creates an empty cell.
    #[must_use]
    pub fn empty() -> Self {
        Self::Word(String::new())
    }

    fn text(&self) -> &str {
        match self {
            Self::Word(text) | Self::Prose(text) => text,
        }
    }

    fn width(&self) -> usize {
        self.text().width()
    }
}

/// Returns the lines of a table, aligned and shortened if `terminal` gives a width in columns.
pub(super) fn lines(rows: &[Vec<Cell>], gap: &str, terminal: Option<u16>) -> Vec<String> {
    let Some(terminal) = terminal else {
        let plain = |row: &Vec<Cell>| {
            let cells: Vec<&str> = row.iter().map(Cell::text).filter(|text| !text.is_empty()).collect();
            cells.join(gap)
        };
        return rows.iter().map(plain).collect();
    };
    let widths = column_widths(rows, usize::from(terminal));
    let line = |row: &Vec<Cell>| {
        let cells = row.iter().zip(&widths).filter(|(_, width)| **width > 0);
        let line: Vec<String> = cells.map(|(cell, &width)| pad_cell(cell, width)).collect();
        line.join(COLUMN_GAP).trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// Returns the width of each column. The widest prose column shrinks first, until every line fits
/// or no column can shrink.
fn column_widths(rows: &[Vec<Cell>], terminal: usize) -> Vec<usize> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let column = |at: usize| rows.iter().filter_map(move |row| row.get(at));
    let mut widths: Vec<usize> =
        (0..count).map(|at| column(at).map(Cell::width).max().unwrap_or(0)).collect();
    let fixed: Vec<usize> = (0..count)
        .map(|at| column(at).filter(|cell| matches!(cell, Cell::Word(_))).map(Cell::width).max().unwrap_or(0))
        .collect();
    loop {
        let shown = widths.iter().filter(|&&width| width > 0).count();
        let total = widths.iter().sum::<usize>() + COLUMN_GAP.len() * shown.saturating_sub(1);
        let least = |at: usize| fixed[at].max(MIN_PROSE_WIDTH);
        let widest = (0..count).filter(|&at| widths[at] > least(at)).max_by_key(|&at| widths[at]);
        match widest {
            Some(at) if total > terminal => widths[at] -= 1,
            _ => return widths,
        }
    }
}

/// Pads a cell with spaces to a width, or cuts it with `…`. Quoted text keeps its closing quote.
fn pad_cell(cell: &Cell, width: usize) -> String {
    let text = cell.text();
    let mut shown = text.to_owned();
    if cell.width() > width {
        let end = if text.ends_with('"') { "…\"" } else { "…" };
        let room = width.saturating_sub(end.width());
        shown.clear();
        for letter in text.chars() {
            shown.push(letter);
            if shown.width() > room {
                shown.pop();
                break;
            }
        }
        shown.push_str(end);
    }
    let missing = width.saturating_sub(shown.width());
    shown + &" ".repeat(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<Cell>> {
        let row = |name: &str, title: &str, age: &str| {
            vec![Cell::Word(name.into()), Cell::Prose(title.into()), Cell::empty(), Cell::Word(age.into())]
        };
        vec![
            row("a", "\"日本語のページの題\"", "2 s"),
            row("checkout", "\"Shop\"", "10 min"),
            row("b", "", "1 s"),
        ]
    }

    #[test]
    fn list_is_plain_lines_for_programs() {
        assert_eq!(
            lines(&rows(), COLUMN_GAP, None),
            ["a  \"日本語のページの題\"  2 s", "checkout  \"Shop\"  10 min", "b  1 s"]
        );
    }

    #[test]
    fn list_is_aligned_by_the_width_of_letters_on_a_terminal() {
        let lines = lines(&rows(), COLUMN_GAP, Some(80));
        let column = |line: &str, text: &str| line[..line.find(text).unwrap()].width();
        assert_eq!(
            [column(&lines[0], "2 s"), column(&lines[1], "10 min"), column(&lines[2], "1 s")],
            [32, 32, 32],
            "{lines:?}"
        );
    }

    #[test]
    fn list_fits_a_narrow_terminal() {
        let lines = lines(&rows(), COLUMN_GAP, Some(34));
        for line in &lines {
            assert!(line.width() <= 34, "{line}");
        }
        assert!(lines[0].contains("…\" ") && lines[0].ends_with(" 2 s"), "{lines:?}");
        assert!(lines[1].starts_with("checkout  \"Shop\" "), "{lines:?}");
    }

    #[test]
    fn words_are_never_shortened() {
        let lines = lines(&rows(), COLUMN_GAP, Some(5));
        assert!(lines[1].contains("checkout") && lines[1].ends_with("10 min"), "{lines:?}");
    }
}
