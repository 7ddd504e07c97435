//! Writes tables in the syntax of GFM 0.29, section 4.10.

use super::escape;
use super::inline::InlineText;
use super::page::PageWriter;
use crate::{Attr, NodeRef, Role};

/// The maximum number of columns that are written.
const MAX_COLUMNS: usize = 100;

/// The maximum length, in bytes, of a cell that is repeated in each of the rows that it spans.
const MAX_REPEATED_CELL: usize = 100;

/// The content of a table's cell, and whether the cell is a column header.
#[derive(Debug, Default, Clone)]
struct Cell {
    line: InlineText,
    header: bool,
}

impl<'t> PageWriter<'t> {
    /// Writes a table. A layout table is written like any other container.
    pub(super) fn table(&mut self, table: NodeRef<'t>, depth: usize) {
        let mut rows = Vec::new();
        rows_of(table, &mut rows, 0);
        if rows.is_empty() || is_layout(table, &rows) {
            self.children(table, depth);
            return;
        }
        self.table_title(table, depth);
        let mut grid: Vec<Vec<Cell>> = Vec::new();
        // Cells that span rows from above, by column: the number of remaining rows, and the cell.
        let mut row_spans: Vec<(usize, Cell)> = Vec::new();
        for row in rows {
            let cells = self.cells(row, &mut row_spans, depth);
            if !cells.is_empty() {
                grid.push(cells);
            }
        }
        let width = grid.iter().map(Vec::len).max().unwrap_or(0);
        if width == 0 {
            return;
        }
        let has_header_row = grid.first().is_some_and(|row| row.iter().all(|c| c.header));
        let mut lines = grid.into_iter();
        let first = if has_header_row { lines.next().unwrap_or_default() } else { Vec::new() };
        self.table_row(first, width);
        self.tight = true;
        self.emit(format!("|{}", " --- |".repeat(width)), Vec::new());
        for row in lines {
            self.tight = true;
            self.table_row(row, width);
        }
    }

    fn table_title(&mut self, table: NodeRef<'t>, depth: usize) {
        let caption = table.children().find(|c| c.role() == Role::Caption);
        let mut line = caption.map(|c| self.inline_of(c, depth)).unwrap_or_default();
        if line.is_empty() && !table.name().is_empty() {
            line.text = escape::escape_text(table.name());
        }
        self.paragraph(line.wrapped("**"));
    }

    fn table_row(&mut self, mut cells: Vec<Cell>, width: usize) {
        cells.resize(width, Cell::default());
        let mut text = String::from("|");
        let mut links = Vec::new();
        for cell in cells {
            text.push(' ');
            text.push_str(&cell.line.text);
            text.push_str(" |");
            links.extend(cell.line.links);
        }
        self.emit(text, links);
    }

    fn cells(&mut self, row: NodeRef<'t>, row_spans: &mut Vec<(usize, Cell)>, depth: usize) -> Vec<Cell> {
        let mut cells: Vec<Cell> = Vec::new();
        let mut own = cells_of(row).into_iter();
        loop {
            let at = cells.len();
            if at >= MAX_COLUMNS {
                break;
            }
            if let Some((left, cell)) = row_spans.get_mut(at).filter(|(left, _)| *left > 0) {
                *left -= 1;
                cells.push(cell.clone());
                continue;
            }
            let Some(node) = own.next() else {
                // After the row's own cells, further columns may still be spanned from above.
                if row_spans.iter().skip(at).any(|(left, _)| *left > 0) {
                    cells.push(Cell::default());
                    continue;
                }
                break;
            };
            let mut line = self.inline_of(node, depth);
            if line.is_empty() {
                line.text = escape::escape_text(node.name());
            }
            let cell = Cell { line, header: node.role() == Role::ColumnHeader };
            let empty = Cell { header: cell.header, ..Cell::default() };
            let (across, rows) =
                (span(node, Attr::ColSpan, MAX_COLUMNS - at), span(node, Attr::RowSpan, 65_534));
            if rows > 1 {
                let mut repeated = cell.clone();
                if repeated.line.text.len() > MAX_REPEATED_CELL {
                    repeated.line.text.clear();
                }
                row_spans.resize(row_spans.len().max(at + across), (0, Cell::default()));
                row_spans[at] = (rows - 1, repeated);
                row_spans[at + 1..at + across].fill((rows - 1, empty.clone()));
            }
            cells.push(cell);
            cells.resize(at + across, empty);
        }
        cells
    }
}

fn span(cell: NodeRef<'_>, attr: Attr, max: usize) -> usize {
    cell.attr(attr).and_then(|s| s.trim().parse().ok()).unwrap_or(1).clamp(1, max.max(1))
}

/// Collects the rows of a table through row groups and wrappers, but not those of nested tables.
fn rows_of<'t>(node: NodeRef<'t>, rows: &mut Vec<NodeRef<'t>>, depth: usize) {
    for child in node.children() {
        match child.role() {
            Role::Row => rows.push(child),
            Role::RowGroup | Role::Generic | Role::Group if depth < 10 => rows_of(child, rows, depth + 1),
            _ => {}
        }
    }
}

fn cells_of(row: NodeRef<'_>) -> Vec<NodeRef<'_>> {
    let mut cells = Vec::new();
    for child in row.children() {
        if child.role().is_cell() {
            cells.push(child);
        } else if child.role() == Role::Generic {
            cells.extend(child.children().filter(|c| c.role().is_cell()));
        }
    }
    cells
}

/// Returns whether a table is for layout. Either the table has no cells, or its role is `table` and
/// it has neither headers nor a name. In the latter case, the table must also have a single row, as
/// many cells as rows, or content that data cells do not have.
fn is_layout(table: NodeRef<'_>, rows: &[NodeRef<'_>]) -> bool {
    let cells: Vec<_> = rows.iter().flat_map(|r| cells_of(*r)).collect();
    let has_header = cells.iter().any(|c| matches!(c.role(), Role::ColumnHeader | Role::RowHeader));
    if cells.is_empty() {
        return true;
    }
    if has_header || !table.name().is_empty() || table.role() != Role::Table {
        return false;
    }
    let structured = |cell: &NodeRef<'_>| cell.subtree().skip(1).any(|n| n.role().is_structure());
    rows.len() == 1 || cells.len() == rows.len() || cells.iter().any(structured)
}
