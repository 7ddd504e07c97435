//! One run of a script: its divergence, and its steps.

use super::picture::Pictures;
use super::text::{millis, text, with_refs};
use super::{appearance, join_facts, outcome_icon, timeline_bar};
use crate::divergence::Divergence;
use crate::report::model::{Attempt, Outcome, Step};
use stickpin_kernel::Error;
use stickpin_tree::format_count;

const SCREEN: &str = "The screen at that moment";

/// The number of steps above which the steps of a successful attempt are collapsed.
const COLLAPSE_FROM: usize = 40;

/// Renders an attempt, the `number`-th of `all`. Of several attempts, only the last is expanded.
pub(super) fn attempt(
    id: &str,
    file: &str,
    attempt: &Attempt,
    (number, all): (usize, usize),
    pictures: &mut Pictures<'_>,
) -> String {
    let (class, word, _) = appearance(attempt.outcome);
    let mut content = attempt.divergence.as_ref().map(|d| divergence(id, file, d)).unwrap_or_default();
    if let Some(error) = &attempt.error {
        content += &failure(
            error,
            match attempt.outcome {
                Outcome::Broken => "The browser, device or disk failed; this says nothing about the app",
                _ => "The attempt failed",
            },
        );
    }
    if !attempt.steps.is_empty() {
        // A long list of successful steps would hide the next script.
        let good = matches!(attempt.outcome, Outcome::Passed | Outcome::Flaky);
        let steps = (1..).zip(&attempt.steps);
        content += &format!(
            include_str!("steps.html"),
            open = if good && attempt.steps.len() > COLLAPSE_FROM { "" } else { " open" },
            count = format_count(attempt.steps.len(), "step"),
            steps =
                steps.map(|(s, one)| step(&format!("{id}s{s}"), one, attempt, pictures)).collect::<String>(),
        );
    }
    let mut facts = vec![format!("session <code>{}</code>", text(&attempt.session))];
    let artifacts = attempt.artifacts.as_ref().map(|path| text(&path.display().to_string()));
    facts.extend(artifacts.map(|path| format!("files in <code>{path}</code>")));
    content += &format!("<p class=\"facts\">{}</p>\n", join_facts(&facts));
    if all == 1 {
        return format!("<div class=\"attempt\" id=\"{id}\">\n{content}</div>\n");
    }
    format!(
        include_str!("attempt.html"),
        id = id,
        open = if number == all { " open" } else { "" },
        sign = outcome_icon(attempt.outcome),
        number = attempt.number,
        of = all,
        class = class,
        word = word,
        time = millis(attempt.millis),
        content = content,
    )
}

pub(super) fn failure(error: &Error, title: &str) -> String {
    let hint = match error.hint.as_str() {
        "" => String::new(),
        hint => format!("<p class=\"hint\">{}</p>\n", with_refs(hint)),
    };
    let message = with_refs(&error.message);
    format!(
        include_str!("error.html"),
        title = title,
        code = error.code.name(),
        message = message,
        hint = hint
    )
}

/// Shows what was recorded next to what was found.
fn divergence(id: &str, file: &str, divergence: &Divergence) -> String {
    let expected = match &divergence.expected[..] {
        [] => note("The recording has no target for this step."),
        expected => {
            let items = expected.iter().map(|e| format!("<li><code>{}</code></li>\n", text(e)));
            let items = items.collect::<String>();
            format!("{}<ul class=\"expected\">\n{items}</ul>\n", note("The target was recorded as"))
        }
    };
    // Without the session, no run can continue.
    let (next, command) = match &divergence.resume {
        Some(resume) => (
            "When the app is in the right state, continue from here",
            resume.command(file, &resume.position()),
        ),
        None => {
            let file = crate::script::line(&[crate::script::Template::text(file)]);
            ("Run the script and keep its session open", format!("replay {file}"))
        }
    };
    let suggestions = match &divergence.suggestions[..] {
        [] => note("Nothing similar was found."),
        suggestions => {
            let item = |s: &crate::Suggestion| {
                let (line, basis) = (with_refs(s.line.trim()), text(&s.basis));
                format!("<li><code>{line}</code> <span class=\"why\">same {basis}</span></li>\n")
            };
            let items = suggestions.iter().map(item).collect::<String>();
            format!("{}<ol class=\"suggestions\">\n{items}</ol>\n", note("Similar elements"))
        }
    };
    let screen = match &divergence.screen {
        Some(screen) => note(SCREEN) + &block("screen", SCREEN, &with_refs(screen.trim_end())),
        None => note("The screen could not be read."),
    };
    format!(
        include_str!("divergence.html"),
        id = id,
        step = divergence.step,
        code = divergence.error.code.name(),
        message = with_refs(&divergence.error.message),
        place = text(&divergence.at.to_string()),
        line = text(&divergence.line),
        expected = expected,
        next = next,
        command = text(&command),
        suggestions = suggestions,
        screen = screen,
    )
}

