//! The situations and races of `fixtures/web/gauntlet`, as their README describes them.

use super::site::Hit;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use stickpin_testkit::workspace_root;

/// Every file of situations: the group's name.
pub const GROUPS: &[&str] = &[
    "detail",
    "rows",
    "popups",
    "lists",
    "verbs",
    "clickable",
    "unchanged",
    "panels",
    "scopes",
    "steps",
    "media",
    "calm",
];

/// The required outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The element still exists with the same meaning: the command must act on it.
    Act,
    /// The input would reach an element other than the ref's: nothing may happen without a prior
    /// notice.
    Refuse,
    /// Either acting on the right element or refusing.
    Either,
}

/// Selects a line of a snapshot.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pick {
    pub role: Option<String>,
    pub name: Option<String>,
    /// Part of the name.
    pub has: Option<String>,
    /// The index among the matches, from 0.
    #[serde(default)]
    pub nth: usize,
}

impl Pick {
    pub fn fits(&self, role: &str, name: &str) -> bool {
        self.role.as_ref().is_none_or(|want| want == role)
            && self.name.as_ref().is_none_or(|want| want == name)
            && self.has.as_ref().is_none_or(|part| name.contains(part.as_str()))
    }
}

/// A command before the snapshot whose refs are used.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    #[serde(default)]
    pub pick: Vec<Pick>,
    pub run: Vec<String>,
}

/// The lines of a snapshot to search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum View {
    #[default]
    Interactive,
    Full,
}

/// Milliseconds between the input and the change of a race. `sync` and `micro`: within the event.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Delay {
    Word(String),
    Millis(u32),
}

impl Delay {
    /// Formats the delay for the page's `arm`.
    pub fn script(&self) -> String {
        match self {
            Self::Word(word) => format!("{word:?}"),
            Self::Millis(millis) => millis.to_string(),
        }
    }
}

/// A page, the refs that are read from it, its change, and the command that uses the refs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Situation {
    pub id: String,
    pub kind: Kind,
    /// Whether no readable content distinguishes the records.
    #[serde(default)]
    pub hard: bool,
    /// Whether the situation runs only without a snapshot in between, because the change is part of
    /// the action.
    #[serde(default)]
    pub once: bool,
    pub description: String,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default)]
    pub head: String,
    pub html: String,
    #[serde(default)]
    pub script: String,
    /// Other pages, by path.
    #[serde(default)]
    pub more: BTreeMap<String, String>,
    #[serde(default)]
    pub view: View,
    pub pick: Vec<Pick>,
    #[serde(default)]
    pub before: Vec<Preparation>,
    /// The page's script between the snapshot and the use.
    #[serde(default)]
    pub change: Option<String>,
    /// The command; `{0}` is the first ref. `press {0}` if absent.
    #[serde(default, rename = "use")]
    pub command: Option<Vec<String>>,
    /// Records that may receive the input.
    pub want: Vec<String>,
    /// Types of reports that count.
    #[serde(default)]
    pub events: Option<Vec<String>>,
    /// Reports that do not count as an action, such as a drop outside every target.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// Races only: when the change comes.
    #[serde(default)]
    pub delays: Vec<Delay>,
    /// Races only: uses per delay in a long run.
    #[serde(default)]
    pub times: Option<usize>,
    /// The file.
    #[serde(skip)]
    pub group: &'static str,
}

impl Situation {
    /// Returns the command, with refs (and a folder) inserted.
    pub fn words(&self, refs: &[String], dir: &str) -> Vec<String> {
        let press = ["press".to_owned(), "{0}".to_owned()];
        let words = self.command.as_deref().unwrap_or(&press);
        words.iter().map(|word| filled(word, refs, dir)).collect()
    }

    pub fn counts(&self, hit: &Hit) -> bool {
        const DEFAULT: [&str; 6] = ["click", "act", "input", "change", "drop", "dblclick"];
        let event = hit.event.as_str();
        let counts = match &self.events {
            Some(events) => events.iter().any(|e| e == event),
            None => DEFAULT.contains(&event),
        };
        counts && !self.ignore.contains(&hit.rec)
    }

    /// Returns the whole page.
    pub fn page(&self) -> String {
        let title = self.title.as_deref().unwrap_or("App");
        let Self { head, html, script, .. } = self;
        format!(
            "<!doctype html><meta charset=utf-8><link rel=icon href=\"data:,\"><title>{title}</title>{head}<body>{html}\
             <script>const $=q=>document.querySelector(q),$$=q=>[...document.querySelectorAll(q)];\
             const mark=r=>$$('[data-b]').forEach(b=>b.dataset.rec=b.dataset.b+':'+r);{script}</script>\
             <script src=/runtime.js></script>"
        )
    }
}

/// Returns a word of a command with refs inserted.
pub fn filled(word: &str, refs: &[String], dir: &str) -> String {
    let word = word.replace("$DIR", dir);
    refs.iter().enumerate().fold(word, |word, (i, r)| word.replace(&format!("{{{i}}}"), r))
}

pub fn folder() -> PathBuf {
    workspace_root().join("fixtures").join("web").join("gauntlet")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    situation: Vec<Situation>,
    #[serde(default)]
    race: Vec<Situation>,
}

fn read(group: &str) -> File {
    let path = folder().join(format!("{group}.toml"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Returns all situations, in the order of their files.
pub fn situations() -> Vec<Situation> {
    let of_group = |&group: &&'static str| {
        read(group).situation.into_iter().map(move |situation| Situation { group, ..situation })
    };
    GROUPS.iter().flat_map(of_group).collect()
}

/// Returns all races.
pub fn races() -> Vec<Situation> {
    read("races").race.into_iter().map(|race| Situation { group: "races", ..race }).collect()
}
