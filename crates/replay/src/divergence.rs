//! What is said when a step finds another thing than was recorded, or nothing.

use crate::plan::{Place, Plan, Step};
use crate::position::Position;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stickpin_kernel::{Error, ErrorCode, Show, Target, Text, targets};
use stickpin_tree::{Likeness, Selector};

/// How many elements are suggested.
pub(crate) const SUGGESTIONS: usize = 5;

/// A step that did not find what was recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Divergence {
    /// The step's number in the plan.
    pub step: usize,
    /// Where it stands.
    pub at: Place,
    /// Its line.
    pub line: String,
    /// What its targets were when it was recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<String>,
    /// What the command answered.
    pub error: Error,
    /// What there is now, with fresh refs; none if it could not be read.
    pub screen: Option<String>,
    /// What is most like what was asked for, the best first.
    pub suggestions: Vec<Suggestion>,
    /// How to go on without the steps before it; none where the session is gone.
    pub resume: Option<Resume>,
}

/// An element that may be meant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    /// What it has in common with what was asked for.
    pub basis: String,
    /// Its ref.
    pub r#ref: String,
    /// Its line, as a snapshot has it.
    pub line: String,
}

/// Where a run can go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resume {
    /// `--from`, with the step.
    pub from: usize,
    /// `--rounds`: those of the blocks around it that have rounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<u32>,
    /// Behind it; none where it is the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<Position>,
    /// `--plan-digest`.
    pub plan_digest: String,
}

impl Resume {
    /// At a step of a plan.
    pub(crate) fn new(plan: &Plan, from: Position) -> Self {
        Self { behind: plan.behind(&from), from: from.step, rounds: from.rounds, plan_digest: plan.digest() }
    }

    /// With the step.
    pub(crate) fn again(&self) -> Position {
        Position { step: self.from, rounds: self.rounds.clone() }
    }

    /// The words behind `stickpin` that go on at a position.
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
    /// As an error of a command; its hint is to be added by who knows how to go on.
    #[must_use]
    pub fn error(&self) -> Error {
        let message = format!("{}: `{}`: {}", self.at, self.line, self.error.message);
        // The screen stands in the output.
        let details = serde_json::to_value(Self { screen: None, ..self.clone() }).unwrap_or_default();
        Error::new(ErrorCode::ReplayDivergence, message).dispatched(self.error.dispatched).details(details)
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
            text.line("perhaps");
            for suggestion in &self.suggestions {
                text.line(format_args!("  {} (same {})", suggestion.line.trim(), suggestion.basis));
            }
        }
        match &self.screen {
            Some(screen) => {
                text.line("the screen now");
                text.block(screen);
            }
            None => text.line("the screen cannot be read"),
        }
    }
}

/// What to look for in place of a step's targets, the best first.
pub(crate) fn selectors(step: &Step) -> Vec<(Likeness, Selector)> {
    let mut found = Vec::new();
    targets::change(step.line.entry, &mut step.line.input.clone(), &mut |target| {
        if let Ok(Target::Selector(selector)) = target.parse() {
            found.extend(selector.relaxed());
        }
        None
    });
    found.sort_by_key(|(likeness, _)| *likeness);
    found
}

/// Adds what `find` answered.
pub(crate) fn add(suggestions: &mut Vec<Suggestion>, likeness: Likeness, found: Option<&Value>) {
    let matches = found.and_then(|output| output["matches"].as_array()).into_iter().flatten();
    for found in matches {
        let (Some(r#ref), Some(line)) = (found["ref"].as_str(), found["line"].as_str()) else { continue };
        if suggestions.len() < SUGGESTIONS && !suggestions.iter().any(|s| s.r#ref == r#ref) {
            let (r#ref, line) = (r#ref.to_owned(), line.to_owned());
            suggestions.push(Suggestion { basis: likeness.name().to_owned(), r#ref, line });
        }
    }
}
