//! The summary of a run: how long each part took, and what was skipped, with the reason.

use crate::Result;
use crate::run::OnPath as _;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The variable that names the file to which tests add their skips. Tests read the same name.
const COLLECTED: &str = "STICKPIN_SKIPPED";

static PART_TIMES: Mutex<Vec<(String, u64)>> = Mutex::new(Vec::new());
static SKIPPED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Runs one part of the tasks, and prints how long it took.
pub fn timed<T>(part: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let begin = Instant::now();
    let done = work();
    let seconds = begin.elapsed().as_secs();
    eprintln!("xtask: {part}: {seconds} s");
    PART_TIMES.lock().unwrap_or_else(PoisonError::into_inner).push((part.to_owned(), seconds));
    done
}

/// Prints why something is not checked. `require` is the variable that turns this into a failure.
///
/// # Errors
/// Returns an error if that variable is set.
pub fn skipped(require: &str, why: &str) -> Result {
    if std::env::var_os(require).is_some() {
        return Err(format!("{require} is set, but: {why}"));
    }
    eprintln!("skipped: {why}");
    SKIPPED.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{why} ({require})"));
    Ok(())
}

/// The skips of tests, which run in separate processes.
pub struct Collected(PathBuf);

impl Collected {
    /// Empties the file in the target folder.
    pub fn new(target: &Path) -> Result<Self> {
        let file = target.join("skipped.txt");
        crate::run::write(&file, "").map(|()| Self(file))
    }

    /// Passes the file to a command.
    pub fn with_skip_file<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env(COLLECTED, &self.0)
    }

    /// Prints the times of all parts, and every skip with its reason.
    pub fn print(&self) -> Result {
        let text = std::fs::read_to_string(&self.0).with_path(&self.0)?;
        eprintln!("\nxtask: seconds of each part");
        for (part, seconds) in PART_TIMES.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            eprintln!("{seconds:>8}  {part}");
        }
        let mut all = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner).clone();
        all.extend(by_reason(&text));
        eprintln!("xtask: skipped: {}", if all.is_empty() { "nothing" } else { "" });
        all.iter().for_each(|line| eprintln!("          {line}"));
        Ok(())
    }
}

/// Returns the lines of tests (name, variable, reason), as one line for each reason.
fn by_reason(text: &str) -> Vec<String> {
    let mut reasons: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for line in text.lines() {
        if let [test, require, why] = *line.splitn(3, '\t').collect::<Vec<_>>() {
            reasons.entry((why, require)).or_default().push(test);
        }
    }
    let line = |((why, require), tests): (&(&str, &str), &Vec<&str>)| {
        let others = if tests.len() > 1 { format!(" and {} more", tests.len() - 1) } else { String::new() };
        format!("{}{others}: {why} ({require})", tests[0])
    };
    reasons.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::by_reason;

    #[test]
    fn skips_of_one_reason_are_one_line() {
        let text = "a\tR_X\tno X\nb\tR_Y\tno Y\nc\tR_X\tno X\nd\tR_X\tno X\n";
        assert_eq!(by_reason(text), ["a and 2 more: no X (R_X)", "b: no Y (R_Y)"]);
    }
}
