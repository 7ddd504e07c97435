//! Measures the session log, next to the file system's own append: the example of the crate
//! `store`, which prints a row per figure.

use super::table::Table;
use crate::Result;
use crate::run::{cargo, output};

/// The records of the log that is verified and opened.
const RECORDS: &str = "1000000";

/// Adds the rows of this part.
pub fn measure(table: &mut Table) -> Result {
    let mut run = cargo(&["run", "--quiet", "--profile", "dist", "-p", "stickpin-store", "--example"]);
    let rows = output(run.args(["log_speed", "--", RECORDS]))?;
    for row in rows.lines() {
        let [what, value, unit, goal] = row.split('\t').collect::<Vec<_>>()[..] else {
            return Err(format!("not a row of the example: {row}"));
        };
        let value = value.parse().map_err(|e| format!("{value} in {row}: {e}"))?;
        table.add(what, value, unit, goal);
    }
    Ok(())
}
