//! The table of figures, as Markdown.

use std::fmt::Write as _;

/// One figure, perhaps beside the peer's.
pub struct Row {
    what: String,
    ours: f64,
    theirs: Option<f64>,
    unit: &'static str,
    bar: &'static str,
}

impl Row {
    pub fn single(what: &str, ours: f64, unit: &'static str, bar: &'static str) -> Self {
        Self { what: what.to_owned(), ours, theirs: None, unit, bar }
    }

    pub fn against(
        what: &str,
        ours: f64,
        theirs: Option<f64>,
        unit: &'static str,
        bar: &'static str,
    ) -> Self {
        Self { what: what.to_owned(), ours, theirs, unit, bar }
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (theirs, ratio) = match self.theirs {
            Some(t) => (figure(t, self.unit), format!("{:.1}", t / self.ours)),
            None => (String::new(), String::new()),
        };
        write!(f, "| {} | {} | {theirs} | {ratio} | {} |", self.what, figure(self.ours, self.unit), self.bar)
    }
}

/// All figures of one run.
pub struct Table {
    peer: Option<&'static str>,
    rows: Vec<Row>,
}

impl Table {
    pub fn new(peer: Option<&'static str>) -> Self {
        Self { peer, rows: Vec::new() }
    }

    /// Adds a row, and shows it to who waits.
    pub fn push(&mut self, row: Row) {
        eprintln!("{row}");
        self.rows.push(row);
    }

    pub fn render(&self, machine: &str) -> String {
        let peer = self.peer.unwrap_or("peer (not run)");
        let mut out = format!(
            "# Measured\n\n{machine}. Medians of alternating runs of `cargo xtask bench --peers --write`; these machines are \
             noisy, so read the ratios. Where rows stand still, ours proves that nothing changed since the last snapshot \
             and does not walk the page again. Where one changes, it does so half a second before every run of either, in which ours reads the page \
             ahead (ADR 31). A first look is the one after `open` in a new browser, and after the peer's; the opening is not in it. The bars of snapshots were set from first looks.\n\n| | stickpin | {peer} | peer / ours | bar |\n|---|---|---|---|---|\n"
        );
        for row in &self.rows {
            writeln!(out, "{row}").expect("writing to a string");
        }
        out
    }
}

fn figure(value: f64, unit: &str) -> String {
    let digits = match value {
        _ if unit == "bytes" => 0,
        100.0.. => 0,
        1.0.. => 1,
        _ => 2,
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_both_figures_and_their_ratio() {
        let mut table = Table::new(Some("peer@1"));
        table.push(Row::against("get", 2.0, Some(5.0), "ms", "at most 1.3 x"));
        assert!(table.render("here").contains("| get | 2.0 ms | 5.0 ms | 2.5 | at most 1.3 x |"));
    }
}
