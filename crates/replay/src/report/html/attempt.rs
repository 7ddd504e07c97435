//! One run of a script: what it found instead of what was recorded, and its steps.

use super::text::{millis, plural, text, with_refs};
use super::{Page, bar, names, sign};
use crate::divergence::Divergence;
use crate::report::model::{Attempt, Outcome, Step};
use stickpin_kernel::Error;

/// So many steps that went well are shown when they are asked for.
const MANY: usize = 40;

impl Page<'_> {
    pub(super) fn attempt(&mut self, id: &str, file: &str, attempt: &Attempt, of: usize, open: bool) {
        let (class, word) = names(attempt.outcome);
        let several = of > 1;
        if several {
            let open = if open { " open" } else { "" };
            self.add(&format!(
                "<details class=\"attempt\" id=\"{id}\"{open}>\n<summary>{} Attempt {} of {of} <span class=\"word {class}\">{word}</span> <span class=\"time\">{}</span></summary>\n",
                sign(attempt.outcome),
                attempt.number,
                millis(attempt.millis)
            ));
        } else {
            self.add(&format!("<div class=\"attempt\" id=\"{id}\">\n"));
        }
        if let Some(divergence) = &attempt.divergence {
            self.divergence(id, file, divergence);
        }
        if let Some(error) = &attempt.error {
            let title = match attempt.outcome {
                Outcome::Broken => "The machinery failed; this says nothing about the app",
                _ => "It failed",
            };
            self.error(error, title);
        }
        if !attempt.steps.is_empty() {
            // Many steps that went well would only stand in the way of the next script.
            let good = matches!(attempt.outcome, Outcome::Passed | Outcome::Flaky);
            let open = if good && attempt.steps.len() > MANY { "" } else { " open" };
            self.add(&format!(
                "<details class=\"all\"{open}>\n<summary>{}</summary>\n<ol class=\"steps\">\n",
                plural(attempt.steps.len(), "step")
            ));
            for (s, step) in attempt.steps.iter().enumerate() {
                self.step(&format!("{id}s{}", s + 1), step, attempt);
            }
            self.add("</ol>\n</details>\n");
        }
        let mut facts = vec![format!("session <code>{}</code>", text(&attempt.session))];
        facts.extend(
            attempt
                .artifacts
                .as_ref()
                .map(|path| format!("files in <code>{}</code>", text(&path.display().to_string()))),
        );
        self.add(&format!(
            "<p class=\"facts\">{}</p>\n",
            facts.join(" <span aria-hidden=\"true\">·</span> ")
        ));
        self.add(if several { "</details>\n" } else { "</div>\n" });
    }

    pub(super) fn error(&mut self, error: &Error, title: &str) {
        self.add(&format!(
            "<section class=\"error\" aria-label=\"{title}\">\n<h3>{title}</h3>\n<p><code>{}</code> {}</p>\n",
            error.code.name(),
            with_refs(&error.message)
        ));
        if !error.hint.is_empty() {
            self.add(&format!("<p class=\"hint\">{}</p>\n", with_refs(&error.hint)));
        }
        self.add("</section>\n");
    }

    /// What was recorded beside what there is.
    fn divergence(&mut self, id: &str, file: &str, divergence: &Divergence) {
        let place = text(&divergence.at.to_string());
        self.add(&format!(
            "<section class=\"divergence\" aria-labelledby=\"{id}-div\">\n<h3 id=\"{id}-div\">Step {} found something else</h3>\n\
             <p class=\"what\"><code>{}</code> {}</p>\n<div class=\"sides\">\n",
            divergence.step,
            divergence.error.code.name(),
            with_refs(&divergence.error.message)
        ));
        self.add(&format!(
            "<div class=\"side recorded\">\n<h4>Recorded</h4>\n<p class=\"place\">{place}</p>\n<pre class=\"line\"><code>{}</code></pre>\n",
            text(&divergence.line)
        ));
        if divergence.expected.is_empty() {
            self.add("<p class=\"quiet\">What the target was is not recorded with this step.</p>\n");
        } else {
            self.add("<p class=\"quiet\">Its target was</p>\n<ul class=\"expected\">\n");
            for expected in &divergence.expected {
                self.add(&format!("<li><code>{}</code></li>\n", text(expected)));
            }
            self.add("</ul>\n");
        }
        // Where the session is gone, nothing can go on in it.
        let (what, command) = match &divergence.resume {
            Some(resume) => {
                ("Go on from here, when it is right in the app", resume.command(file, &resume.again()))
            }
            None => {
                let file = crate::script::line(&[crate::script::Template::text(file)]);
                ("See what it finds, and stay there", format!("replay {file}"))
            }
        };
        self.add(&format!(
            "<p class=\"quiet\">{what}</p>\n\
             <div class=\"copy\"><code>stickpin {}</code><button type=\"button\" data-copy>Copy</button></div>\n",
            text(&command)
        ));
        self.add("</div>\n<div class=\"side found\">\n<h4>Found</h4>\n");
        if divergence.suggestions.is_empty() {
            self.add("<p class=\"quiet\">Nothing is like what was asked for.</p>\n");
        } else {
            self.add("<p class=\"quiet\">Perhaps one of these is meant</p>\n<ol class=\"suggestions\">\n");
            for suggestion in &divergence.suggestions {
                self.add(&format!(
                    "<li><code>{}</code> <span class=\"why\">same {}</span></li>\n",
                    with_refs(suggestion.line.trim()),
                    text(&suggestion.basis)
                ));
            }
            self.add("</ol>\n");
        }
        match &divergence.screen {
            Some(screen) => {
                self.add("<p class=\"quiet\">The screen, at that moment</p>\n");
                self.block("screen", "The screen, at that moment", &with_refs(screen.trim_end()));
            }
            None => self.add("<p class=\"quiet\">The screen could not be read.</p>\n"),
        }
        self.add("</div>\n</div>\n</section>\n");
    }

    fn step(&mut self, id: &str, step: &Step, attempt: &Attempt) {
        let outcome = if step.ok { Outcome::Passed } else { attempt.outcome_of_a_failed_step() };
        let (class, _) = names(outcome);
        let open = if step.ok { "" } else { " open" };
        let flag = step.warning.as_ref().map_or("", |_| "<span class=\"flag\">warning</span>");
        self.add(&format!(
            "<li><details class=\"step {class}\" id=\"{id}\"{open}>\n<summary>{}<span class=\"no\">{}</span>\
             <code class=\"line\">{}</code>{flag}<svg class=\"times\" height=\"6\" aria-hidden=\"true\">{}</svg><span class=\"time\">{}</span></summary>\n<div class=\"seen\">\n<div class=\"facts-of-step\">\n",
            sign(outcome),
            step.number,
            text(&step.line),
            bar(step.began, step.millis, attempt.millis.max(1.0), class),
            millis(step.millis)
        ));
        self.add(&format!("<p class=\"place\">{}</p>\n", text(&step.at.to_string())));
        let diverged = attempt.divergence.as_ref().is_some_and(|d| d.step == step.number && !step.ok);
        match (&step.error, id.rfind('s')) {
            (Some(_), Some(end)) if diverged => {
                let attempt = &id[..end];
                self.add(&format!("<p><a href=\"#{attempt}-div\">What was found instead</a></p>\n"));
            }
            // It is said above the steps already.
            (Some(error), _) if attempt.error.as_ref() == Some(error) => {}
            (Some(error), _) => self.error(error, "It failed"),
            (None, _) => {}
        }
        if let Some(warning) = &step.warning {
            self.add(&format!("<p class=\"warning\"><b>Warning</b> {}</p>\n", with_refs(warning)));
        }
        self.list("Recorded", &step.expected);
        self.list("Seen since the act", &step.receipt);
        if let Some(said) = step.said.as_deref().filter(|said| !said.is_empty()) {
            self.add("<h4>Answer</h4>\n");
            self.block("said", "Answer", &with_refs(said.trim_end()));
        }
        match step.changes.as_deref().map(str::trim_end) {
            Some(changes) if !changes.is_empty() => {
                self.add("<h4>Changes</h4>\n");
                let lines: String = changes.lines().map(changed).collect();
                self.block("changes", "Changes", &lines);
            }
            Some(_) => self.add("<p class=\"quiet\">Nothing changed.</p>\n"),
            None => {}
        }
        self.add("</div>\n");
        if let Some(picture) = &step.picture {
            let figure =
                self.pictures.figure(picture, id, &format!("What was to be seen after step {}", step.number));
            self.add(&figure);
        }
        self.add("</div>\n</details></li>\n");
    }

    fn list(&mut self, title: &str, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        let items: String = lines.iter().map(|line| format!("<li>{}</li>\n", with_refs(line))).collect();
        self.add(&format!("<h4>{title}</h4>\n<ul class=\"lines\">\n{items}</ul>\n"));
    }

    /// Lines that may be wider and more than there is room for: reachable by keyboard, too.
    fn block(&mut self, class: &str, label: &str, html: &str) {
        self.add(&format!(
            "<pre class=\"{class}\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">{html}</pre>\n"
        ));
    }
}

/// A line of a diff.
fn changed(line: &str) -> String {
    let kind = match line.trim_start().chars().next() {
        Some('+') => "came",
        Some('-') => "went",
        Some('~') => "other",
        _ => "same",
    };
    format!("<span class=\"{kind}\">{}\n</span>", with_refs(line))
}

impl Attempt {
    /// Whether a step that failed was the app's or the machinery's fault.
    fn outcome_of_a_failed_step(&self) -> Outcome {
        if self.outcome == Outcome::Broken { Outcome::Broken } else { Outcome::Failed }
    }
}
