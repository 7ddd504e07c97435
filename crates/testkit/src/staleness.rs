//! Runs the outcome table of `fixtures/staleness.toml` on an app through the kernel.

use crate::in_process::InProcess;
use crate::workspace_root;
use serde::Deserialize;
use std::collections::BTreeMap;
use stickpin_kernel::{Dispatched, ErrorCode, Response};

/// The table.
#[derive(Debug, Clone, Deserialize)]
pub struct Table {
    outcomes: BTreeMap<String, Row>,
    /// All situations.
    #[serde(rename = "situation")]
    pub situations: Vec<Situation>,
}

#[derive(Debug, Clone, Deserialize)]
struct Row {
    plain: [String; 3],
    pinned: [String; 3],
    own: Option<String>,
}

/// A situation.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Situation {
    /// A stable name, also used for screens and pages.
    pub id: String,
    /// The paragraph of the contract that requires it.
    pub spec: String,
    /// The element that the ref is issued for.
    pub target: SituationTarget,
    /// The words for the change in a notice, and in the receipt of the client's own action.
    says: Option<String>,
    /// The suites that run it; `None` for all.
    pub suites: Option<Vec<String>>,
    outcome: BTreeMap<String, String>,
}

/// The element that a situation is about.
#[derive(Debug, Clone, Deserialize)]
pub struct SituationTarget {
    role: String,
    name: String,
    row: Option<String>,
}

/// An app that shows the situations and changes on its own.
pub trait Stage {
    /// Shows the first state of a situation on this surface; returns the number of changes that
    /// follow.
    ///
    /// # Errors
    /// Returns a sentence.
    fn show(&mut self, surface: &mut InProcess, id: &str) -> Result<usize, String>;

    /// Makes the next change.
    ///
    /// # Errors
    /// Returns a sentence.
    fn change(&mut self, surface: &mut InProcess) -> Result<(), String>;

    /// Returns the selector of a button that makes the next change when pressed, if the app has
    /// one.
    fn next(&self) -> Option<&str> {
        None
    }

    /// Returns the platform's name for a role of the table.
    fn role<'r>(&self, role: &'r str) -> &'r str {
        role
    }

    /// Returns the logical ids of elements pressed since the last call; `target` is the right one.
    fn pressed(&mut self) -> Vec<String>;

    /// Discards what was pressed while the changes were made.
    fn discard_pressed(&mut self) {
        drop(self.pressed());
    }
}

/// The reads and actions between the first snapshot and the judged action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BetweenReads {
    /// Nothing is read.
    Nothing,
    /// The session takes snapshots that no client sees.
    Looks,
    /// This client sees every state.
    Snapshots,
    /// Nothing is read, and this client's own actions make the changes.
    OwnActs,
}

/// The results of a run.
#[derive(Debug, Clone, Default)]
pub struct StalenessResults {
    /// The number of judged uses of a ref.
    pub uses: usize,
    /// Uses in which another element received the input. Never allowed, whatever the table says.
    pub wrong: Vec<String>,
    /// Differences from the table.
    pub differences: Vec<String>,
    /// The number of uses in situations that do not change the record (12.12).
    pub unchanged_uses: usize,
    /// The number of those uses that were finally refused.
    pub refused: usize,
    /// The number of those uses that were refused first with a notice and acted when repeated.
    pub notices: usize,
}

impl StalenessResults {
    /// Adds the results of another run.
    pub fn add(&mut self, other: Self) {
        self.uses += other.uses;
        self.wrong.extend(other.wrong);
        self.differences.extend(other.differences);
        self.unchanged_uses += other.unchanged_uses;
        self.refused += other.refused;
        self.notices += other.notices;
    }
}

impl std::fmt::Display for StalenessResults {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} uses, {} wrong actions, {} differ from the table; of {} unchanged uses, {} got a notice and {} were refused",
            self.uses,
            self.wrong.len(),
            self.differences.len(),
            self.unchanged_uses,
            self.notices,
            self.refused
        )?;
        self.wrong.iter().try_for_each(|w| write!(f, "\nWRONG ACTION {w}"))?;
        self.differences.iter().try_for_each(|d| write!(f, "\n{d}"))
    }
}

