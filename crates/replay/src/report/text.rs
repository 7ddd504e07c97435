//! The report as text: a line for each finished script, and a summary of what needs attention.

use super::model::{EndedEarly, FileReport, Outcome, Report};
use crate::commands::format_seconds;
use stickpin_kernel::{Error, Show, Text};
use stickpin_tree::format_count;

/// Returns the line that reports a script's outcome.
#[must_use]
pub fn file_line(file: &FileReport) -> String {
    let word = match file.outcome {
        Outcome::Passed => "pass",
        Outcome::Flaky => "flaky",
        Outcome::Failed => "FAIL",
        Outcome::Broken => "BROKEN",
        Outcome::NotRun => "not run",
    };
    let attempts = match file.attempts.len() {
        0 | 1 => String::new(),
        n => format!(" · {n} attempts"),
    };
    format!("{word:7} {} · {}{attempts}", file.file, format_seconds(file.millis))
}

/// Returns the error of a script, or of its latest attempt that did not pass; `None` if there is no
/// error.
#[must_use]
pub fn failure_of(file: &FileReport) -> Option<Error> {
    let mut latest_first = file.attempts.iter().rev();
    file.error.clone().or_else(|| latest_first.find(|attempt| attempt.outcome != Outcome::Passed)?.failure())
}

impl Show for Report {
    fn show(&self, text: &mut Text) {
        for file in &self.files {
            if file.outcome == Outcome::Passed || file.outcome == Outcome::NotRun {
                continue;
            }
            text.line(file_line(file));
            if let Some(error) = failure_of(file) {
                text.line(format_args!("  {}: {}", error.code.name(), error.message));
            }
            let last = file.last();
            for expected in last.and_then(|l| l.divergence.as_ref()).into_iter().flat_map(|d| &d.expected) {
                text.line(format_args!("  recorded: {expected}"));
            }
            if let Some(folder) = last.and_then(|l| l.artifacts.as_ref()) {
                text.line(format_args!("  {}", folder.display()));
            }
        }
        let summary = self.summary();
        let counts = [
            (summary.passed, "passed"),
            (summary.flaky, "flaky"),
            (summary.failed, "failed"),
            (summary.broken, "broken (browser, device or disk, not the app)"),
            (summary.not_run, "not run"),
        ];
        let counts: Vec<String> =
            counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        let ending = match self.ended_early {
            None => "",
            Some(EndedEarly::Interrupted) => ", interrupted",
            Some(EndedEarly::FailFast) => ", stopped at the first failure",
        };
        let all = format_count(self.files.len(), "script");
        text.line(format_args!("{all}: {} · {}{ending}", counts.join(", "), format_seconds(self.millis)));
    }

    fn failure(&self) -> Option<Error> {
        let bad = |f: &&FileReport| !matches!(f.outcome, Outcome::Passed | Outcome::Flaky);
        let first = self.files.iter().find(bad)?;
        let (n, all) = (self.files.iter().filter(bad).count(), format_count(self.files.len(), "script"));
        let code = match failure_of(first) {
            Some(error) if first.outcome == Outcome::Broken => error.code,
            Some(_) => stickpin_kernel::ErrorCode::ReplayDivergence,
            None => stickpin_kernel::ErrorCode::Timeout,
        };
        let file = crate::script::line(&[crate::script::Template::text(&first.file)]);
        Some(
            Error::new(code, format!("{n} of {all} did not pass"))
                .hint(format!("to keep the session open when a step fails, run `stickpin replay {file}`")),
        )
    }
}