fn note(words: &str) -> String {
    format!("<p class=\"quiet\">{words}</p>\n")
}

fn step(id: &str, step: &Step, attempt: &Attempt, pictures: &mut Pictures<'_>) -> String {
    let outcome = match (step.ok, attempt.outcome) {
        (true, _) => Outcome::Passed,
        // The machinery's failure, or the app's.
        (false, Outcome::Broken) => Outcome::Broken,
        (false, _) => Outcome::Failed,
    };
    let (class, ..) = appearance(outcome);
    let diverged = attempt.divergence.as_ref().is_some_and(|d| d.step == step.number && !step.ok);
    let mut content = match (&step.error, id.rfind('s')) {
        (Some(_), Some(end)) if diverged => {
            format!("<p><a href=\"#{}-div\">What was found instead</a></p>\n", &id[..end])
        }
        // The error is already shown above the steps.
        (Some(error), _) if attempt.error.as_ref() == Some(error) => String::new(),
        (Some(error), _) => failure(error, "The step failed"),
        (None, _) => String::new(),
    };
    if let Some(warning) = &step.warning {
        content += &format!("<p class=\"warning\"><b>Warning</b> {}</p>\n", with_refs(warning));
    }
    content += &list("Recorded", &step.expected);
    content += &list("Seen since the action", &step.receipt);
    if let Some(output) = step.output.as_deref().filter(|output| !output.is_empty()) {
        content += &titled_block("said", "Answer", &with_refs(output.trim_end()));
    }
    content += &match step.changes.as_deref().map(str::trim_end) {
        Some("") => note("Nothing changed."),
        Some(changes) => {
            titled_block("changes", "Changes", &changes.lines().map(diff_line).collect::<String>())
        }
        None => String::new(),
    };
    let caption = format!("The screen after step {}", step.number);
    format!(
        include_str!("step.html"),
        class = class,
        id = id,
        open = if step.ok { "" } else { " open" },
        sign = outcome_icon(outcome),
        number = step.number,
        line = text(&step.line),
        flag = step.warning.as_ref().map_or("", |_| "<span class=\"flag\">warning</span>"),
        bar = timeline_bar(step.start_offset, step.millis, attempt.millis.max(1.0), class),
        time = millis(step.millis),
        place = text(&step.at.to_string()),
        content = content,
        figure = step.picture.as_ref().map(|p| pictures.figure(p, id, &caption)).unwrap_or_default(),
    )
}

fn list(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let items: String = lines.iter().map(|line| format!("<li>{}</li>\n", with_refs(line))).collect();
    format!("<h4>{title}</h4>\n<ul class=\"lines\">\n{items}</ul>\n")
}

fn titled_block(class: &str, title: &str, html: &str) -> String {
    format!("<h4>{title}</h4>\n{}", block(class, title, html))
}

/// Returns preformatted lines in a scrollable region that the keyboard can reach.
fn block(class: &str, label: &str, html: &str) -> String {
    format!("<pre class=\"{class}\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">{html}</pre>\n")
}

/// Returns a line of a diff.
fn diff_line(line: &str) -> String {
    let kind = match line.trim_start().chars().next() {
        Some('+') => "came",
        Some('-') => "went",
        Some('~') => "other",
        _ => "same",
    };
    format!("<span class=\"{kind}\">{}\n</span>", with_refs(line))
}