impl Table {
    /// Reads the table.
    ///
    /// # Errors
    /// Returns a sentence.
    pub fn read() -> Result<Self, String> {
        let path = workspace_root().join("fixtures").join("staleness.toml");
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// Runs one situation in one column of the table, with a plain and with a pinned ref. `grades`
    /// are the device's names in the table, the most specific first; the last one is its identity
    /// grade.
    ///
    /// # Errors
    /// Returns an error when the stage fails, which gives no result.
    pub fn run(
        &self,
        situation: &Situation,
        grades: &[&str],
        between: BetweenReads,
        surface: &mut InProcess,
        stage: &mut dyn Stage,
    ) -> Result<StalenessResults, String> {
        let grade = grades.first().ok_or("a device without a grade")?;
        let outcome = grades.iter().find_map(|grade| situation.outcome.get(*grade));
        let outcome = outcome.ok_or_else(|| format!("{} says nothing about {grades:?}", situation.id))?;
        let row = self.outcomes.get(outcome).ok_or_else(|| format!("no outcome {outcome}"))?;
        let mut results = StalenessResults::default();
        let uses: Vec<(bool, &str)> = match between {
            BetweenReads::OwnActs => row.own.iter().map(|want| (false, want.as_str())).collect(),
            _ => vec![(false, &row.plain[between as usize]), (true, &row.pinned[between as usize])],
        };
        for (pinned, want) in uses {
            let at = format!(
                "{} ({grade}, {between:?}, {})",
                situation.id,
                if pinned { "pinned" } else { "plain" }
            );
            let mut uses =
                Uses { situation, at, expected: want, pinned, target: String::new(), results: &mut results };
            uses.run(between, surface, stage).map_err(|e| format!("{}: {e}", uses.at))?;
        }
        Ok(results)
    }
}

/// The uses of one ref.
struct Uses<'t> {
    situation: &'t Situation,
    at: String,
    expected: &'t str,
    pinned: bool,
    target: String,
    results: &'t mut StalenessResults,
}

impl Uses<'_> {
    fn run(
        &mut self,
        between: BetweenReads,
        surface: &mut InProcess,
        stage: &mut dyn Stage,
    ) -> Result<(), String> {
        let target = &self.situation.target;
        let steps = stage.show(surface, &self.situation.id)?;
        let first = ok(surface.request(&["snapshot", "--all"], |_| {}))?;
        let text = first.text.as_deref().unwrap_or("");
        let body = target.find(text, stage.role(&target.role));
        let body = body.ok_or_else(|| format!("no {target:?} in\n{text}"))?;
        let generation = first.refs_generation.ok_or("the snapshot issued nothing")?;
        let mut texts: Vec<String> = Vec::new();
        for _ in 0..steps {
            match between {
                BetweenReads::OwnActs => {
                    let next = stage.next().ok_or("the app has no button for the next change")?;
                    texts.push(ok(surface.request(&["press", next], |_| {}))?.receipt.join("\n"));
                }
                _ => stage.change(surface)?,
            }
            match between {
                BetweenReads::Nothing | BetweenReads::OwnActs => {}
                BetweenReads::Looks => drop(surface.request(&["is", "exists", "role=main"], |_| {})),
                BetweenReads::Snapshots => drop(surface.request(&["snapshot", "--all"], |_| {})),
            }
        }
        stage.discard_pressed();
        self.target = if self.pinned { format!("{body}~s{generation}") } else { body };
        let used = self.press(surface);
        let mut got = outcome_of(&used);
        if between == BetweenReads::OwnActs && got.starts_with("acts") {
            got.truncate("acts".len());
        }
        self.judge(&got, &used, &stage.pressed());
        texts.extend(used.error.as_ref().filter(|_| self.expected == NOTICE).map(|e| e.message.clone()));
        let expected = self
            .situation
            .says
            .as_deref()
            .filter(|_| self.expected == NOTICE || between == BetweenReads::OwnActs);
        if let Some(says) = expected.filter(|says| !texts.iter().any(|text| text.contains(says))) {
            self.results.differences.push(format!("{}: {texts:?} does not say {says:?}", self.at));
        }
        if self.expected == NOTICE && used.error.as_ref().is_some_and(|e| e.code == ErrorCode::ContextChanged)
        {
            self.at.push_str(", repeated");
            self.results.notices += usize::from(self.situation.keeps_meaning());
            let repeated = self.press(surface);
            let pressed = stage.pressed();
            self.count(&repeated, &pressed);
            if let Some(e) = &repeated.error {
                self.results.differences.push(format!("{}: {}: {e}", self.at, e.code.name()));
            }
        } else if self.expected.starts_with("refuses") {
            self.at.push_str(", typed again");
            let repeated = self.press(surface);
            self.judge(&outcome_of(&repeated), &repeated, &stage.pressed());
        }
        Ok(())
    }

    fn press(&self, surface: &mut InProcess) -> Response {
        surface.request(&["press", &self.target, "--receipt", "off"], |_| {})
    }

    fn judge(&mut self, outcome: &str, used: &Response, pressed: &[String]) {
        let expected = self.expected;
        if self.situation.keeps_meaning() {
            self.results.unchanged_uses += 1;
            self.results.refused += usize::from(outcome.starts_with("refuses"));
        }
        self.count(used, pressed);
        let precise = used.warning.as_deref().is_some_and(|w| w.contains("was minted from snapshot"));
        let at = &self.at;
        if outcome != expected {
            let detail =
                used.error.as_ref().map(|e| e.message.clone()).or(used.warning.clone()).unwrap_or_default();
            self.results.differences.push(format!("{at}: {outcome} instead of {expected}: {detail}"));
        } else if outcome == "acts+warning" && self.pinned && !precise {
            self.results
                .differences
                .push(format!("{at}: the warning is not the precise one: {:?}", used.warning));
        }
    }

    /// Compares a response with the app's log.
    fn count(&mut self, used: &Response, pressed: &[String]) {
        self.results.uses += 1;
        let at = &self.at;
        if pressed.iter().any(|p| p != "target") {
            self.results.wrong.push(format!("{at}: {pressed:?} received the press"));
        }
        let should = usize::from(used.error.is_none());
        let have = pressed.iter().filter(|p| *p == "target").count();
        if have != should {
            let got = outcome_of(used);
            let differs = format!("{at}: {got}, and the app says that the target received {have} presses");
            self.results.differences.push(differs);
        }
    }
}

