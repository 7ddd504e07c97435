//! Reading the table and its trees.

use std::collections::BTreeMap;
use std::path::PathBuf;
use stickpin_tree::testing::tree;
use stickpin_tree::{Handle, Tree};

/// Devices that may have their own outcome in the table.
const DEVICES: [&str; 3] = ["desktop", "gtk3", "gtk4"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grade {
    NeverReused,
    WhileAlive,
    None,
}

impl Grade {
    fn name(self) -> &'static str {
        match self {
            Self::NeverReused => "never-reused",
            Self::WhileAlive => "while-alive",
            Self::None => "none",
        }
    }
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) plain: [String; 3],
    pub(crate) pinned: [String; 3],
    /// The outcome after actions of the client itself, read by the suites on devices.
    #[serde(rename = "own")]
    _own: Option<String>,
}

#[derive(Debug, serde::Deserialize)]
pub(crate) struct Target {
    pub(crate) role: String,
    pub(crate) name: String,
    /// The position of the target, read by the suites that find it on a device.
    #[serde(flatten)]
    _place: BTreeMap<String, String>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Situation {
    pub(crate) id: String,
    pub(crate) spec: String,
    title: String,
    pub(crate) target: Target,
    #[serde(default)]
    suites: Vec<String>,
    says: Option<String>,
    outcome: BTreeMap<String, String>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    outcomes: BTreeMap<String, Row>,
    pub(crate) situation: Vec<Situation>,
}

/// One state of the app.
pub(crate) struct State {
    text: String,
    /// The element that was acted on to reach this state, a node of the previous state.
    pub(crate) act: Option<u64>,
    /// Whether the action handed over a new ref.
    pub(crate) handed_over: bool,
    /// Marked elements: label and handle.
    pub(crate) marks: Vec<(String, Handle)>,
}

impl State {
    pub(crate) fn tree(&self, grade: Grade) -> Tree {
        tree(&self.text.replace("$grade", grade.name()))
    }

    pub(crate) fn mark(&self, label: &str) -> Option<Handle> {
        self.marks.iter().find(|(l, _)| l == label).map(|&(_, h)| h)
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn read(path: &PathBuf) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

impl Table {
    pub(crate) fn read() -> Self {
        let path = folder().join("staleness.toml");
        let table: Self = toml::from_str(&read(&path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        for s in &table.situation {
            assert!(!s.title.is_empty() && !s.target.name.is_empty(), "{} is not described", s.id);
            let grades = [Grade::NeverReused, Grade::WhileAlive, Grade::None].map(Grade::name);
            let named = |name: &&str| s.outcome.contains_key(*name);
            assert!(grades.iter().all(named), "{} names another set of grades", s.id);
            let others = s.outcome.keys().filter(|name| !grades.contains(&name.as_str()));
            assert!(
                others.clone().all(|name| DEVICES.contains(&name.as_str())),
                "{}: {:?}",
                s.id,
                others.collect::<Vec<_>>()
            );
        }
        table
    }

    /// Returns whether the client may be notified of the change of a situation, on any device.
    pub(crate) fn tells(&self, situation: &Situation) -> bool {
        let rows = situation.outcome.values().map(|name| &self.outcomes[name]);
        rows.flat_map(|row| row.plain.iter().chain(&row.pinned)).any(|outcome| outcome == "told")
    }

    pub(crate) fn on_trees(&self) -> impl Iterator<Item = &Situation> {
        self.situation.iter().filter(|s| s.suites.is_empty() || s.suites.iter().any(|s| s == "memory"))
    }

    pub(crate) fn row(&self, situation: &Situation, grade: Grade) -> &Row {
        let name = &situation.outcome[grade.name()];
        self.outcomes.get(name).unwrap_or_else(|| panic!("{}: no outcomes.{name}", situation.id))
    }

    pub(crate) fn tree_files() -> Vec<String> {
        let files = std::fs::read_dir(folder().join("staleness")).expect("the folder of trees");
        let stem = |e: std::io::Result<std::fs::DirEntry>| e.expect("an entry").path().with_extension("");
        files.map(|e| stem(e).file_name().expect("a name").to_string_lossy().into_owned()).collect()
    }
}

impl Situation {
    /// Returns whether the table has the text of the notice.
    pub(crate) fn has_words(&self) -> bool {
        self.says.is_some()
    }

    /// Returns the states of the app, in order.
    ///
    /// A state begins with a line `== what, acted on #n, handed over`; a line of its tree may end
    /// with `<- label`.
    pub(crate) fn states(&self) -> Vec<State> {
        let text = read(&folder().join(format!("staleness/{}.txt", self.id)));
        let states: Vec<State> = text.split("== ").skip(1).map(|s| self.state(s)).collect();
        assert!(states.len() > 1, "{}: nothing happens", self.id);
        let first = states.iter().find(|s| s.mark("target").is_some());
        let first = first.unwrap_or_else(|| panic!("{}: no line is the target", self.id));
        let wanted = format!("{} \"{}\"", self.target.role, self.target.name);
        let tree = first.tree(Grade::NeverReused);
        let marked = first.mark("target").and_then(|h| tree.find_handle(h)).expect("the marked node");
        assert_eq!(format!("{} {:?}", marked.role(), marked.name()), wanted, "{}: the target", self.id);
        states
    }

    fn state(&self, section: &str) -> State {
        let (head, body) = section.split_once('\n').expect("a tree after the heading");
        let act = head.split("acted on #").nth(1).map(|n| n.trim().parse().expect("a number"));
        let mut state =
            State { text: String::new(), act, handed_over: head.contains("handed over"), marks: Vec::new() };
        // The documents that enclose a line: (indent, scope).
        let mut scopes: Vec<(usize, u64)> = Vec::new();
        for line in body.lines() {
            let (line, label) = line.split_once(" <- ").map_or((line, None), |(l, m)| (l, Some(m)));
            let word = |prefix: &str| line.split(' ').find_map(|w| w.strip_prefix(prefix)?.parse().ok());
            let indent = line.len() - line.trim_start().len();
            scopes.retain(|&(i, _)| i < indent);
            if ["page ", "frame "].iter().any(|d| line.trim_start().starts_with(d)) {
                scopes.push((indent, word("scope=").unwrap_or(1)));
            }
            if let Some(label) = label {
                let id = word("#").expect("a marked line has a handle");
                let scope = scopes.last().expect("a page").1;
                state.marks.push((label.to_owned(), Handle { scope, id }));
            }
            state.text.push_str(line);
            state.text.push('\n');
        }
        state
    }
}
