//! Divergences: a step finds something other than what was recorded, or nothing.

use crate::plan::{Plan, SourceLocation, Step};
use crate::position::Position;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stickpin_kernel::{Error, Show, Target, Text};
use stickpin_tree::{Selector, SuggestionReason};

/// The maximum number of suggested elements.
pub(crate) const MAX_SUGGESTIONS: usize = 5;

/// A step that did not find what was recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Divergence {
    /// The step's number in the plan.
    pub step: usize,
    /// Where the step is.
    pub at: SourceLocation,
    /// The step's line.
    pub line: String,
    /// The recorded meanings of the step's targets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<String>,
    /// The error that the command returned.
    pub error: Error,
    /// The current screen with fresh refs; `None` if it could not be read.
    pub screen: Option<String>,
    /// The elements most similar to the target, the best first.
    pub suggestions: Vec<Suggestion>,
    /// How to continue without repeating earlier steps; `None` if the session is gone.
    pub resume: Option<Resume>,
}

/// An element that may be the step's target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    /// The properties that this element shares with the target.
    pub basis: String,
    /// The ref of the element.
    pub r#ref: String,
    /// The element's line in a snapshot.
    pub line: String,
}

/// Where a run can continue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resume {
    /// The number of the step, for `--from`.
    pub from: usize,
    /// The rounds of the `repeat` and `retry` blocks around the step, for `--rounds`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<u32>,
    /// The position after the step; `None` if the step is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Position>,
    /// The digest of the plan, for `--plan-digest`.
    pub plan_digest: String,
}

impl Resume {
    /// Creates the information for continuing at a step of a plan.
    pub(crate) fn new(plan: &Plan, from: Position) -> Self {
        Self {
            next: plan.position_after(&from),
            from: from.step,
            rounds: from.rounds,
            plan_digest: plan.digest(),
        }
    }

    /// Returns the position of the step itself.
    pub(crate) fn position(&self) -> Position {
        Position { step: self.from, rounds: self.rounds.clone() }
    }

    /// Returns the arguments of `stickpin` that continue at a position.
    pub(crate) fn command(&self, file: &str, at: &Position) -> String {
        let file = crate::script::line(&[crate::script::Template::text(file)]);
        let rounds: Vec<String> = at.rounds.iter().map(ToString::to_string).collect();
        let rounds = match rounds.is_empty() {
            true => String::new(),
            false => format!(" --rounds {}", rounds.join(",")),
        };
        format!("replay {file} --from {}{rounds} --plan-digest {}", at.step, self.plan_digest)
    }
}

impl Divergence {
    /// Converts the divergence into an error. The caller adds the hint, because only the caller
    /// knows how to continue.
    #[must_use]
    pub fn error(&self) -> Error {
        let message = format!("{}: `{}`: {}", self.at, self.line, self.error.message);
        // The output already has the screen.
        let details = serde_json::to_value(Self { screen: None, ..self.clone() }).unwrap_or_default();
        Error::replay_divergence(message).dispatched(self.error.dispatched).details(details)
    }
}

impl Show for Divergence {
    fn show(&self, text: &mut Text) {
        text.line(format_args!("step {} · {}", self.step, self.at));
        text.line(format_args!("  {}", self.line));
        for expected in &self.expected {
            text.line(format_args!("  recorded: {expected}"));
        }
        text.line(format_args!("  now: {}: {}", self.error.code.name(), self.error.message));
        if !self.error.hint.is_empty() {
            text.line(format_args!("  {}", self.error.hint.replace('\n', "\n  ")));
        }
        if !self.suggestions.is_empty() {
            text.line("similar elements");
            for suggestion in &self.suggestions {
                text.line(format_args!("  {} (same {})", suggestion.line.trim(), suggestion.basis));
            }
        }
        match &self.screen {
            Some(screen) => {
                text.line("the screen now");
                text.block(screen);
            }
            None => text.line("the screen could not be read"),
        }
    }
}

/// Returns selectors with fewer conditions than a step's targets, to find similar elements; the
/// best first.
pub(crate) fn relaxed_selectors(step: &Step) -> Vec<(SuggestionReason, Selector)> {
    let mut found = Vec::new();
    step.line.entry.rewrite_targets(&mut step.line.input.clone(), &mut |target| {
        if let Ok(Target::Selector(selector)) = target.parse() {
            found.extend(selector.relaxed());
        }
        None
    });
    found.sort_by_key(|(reason, _)| *reason);
    found
}

/// Adds the new matches from the output of `find`, up to [`MAX_SUGGESTIONS`] in all.
pub(crate) fn add_suggestions(
    suggestions: &mut Vec<Suggestion>,
    reason: SuggestionReason,
    found: Option<&Value>,
) {
    let matches = found.and_then(|output| output["matches"].as_array()).into_iter().flatten();
    for found in matches {
        let (Some(r#ref), Some(line)) = (found["ref"].as_str(), found["line"].as_str()) else { continue };
        if suggestions.len() < MAX_SUGGESTIONS && !suggestions.iter().any(|s| s.r#ref == r#ref) {
            let (r#ref, line) = (r#ref.to_owned(), line.to_owned());
            suggestions.push(Suggestion { basis: reason.name().to_owned(), r#ref, line });
        }
    }
}
