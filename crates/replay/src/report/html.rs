//! The account as one page of HTML: opened from disk, it needs nothing else.
//!
//! Whatever an app showed is text here: it goes through `text::text` on every way. Should that fail once, the page's own
//! policy still lets no other script run than the one whose hash it names, and nothing be loaded.

mod attempt;
mod picture;
mod text;

#[cfg(test)]
mod tests;

use super::model::{EndedEarly, FileReport, Outcome, Report};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use picture::Pictures;
use sha2::{Digest, Sha256};
use std::path::Path;
use text::{millis, plural, text, utc};

const CSS: &str = include_str!("html/report.css");
const JS: &str = include_str!("html/report.js");

/// The bytes of a picture; none if it is not there any more.
pub type ReadPicture<'r> = dyn Fn(&Path) -> Option<Vec<u8>> + 'r;

/// The page.
#[must_use]
pub fn render(report: &Report, read: &ReadPicture<'_>) -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    let policy = format!(
        "default-src 'none'; img-src data:; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(CSS),
        hash(JS)
    );
    let mut page = Page { out: String::new(), pictures: Pictures::new(read) };
    let verdict = verdict(report);
    page.add(&format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{verdict} · stickpin</title>\n<style>{CSS}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the results</a>\n"
    ));
    page.header(report, &verdict);
    page.add("<div class=\"page\">\n");
    page.scripts(report);
    page.add("<main id=\"main\" tabindex=\"-1\">\n");
    for (f, file) in report.files.iter().enumerate() {
        page.file(f + 1, file);
    }
    page.add("</main>\n</div>\n");
    page.add(HELP);
    page.add(&format!("<script>{JS}</script>\n</body>\n</html>\n"));
    page.out
}

const HELP: &str = "\
<dialog id=\"keys\" aria-labelledby=\"keys-title\">
<h2 id=\"keys-title\">Keys</h2>
<dl>
<div><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>Next step, previous step</dd></div>
<div><dt><kbd>↓</kbd> <kbd>↑</kbd></dt><dd>The same, on a step</dd></div>
<div><dt><kbd>Enter</kbd></dt><dd>Open or close the step</dd></div>
<div><dt><kbd>→</kbd> <kbd>←</kbd></dt><dd>Open, close</dd></div>
<div><dt><kbd>n</kbd> <kbd>p</kbd></dt><dd>Next script, previous script</dd></div>
<div><dt><kbd>f</kbd></dt><dd>Next step that failed</dd></div>
<div><dt><kbd>r</kbd></dt><dd>Refs on pictures: on, off</dd></div>
<div><dt><kbd>?</kbd></dt><dd>This list</dd></div>
</dl>
<form method=\"dialog\"><button>Close</button></form>
</dialog>
";

/// What is written.
struct Page<'r> {
    out: String,
    pictures: Pictures<'r>,
}

/// How an outcome is called, in classes and in words.
fn names(outcome: Outcome) -> (&'static str, &'static str) {
    match outcome {
        Outcome::Passed => ("passed", "passed"),
        Outcome::Flaky => ("flaky", "flaky"),
        Outcome::Failed => ("failed", "failed"),
        Outcome::Broken => ("broken", "broken"),
        Outcome::NotRun => ("notrun", "not run"),
    }
}

