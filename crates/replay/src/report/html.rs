//! The report as one self-contained HTML page that opens from disk.
//!
//! Everything that an app showed is treated as text and passes through `text::text`. If escaping
//! ever fails, the page's content security policy still allows only the script whose hash it names,
//! and forbids loading anything from elsewhere.

mod attempt;
mod picture;
mod text;

#[cfg(test)]
mod tests;

use super::model::{Attempt, EndedEarly, FileReport, Outcome, Report};
use attempt::{attempt, failure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use picture::Pictures;
use sha2::{Digest, Sha256};
use std::path::Path;
use stickpin_tree::format_count;
use text::{millis, text, utc};

const CSS: &str = include_str!("html/report.css");
const JS: &str = include_str!("html/report.js");

/// A function that returns the content of a picture; `None` if the picture cannot be read.
pub type ReadPicture<'r> = dyn Fn(&Path) -> Option<Vec<u8>> + 'r;

/// Renders the report as an HTML page.
#[must_use]
pub fn render(report: &Report, read: &ReadPicture<'_>) -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    let summary = report.summary();
    let is_good = summary.failed + summary.broken + summary.not_run == 0;
    let counts = [
        (Outcome::Failed, summary.failed),
        (Outcome::Broken, summary.broken),
        (Outcome::Flaky, summary.flaky),
        (Outcome::NotRun, summary.not_run),
        (Outcome::Passed, summary.passed),
    ];
    let filters = counts.into_iter().filter(|(_, count)| *count > 0).map(|(outcome, count)| {
        let (class, word, _) = appearance(outcome);
        format!(include_str!("html/filter.html"), class = class, word = capitalize(word), count = count)
    });
    let total_millis = report.millis.max(1.0);
    let files = || (1..).zip(&report.files);
    let mut pictures = Pictures::new(read);
    format!(
        include_str!("html/page.html"),
        style = hash(CSS),
        script = hash(JS),
        css = CSS,
        js = JS,
        verdict = verdict(report),
        class = if is_good { "passed" } else { "failed" },
        facts = facts(report),
        all = report.files.len(),
        filters = filters.collect::<String>(),
        scripts = files().map(|(f, file)| list_entry(f, file, total_millis)).collect::<String>(),
        files = files().map(|(f, file)| article(f, file, &mut pictures)).collect::<String>(),
    )
}

/// Returns the CSS class, the word and the sign for an outcome.
fn appearance(outcome: Outcome) -> (&'static str, &'static str, &'static str) {
    match outcome {
        Outcome::Passed => ("passed", "passed", "✓"),
        Outcome::Flaky => ("flaky", "flaky", "~"),
        Outcome::Failed => ("failed", "failed", "✕"),
        Outcome::Broken => ("broken", "broken", "!"),
        Outcome::NotRun => ("notrun", "not run", "–"),
    }
}

/// Returns a sign and its word, so that an outcome can be recognized without color or sight.
fn outcome_icon(outcome: Outcome) -> String {
    let (class, word, icon) = appearance(outcome);
    format!("<span class=\"sign {class}\" role=\"img\" aria-label=\"{word}\">{icon}</span>")
}

fn verdict(report: &Report) -> String {
    let all = report.files.len();
    let bad = report.files.iter().filter(|f| !matches!(f.outcome, Outcome::Passed | Outcome::Flaky)).count();
    match (all, bad) {
        (0, _) => "No script was run".to_owned(),
        (1, 0) => "The script passed".to_owned(),
        (1, _) => "The script did not pass".to_owned(),
        (_, 0) => format!("All {all} scripts passed"),
        _ => format!("{bad} of {all} scripts did not pass"),
    }
}

/// Joins facts into a line.
fn join_facts(facts: &[String]) -> String {
    facts.join(" <span aria-hidden=\"true\">·</span> ")
}

fn facts(report: &Report) -> String {
    let started = utc(report.started_at);
    let mut facts = vec![
        format!("<time datetime=\"{started}\">{}</time>", started.replace('T', " ").replace('Z', " UTC")),
        millis(report.millis),
        format_count(report.workers, "worker"),
    ];
    facts.extend(report.shard.map(|s| format!("shard {} of {}", s.number, s.total)));
    facts.extend(report.ended_early.map(|early| match early {
        EndedEarly::Interrupted => "<strong>interrupted</strong>".to_owned(),
        EndedEarly::FailFast => "<strong>ended at the first failure</strong>".to_owned(),
    }));
    facts.push(format!("stickpin {}", text(&report.program)));
    join_facts(&facts)
}

/// Returns a script's entry in the list, with a bar per attempt in the timeline of the run.
fn list_entry(f: usize, file: &FileReport, total_millis: f64) -> String {
    let bar = |attempt: &Attempt| {
        timeline_bar(attempt.start_offset, attempt.millis, total_millis, appearance(attempt.outcome).0)
    };
    format!(
        include_str!("html/script.html"),
        f = f,
        class = appearance(file.outcome).0,
        sign = outcome_icon(file.outcome),
        name = path_with_breaks(&file.file),
        time = millis(file.millis),
        bars = file.attempts.iter().map(bar).collect::<String>(),
    )
}

fn article(f: usize, file: &FileReport, pictures: &mut Pictures<'_>) -> String {
    let (class, word, _) = appearance(file.outcome);
    let mut facts = vec![format!("<span class=\"word {class}\">{word}</span>"), millis(file.millis)];
    // The last attempt is expanded; earlier ones are collapsed.
    let last = file.attempts.len();
    if last > 1 {
        facts.push(format_count(last, "attempt"));
    }
    let mut content =
        file.error.as_ref().map(|error| failure(error, "The script cannot be run")).unwrap_or_default();
    for (a, attempt_report) in (1..).zip(&file.attempts) {
        content += &attempt(&format!("f{f}a{a}"), &file.file, attempt_report, (a, last), pictures);
    }
    format!(
        include_str!("html/file.html"),
        f = f,
        class = class,
        sign = outcome_icon(file.outcome),
        name = path_with_breaks(&file.file),
        facts = join_facts(&facts),
        content = content,
    )
}

fn capitalize(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

/// Returns a path with possible line breaks after slashes.
fn path_with_breaks(path: &str) -> String {
    text(path).replace('/', "/<wbr>")
}

/// Returns a bar in a timeline: start and duration relative to the whole.
fn timeline_bar(start: f64, duration: f64, total: f64, class: &str) -> String {
    let part = |n: f64| (n / total * 100.0).clamp(0.0, 100.0);
    let x = part(start).min(98.5);
    // Keeps a minimum width, so that short steps are visible.
    let width = part(duration).clamp(1.5, (100.0 - x).max(1.5));
    format!("<rect class=\"{class}\" x=\"{x:.2}%\" width=\"{width:.2}%\" height=\"6\" rx=\"2\"/>")
}