/// The outcome in which the client gets a notice before anything is sent.
const NOTICE: &str = "told";

/// Returns the outcome of a use, in the words of the table.
fn outcome_of(used: &Response) -> String {
    let starts = |begin: &str| used.warning.as_deref().is_some_and(|w| w.starts_with(begin));
    match &used.error {
        Some(e) if e.code == ErrorCode::ContextChanged && e.dispatched == Dispatched::No => NOTICE.to_owned(),
        Some(e) => match e.details["reason"].as_str() {
            Some(reason) => format!("refuses {} {reason}", e.code.name()),
            None => format!("refuses {}", e.code.name()),
        },
        None if starts("The element now reads ") => "acts+name".to_owned(),
        None if starts("The heading above the element now reads ") => "acts+heading".to_owned(),
        None if used.warning.is_some() => "acts+warning".to_owned(),
        None => "acts".to_owned(),
    }
}

fn ok(response: Response) -> Result<Response, String> {
    match &response.error {
        Some(e) => Err(format!("{}: {e}", e.code.name())),
        None => Ok(response),
    }
}

impl Situation {
    /// Returns whether no change in the situation gives the target another meaning.
    fn keeps_meaning(&self) -> bool {
        self.spec == "12.12"
    }
}

impl SituationTarget {
    /// Returns the element's ref from a snapshot's text, searching from the line of its row if it
    /// has one.
    fn find(&self, text: &str, role: &str) -> Option<String> {
        let mut lines = text.lines();
        if let Some(row) = &self.row {
            // The line of the row may be that of the element.
            let at = text.lines().position(|l| l.contains(row.as_str()))?;
            lines = text.lines();
            if at > 0 {
                lines.nth(at - 1);
            }
        }
        let mark = format!(" {role} \"{}", self.name);
        lines.find_map(|line| {
            let line = line.trim_start();
            let (head, rest) = line.split_at(line.find(' ')?);
            (head.starts_with("@e") && rest.starts_with(&mark)).then(|| head.to_owned())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_is_found_after_its_row() {
        let text = "page\n@e1 list\n  @e2 listitem\n    text \"Mail 1\"\n    @e3 button \"Delete\"\n  @e4 listitem\n    text \"Mail 2\"\n    @e5 button \"Delete\"";
        let aimed = |row: Option<&str>| SituationTarget {
            role: "button".into(),
            name: "Delete".into(),
            row: row.map(Into::into),
        };
        assert_eq!(aimed(None).find(text, "button").as_deref(), Some("@e3"));
        assert_eq!(aimed(Some("Mail 2")).find(text, "button").as_deref(), Some("@e5"));
        assert_eq!(aimed(Some("Mail 3")).find(text, "button"), None);
    }
}