/// A sign and its word, for those who see no colours and for those who see nothing.
fn sign(outcome: Outcome) -> String {
    let (class, word) = names(outcome);
    let sign = match outcome {
        Outcome::Passed => "✓",
        Outcome::Flaky => "~",
        Outcome::Failed => "✕",
        Outcome::Broken => "!",
        Outcome::NotRun => "–",
    };
    format!("<span class=\"sign {class}\" role=\"img\" aria-label=\"{word}\">{sign}</span>")
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

impl Page<'_> {
    fn add(&mut self, html: &str) {
        self.out.push_str(html);
    }

    fn header(&mut self, report: &Report, verdict: &str) {
        let summary = report.summary();
        let good = summary.failed + summary.broken + summary.not_run == 0;
        let class = if good { "passed" } else { "failed" };
        self.add(&format!("<header>\n<h1 class=\"{class}\">{verdict}</h1>\n<p class=\"facts\">"));
        let began = utc(report.began);
        let mut facts = vec![
            format!("<time datetime=\"{began}\">{}</time>", began.replace('T', " ").replace('Z', " UTC")),
            millis(report.millis),
            plural(report.workers, "worker"),
        ];
        facts.extend(report.shard.map(|s| format!("shard {} of {}", s.number, s.of)));
        facts.extend(report.ended_early.map(|early| match early {
            EndedEarly::Interrupted => "<strong>interrupted</strong>".to_owned(),
            EndedEarly::FailFast => "<strong>ended at the first failure</strong>".to_owned(),
        }));
        facts.push(format!("stickpin {}", text(&report.program)));
        self.add(&facts.join(" <span aria-hidden=\"true\">·</span> "));
        self.add("</p>\n<div class=\"bar\">\n<div class=\"filters\" role=\"group\" aria-label=\"Scripts that are shown\">\n");
        self.add(&format!(
            "<button type=\"button\" data-filter=\"\" aria-pressed=\"true\">All <b>{}</b></button>\n",
            report.files.len()
        ));
        let counts = [
            (Outcome::Failed, summary.failed),
            (Outcome::Broken, summary.broken),
            (Outcome::Flaky, summary.flaky),
            (Outcome::NotRun, summary.not_run),
            (Outcome::Passed, summary.passed),
        ];
        for (outcome, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            let (class, word) = names(outcome);
            self.add(&format!(
                "<button type=\"button\" data-filter=\"{class}\" aria-pressed=\"false\"><i class=\"dot {class}\"></i>{} <b>{count}</b></button>\n",
                capital(word)
            ));
        }
        self.add(
            "</div>\n<div class=\"tools\">\n\
             <button type=\"button\" id=\"refs\" aria-pressed=\"true\">Refs on pictures</button>\n\
             <button type=\"button\" id=\"all\" aria-pressed=\"false\">Open all steps</button>\n\
             <button type=\"button\" id=\"help\" aria-haspopup=\"dialog\" aria-label=\"Keys\"><kbd>?</kbd></button>\n\
             </div>\n</div>\n</header>\n",
        );
    }

    /// The list of scripts, each with its place in the time of the whole run.
    fn scripts(&mut self, report: &Report) {
        let whole = report.millis.max(1.0);
        self.add("<nav aria-label=\"Scripts\">\n<ol>\n");
        for (f, file) in report.files.iter().enumerate() {
            let f = f + 1;
            let (class, _) = names(file.outcome);
            let bars: String = file
                .attempts
                .iter()
                .map(|attempt| bar(attempt.began, attempt.millis, whole, names(attempt.outcome).0))
                .collect();
            self.add(&format!(
                "<li data-outcome=\"{class}\"><a href=\"#f{f}\">{} <span class=\"name\">{}</span> <span class=\"time\">{}</span></a>\
                 <svg class=\"times\" width=\"100%\" height=\"6\" aria-hidden=\"true\">{bars}</svg></li>\n",
                sign(file.outcome),
                broken_at_slashes(&file.file),
                millis(file.millis),
            ));
        }
        self.add("</ol>\n</nav>\n");
    }

    fn file(&mut self, f: usize, file: &FileReport) {
        let (class, word) = names(file.outcome);
        self.add(&format!(
            "<article id=\"f{f}\" aria-labelledby=\"f{f}-name\" data-outcome=\"{class}\" tabindex=\"-1\">\n\
             <h2 id=\"f{f}-name\">{}<span class=\"name\">{}</span></h2>\n",
            sign(file.outcome),
            broken_at_slashes(&file.file),
        ));
        let mut facts = vec![format!("<span class=\"word {class}\">{word}</span>"), millis(file.millis)];
        if file.attempts.len() > 1 {
            facts.push(plural(file.attempts.len(), "attempt"));
        }
        self.add(&format!(
            "<p class=\"facts\">{}</p>\n",
            facts.join(" <span aria-hidden=\"true\">·</span> ")
        ));
        if let Some(error) = &file.error {
            self.error(error, "It cannot be run");
        }
        // The last one is what counts: those before it are there to be opened.
        let last = file.attempts.len();
        for (a, attempt) in file.attempts.iter().enumerate() {
            self.attempt(&format!("f{f}a{}", a + 1), &file.file, attempt, last, a + 1 == last);
        }
        self.add("</article>\n");
    }
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

/// A path that may be broken where a person would.
fn broken_at_slashes(path: &str) -> String {
    text(path).replace('/', "/<wbr>")
}

/// When something was, in a picture of a whole time.
fn bar(began: f64, took: f64, whole: f64, class: &str) -> String {
    let part = |n: f64| (n / whole * 100.0).clamp(0.0, 100.0);
    let x = part(began).min(98.5);
    // What took no time is still to be seen.
    let width = part(took).clamp(1.5, (100.0 - x).max(1.5));
    format!("<rect class=\"{class}\" x=\"{x:.2}%\" width=\"{width:.2}%\" height=\"6\" rx=\"2\"/>")
}
