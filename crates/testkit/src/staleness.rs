//! The outcome table of `fixtures/staleness.toml`, run on an app through the kernel.

use crate::surface::InProcess;
use crate::workspace_root;
use serde::Deserialize;
use std::collections::BTreeMap;
use stickpin_kernel::Response;

/// The file.
#[derive(Debug, Clone, Deserialize)]
pub struct Table {
    outcomes: BTreeMap<String, Row>,
    /// Every situation.
    #[serde(rename = "situation")]
    pub situations: Vec<Situation>,
}

#[derive(Debug, Clone, Deserialize)]
struct Row {
    plain: [String; 3],
    pinned: [String; 3],
}

/// One situation.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Situation {
    /// Stable; names screens and pages.
    pub id: String,
    /// The paragraph of the contract that asks for it.
    pub spec: String,
    /// The element that the ref is issued for.
    pub target: Aimed,
    /// Where it runs; none: everywhere.
    pub suites: Option<Vec<String>>,
    outcome: BTreeMap<String, String>,
}

/// The element that a situation is about.
#[derive(Debug, Clone, Deserialize)]
pub struct Aimed {
    role: String,
    name: String,
    row: Option<String>,
}

/// An app that shows the situations and changes by itself.
pub trait Stage {
    /// Shows the first state of a situation with this surface; returns how many changes follow.
    ///
    /// # Errors
    /// A sentence.
    fn show(&mut self, surface: &mut InProcess, id: &str) -> Result<usize, String>;

    /// Makes the next change.
    ///
    /// # Errors
    /// A sentence.
    fn change(&mut self, surface: &mut InProcess) -> Result<(), String>;

    /// What this app's platform calls a role of the table.
    fn role<'r>(&self, role: &'r str) -> &'r str {
        role
    }

    /// The logical ids of what received a press since this was last asked: `target` is the right one.
    fn pressed(&mut self) -> Vec<String>;
}

/// What was looked at between the first snapshot and the act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Between {
    /// Nothing.
    Nothing,
    /// The session looked, and showed it to nobody.
    Looks,
    /// This client was shown every state.
    Snapshots,
}

impl Between {
    /// In the order of the table's columns.
    pub const ALL: [Self; 3] = [Self::Nothing, Self::Looks, Self::Snapshots];
}

/// The account of a run.
#[derive(Debug, Clone, Default)]
pub struct Account {
    /// How many uses of a ref were judged.
    pub uses: usize,
    /// Another element received the input. Never allowed, whatever the table says.
    pub wrong: Vec<String>,
    /// Differences from the table.
    pub differ: Vec<String>,
    /// Uses on ordinary flows (12.12), and how many of them were refused.
    pub ordinary: (usize, usize),
}

impl Account {
    /// Adds what another run found.
    pub fn add(&mut self, other: Self) {
        self.uses += other.uses;
        self.wrong.extend(other.wrong);
        self.differ.extend(other.differ);
        self.ordinary.0 += other.ordinary.0;
        self.ordinary.1 += other.ordinary.1;
    }
}

impl std::fmt::Display for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (n, refused) = self.ordinary;
        write!(
            f,
            "{} uses, {} wrong acts, {} differ from the table; ordinary flows: {refused} of {n} refused",
            self.uses,
            self.wrong.len(),
            self.differ.len()
        )?;
        self.wrong.iter().try_for_each(|w| write!(f, "\nWRONG ACT {w}"))?;
        self.differ.iter().try_for_each(|d| write!(f, "\n{d}"))
    }
}

