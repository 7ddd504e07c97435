//! What is said when a step finds another thing than was recorded, or nothing.

use crate::plan::{Place, Step};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Write as _;
use stickpin_kernel::{Error, ErrorCode, Target, targets};
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
    /// How to go on without the steps before it; none where it stands in a block.
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
    /// `--from`.
    pub from: usize,
    /// `--plan-digest`.
    pub plan_digest: String,
}

impl Divergence {
    /// As an error of a command.
    #[must_use]
    pub fn into_error(self) -> Error {
        let mut hint = String::new();
        // Writing to a string cannot fail.
        for suggestion in &self.suggestions {
            let _ = writeln!(hint, "perhaps {} (same {})", suggestion.line.trim(), suggestion.basis);
        }
        match &self.resume {
            Some(resume) => {
                let _ = write!(
                    hint,
                    "make it right in the app, then: stickpin replay {} --from {} --plan-digest {}",
                    self.at.file, resume.from, resume.plan_digest
                );
            }
            None => hint.push_str("it stands in a block: run the whole script again"),
        }
        let message = format!("{}: `{}`: {}", self.at, self.line, self.error.message);
        let dispatched = self.error.dispatched;
        let details = serde_json::to_value(&self).unwrap_or_default();
        Error::new(ErrorCode::ReplayDivergence, message).hint(hint).dispatched(dispatched).details(details)
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
