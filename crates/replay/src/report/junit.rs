//! The report as JUnit XML, which build servers read.

use super::model::{Attempt, FileReport, Outcome, Report};
use super::text::failure_of;
use quick_junit::{NonSuccessKind, Report as Junit, TestCase, TestCaseStatus, TestRerun, TestSuite};
use std::time::Duration;
use stickpin_kernel::{Error, Result};

/// Returns the content of the file. Machinery failures become errors; app failures become failures.
/// A flaky script is a success with reruns.
///
/// # Errors
/// Returns `INTERNAL` when the XML cannot be written.
pub fn write(report: &Report) -> Result<String> {
    let mut suite = TestSuite::new("stickpin");
    suite.set_time(duration(report.millis));
    suite.add_test_cases(report.files.iter().map(test_case));
    let mut junit = Junit::new("stickpin");
    junit.set_time(duration(report.millis));
    junit.add_test_suite(suite);
    junit.to_string().map_err(|e| Error::internal(format!("cannot write the report as JUnit XML: {e}")))
}

fn test_case(file: &FileReport) -> TestCase {
    let status = match file.outcome {
        Outcome::NotRun => TestCaseStatus::skipped(),
        Outcome::Passed => TestCaseStatus::success(),
        Outcome::Flaky => {
            let mut status = TestCaseStatus::success();
            status.add_reruns(failed_attempts(&file.attempts).map(test_rerun));
            status
        }
        Outcome::Failed | Outcome::Broken => {
            let mut status = TestCaseStatus::non_success(non_success_kind(file.outcome));
            if let Some(error) = failure_of(file) {
                status.set_type(error.code.name()).set_message(error.message);
            }
            if let Some(divergence) = file.last().and_then(|last| last.divergence.as_ref()) {
                status.set_description(describe_divergence(divergence));
            }
            let before = file.attempts.len().saturating_sub(1);
            status.add_reruns(failed_attempts(&file.attempts[..before]).map(test_rerun));
            status
        }
    };
    let mut case = TestCase::new(file.file.clone(), status);
    case.set_classname("stickpin").set_time(duration(file.millis));
    case
}

fn failed_attempts(attempts: &[Attempt]) -> impl Iterator<Item = &Attempt> {
    attempts.iter().filter(|attempt| matches!(attempt.outcome, Outcome::Failed | Outcome::Broken))
}

fn test_rerun(attempt: &Attempt) -> TestRerun {
    let mut rerun = TestRerun::new(non_success_kind(attempt.outcome));
    rerun.set_time(duration(attempt.millis));
    if let Some(error) = attempt.failure() {
        rerun.set_type(error.code.name()).set_message(error.message);
    }
    rerun
}

fn non_success_kind(outcome: Outcome) -> NonSuccessKind {
    if outcome == Outcome::Broken { NonSuccessKind::Error } else { NonSuccessKind::Failure }
}

/// Describes what was expected and what was found.
fn describe_divergence(divergence: &crate::Divergence) -> String {
    let mut lines: Vec<String> = vec![divergence.line.clone()];
    lines.extend(divergence.expected.iter().map(|expected| format!("recorded: {expected}")));
    lines.push(format!("now: {}", divergence.error.message));
    lines.extend(divergence.screen.clone());
    lines.join("\n")
}

fn duration(millis: f64) -> Duration {
    Duration::try_from_secs_f64(millis / 1000.0).unwrap_or_default()
}
