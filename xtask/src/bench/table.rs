//! The table of figures, as Markdown.

/// All figures of one run.
pub struct Table {
    peer: Option<&'static str>,
    rows: Vec<String>,
}

impl Table {
    pub fn new(peer: Option<&'static str>) -> Self {
        Self { peer, rows: Vec::new() }
    }

    /// Adds a figure of stickpin's.
    pub fn add(&mut self, what: &str, ours: f64, unit: &str, bar: &str) {
        self.compare(what, ours, None, unit, bar);
    }

    /// Adds and prints a figure, optionally next to the peer's.
    pub fn compare(&mut self, what: &str, ours: f64, theirs: Option<f64>, unit: &str, bar: &str) {
        let ratio = theirs.map(|theirs| format!("{:.1}", theirs / ours)).unwrap_or_default();
        let theirs = theirs.map(|theirs| figure(theirs, unit)).unwrap_or_default();
        let row = format!("| {what} | {} | {theirs} | {ratio} | {bar} |\n", figure(ours, unit));
        eprint!("{row}");
        self.rows.push(row);
    }

    pub fn render(&self, machine: &str) -> String {
        let peer = self.peer.unwrap_or("peer (not run)");
        format!(
            "# Benchmarks\n\n{machine}. Medians of alternating runs of `cargo xtask bench --peers --write`; these machines are \
             noisy, so read the ratios. If no row changes, stickpin proves that nothing changed since the last snapshot \
             and does not walk the page again. If a row changes, it does so half a second before each run of either tool; in that time stickpin \
             reads the page ahead (ADR 31). A first snapshot is the one after `open` in a new browser, and runs after the peer's; the time of \
             `open` is not part of it. The bars of snapshots were set from first snapshots.\n\n| | stickpin | {peer} | peer / stickpin | bar |\n|---|---|---|---|---|\n{}",
            self.rows.concat()
        )
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
        table.compare("get", 2.0, Some(5.0), "ms", "at most 1.3 x");
        assert!(table.render("here").contains("| get | 2.0 ms | 5.0 ms | 2.5 | at most 1.3 x |"));
    }
}