impl Table {
    /// Reads the file.
    ///
    /// # Errors
    /// A sentence.
    pub fn read() -> Result<Self, String> {
        let path = workspace_root().join("fixtures").join("staleness.toml");
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// Runs one situation in one column of the table, with a plain and with a pinned ref. `grades` are the names under
    /// which the table may know the device, the most special first: the last one is its identity grade.
    ///
    /// # Errors
    /// When the stage fails, which is no answer to the question.
    pub fn run(
        &self,
        situation: &Situation,
        grades: &[&str],
        between: Between,
        surface: &mut InProcess,
        stage: &mut dyn Stage,
    ) -> Result<Account, String> {
        let grade = grades.first().ok_or("a device without a grade")?;
        let outcome = grades.iter().find_map(|grade| situation.outcome.get(*grade));
        let outcome = outcome.ok_or_else(|| format!("{} says nothing of {grades:?}", situation.id))?;
        let row = self.outcomes.get(outcome).ok_or_else(|| format!("no outcome {outcome}"))?;
        let mut account = Account::default();
        for (pinned, wants) in [(false, &row.plain), (true, &row.pinned)] {
            let want = &wants[between as usize];
            let at = format!(
                "{} ({grade}, {between:?}, {})",
                situation.id,
                if pinned { "pinned" } else { "plain" }
            );
            let steps = stage.show(surface, &situation.id).map_err(|e| format!("{at}: {e}"))?;
            let first =
                ok(surface.request(&["snapshot", "--all"], |_| {})).map_err(|e| format!("{at}: {e}"))?;
            let text = first.text.as_deref().unwrap_or("");
            let body = situation
                .target
                .find(text, stage.role(&situation.target.role))
                .ok_or_else(|| format!("{at}: no {:?} in\n{text}", situation.target))?;
            let generation =
                first.refs_generation.ok_or_else(|| format!("{at}: the snapshot issued nothing"))?;
            for _ in 0..steps {
                stage.change(surface).map_err(|e| format!("{at}: {e}"))?;
                match between {
                    Between::Nothing => {}
                    Between::Looks => drop(surface.request(&["is", "exists", "role=main"], |_| {})),
                    Between::Snapshots => drop(surface.request(&["snapshot", "--all"], |_| {})),
                }
            }
            drop(stage.pressed());
            let target = if pinned { format!("{body}~s{generation}") } else { body };
            let used = surface.request(&["press", &target, "--receipt", "off"], |_| {});
            account.judge(situation, &at, want, pinned, &used, &stage.pressed());
            if want.starts_with("refuses") {
                let again = surface.request(&["press", &target, "--receipt", "off"], |_| {});
                account.judge(
                    situation,
                    &format!("{at}, typed again"),
                    want,
                    pinned,
                    &again,
                    &stage.pressed(),
                );
            }
        }
        Ok(account)
    }
}

fn ok(response: Response) -> Result<Response, String> {
    match &response.error {
        Some(e) => Err(format!("{}: {e}", e.code.name())),
        None => Ok(response),
    }
}

impl Account {
    fn judge(
        &mut self,
        situation: &Situation,
        at: &str,
        want: &str,
        pinned: bool,
        used: &Response,
        pressed: &[String],
    ) {
        self.uses += 1;
        if situation.spec == "12.12" {
            self.ordinary.0 += 1;
            self.ordinary.1 += usize::from(used.error.is_some());
        }
        if pressed.iter().any(|p| p != "target") {
            self.wrong.push(format!("{at}: {pressed:?} received the press"));
        }
        let precise = used.warning.as_deref().is_some_and(|w| w.contains("was minted from snapshot"));
        let got = match &used.error {
            Some(e) => match e.details["reason"].as_str() {
                Some(reason) => format!("refuses {} {reason}", e.code.name()),
                None => format!("refuses {}", e.code.name()),
            },
            None if used.warning.as_deref().is_some_and(|w| w.starts_with("It reads ")) => {
                "acts+name".to_owned()
            }
            None if used.warning.as_deref().is_some_and(|w| w.starts_with("The heading above it reads ")) => {
                "acts+heading".to_owned()
            }
            None if used.warning.is_some() => "acts+warning".to_owned(),
            None => "acts".to_owned(),
        };
        if got != want {
            let detail =
                used.error.as_ref().map(|e| e.message.clone()).or(used.warning.clone()).unwrap_or_default();
            self.differ.push(format!("{at}: {got} instead of {want}: {detail}"));
        } else if got == "acts+warning" && pinned && !precise {
            self.differ.push(format!("{at}: the warning is not the precise one: {:?}", used.warning));
        }
        let should = usize::from(used.error.is_none());
        let have = pressed.iter().filter(|p| *p == "target").count();
        if have != should {
            self.differ
                .push(format!("{at}: {got}, and the app says that the target received {have} presses"));
        }
    }
}

impl Aimed {
    /// The ref of the element in a snapshot's text: after the line of its row, if it stands in one.
    fn find(&self, text: &str, role: &str) -> Option<String> {
        let mut lines = text.lines();
        if let Some(row) = &self.row {
            // The line of the row may be the line of the element.
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
    fn the_target_is_found_after_its_row() {
        let text = "page\n@e1 list\n  @e2 listitem\n    text \"Mail 1\"\n    @e3 button \"Delete\"\n  @e4 listitem\n    text \"Mail 2\"\n    @e5 button \"Delete\"";
        let aimed = |row: Option<&str>| Aimed {
            role: "button".into(),
            name: "Delete".into(),
            row: row.map(Into::into),
        };
        assert_eq!(aimed(None).find(text, "button").as_deref(), Some("@e3"));
        assert_eq!(aimed(Some("Mail 2")).find(text, "button").as_deref(), Some("@e5"));
        assert_eq!(aimed(Some("Mail 3")).find(text, "button"), None);
    }
}
