//! Measures the session log, next to the file system's own append, and the list of sessions: the
//! examples of the crates `store` and `coordinator`, which print a row per figure.

use super::table::Table;
use crate::Result;
use crate::run::{cargo, output};

/// The number of records in the log that is verified and opened.
const RECORDS: &str = "1000000";

/// Adds the rows of this part.
pub fn measure(table: &mut Table) -> Result {
    let run = |package| cargo(&["run", "--quiet", "--profile", "dist", "-p", package, "--example"]);
    let log = output(run("stickpin-store").args(["log_speed", "--", RECORDS]))?;
    let list = output(run("stickpin-coordinator").arg("list_speed"))?;
    for row in log.lines().chain(list.lines()) {
        let [what, value, unit, goal] = row.split('\t').collect::<Vec<_>>()[..] else {
            return Err(format!("not a row of the example: {row}"));
        };
        let value = value.parse().map_err(|e| format!("{value} in {row}: {e}"))?;
        table.add(what, value, unit, goal);
    }
    Ok(())
}
