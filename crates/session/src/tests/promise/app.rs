//! A synthetic app that shows one record in many places, at any distance from the button that acts
//! on it.

use proptest::prelude::*;
use std::fmt::Write as _;
use stickpin_tree::Tree;
use stickpin_tree::testing::tree;

pub(super) const WORDS: [&str; 5] = ["Ada Berg", "Nils Falk", "Ines Roth", "Omar Diaz", "Yuki Mori"];

/// How the app shows which record the button acts on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spot {
    /// A text of an ancestor of the button, with the number of levels above it.
    Above(usize),
    /// A paragraph in a panel next to the button.
    Panel,
    Heading,
    /// The value of a field.
    Field,
    /// The source of an image.
    Picture,
    /// The name of an image.
    Caption,
    Description,
    /// The selected item of a list elsewhere.
    Selected,
    /// The current item of a menu of links elsewhere.
    Current,
    Title,
    Address,
    /// A distant text, in the banner.
    Banner,
}

pub(super) const SPOTS: [Spot; 13] = [
    Spot::Above(0),
    Spot::Above(2),
    Spot::Panel,
    Spot::Heading,
    Spot::Field,
    Spot::Picture,
    Spot::Caption,
    Spot::Description,
    Spot::Selected,
    Spot::Current,
    Spot::Title,
    Spot::Address,
    Spot::Banner,
];

/// What happens to the app.
#[derive(Debug, Clone)]
pub(super) enum Op {
    /// These spots, as bits, show another record in the same nodes, or in new nodes of equal shape.
    Replace { spots: u16, word: usize, new_nodes: bool },
    /// A row is added to an adjacent list.
    AddRow,
    /// A row of the adjacent list is removed.
    RemoveRow { at: usize },
    /// The list that the button may be in has this many other rows.
    Siblings(usize),
    /// A text is added in front of an ancestor's other texts.
    AddNote { above: usize },
    /// A message appears, changes or disappears.
    Message(Option<usize>),
    /// A dialog opens or closes elsewhere.
    Dialog(bool),
}

/// The structure of the app, constant across all captures.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// The spots in the app.
    pub(super) spots: Vec<Spot>,
    /// Levels around the button.
    pub(super) depth: usize,
    /// Whether the button and the levels around it are in a row of a list.
    pub(super) in_row: bool,
    pub(super) grade: &'static str,
}

#[derive(Debug, Clone)]
pub(super) struct App {
    pub(super) layout: Layout,
    /// The record of each spot.
    pub(super) words: Vec<usize>,
    nodes: Vec<u32>,
    rows: Vec<u32>,
    siblings: usize,
    notes: Vec<(usize, u32)>,
    message: Option<usize>,
    dialog: bool,
    next: u32,
}

pub(super) const BUTTON: u64 = 50;

impl App {
    pub(super) fn new(layout: Layout) -> Self {
        let words = vec![0; layout.spots.len()];
        let nodes = (0..layout.spots.len()).map(|at| 200 + 2 * u32::try_from(at).unwrap()).collect();
        let rows = vec![300, 301, 302];
        Self {
            layout,
            words,
            nodes,
            rows,
            siblings: 2,
            notes: Vec::new(),
            message: None,
            dialog: false,
            next: 400,
        }
    }

    pub(super) fn apply(&mut self, op: &Op) {
        let next = self.next;
        self.next += 2;
        match *op {
            Op::Replace { spots, word, new_nodes } => {
                for at in (0..self.words.len()).filter(|at| spots >> at & 1 == 1) {
                    // Nodes in a row are kept: if a row became the only one of its list while its
                    // nodes were created again, and then showed its first content, the first
                    // reading would still count.
                    if new_nodes && !self.layout.in_row {
                        self.next += 2;
                        self.nodes[at] = self.next;
                    }
                    self.words[at] = word;
                }
            }
            Op::AddRow => self.rows.push(next),
            // A single row is not recognizable as a row of a list.
            Op::RemoveRow { at } if self.rows.len() > 2 => drop(self.rows.remove(at % self.rows.len())),
            Op::RemoveRow { .. } => {}
            Op::Siblings(count) => self.siblings = count,
            Op::AddNote { above } => self.notes.insert(0, (above % self.layout.depth, next)),
            Op::Message(word) => self.message = word,
            Op::Dialog(open) => self.dialog = open,
        }
    }

    /// Returns whether a text was added before another. If the other text is replaced at the same
    /// time, the new text may pass for the replacement, which is one notice too many.
    pub(super) fn has_note_in_front(&self) -> bool {
        self.notes.iter().any(|&(above, _)| self.layout.spots.contains(&Spot::Above(above)))
    }

    fn at(&self, spot: Spot) -> Option<(&'static str, u32)> {
        let at = self.layout.spots.iter().position(|&s| s == spot)?;
        Some((WORDS[self.words[at]], self.nodes[at]))
    }

    pub(super) fn capture(&self) -> Tree {
        let mut page = String::new();
        let mut line = |depth: usize, text: std::fmt::Arguments<'_>| {
            writeln!(page, "{:1$}{text}", "", 2 * depth).expect("a string");
        };
        let title = self.at(Spot::Title).map_or("App", |(word, _)| word);
        let address = self.at(Spot::Address).map_or("", |(word, _)| &word[..3]);
        let grade = self.layout.grade;
        line(0, format_args!("page \"{title}\" http://app.test/{address} grade={grade}"));
        line(1, format_args!("banner #2"));
        let (word, id) = self.at(Spot::Banner).unwrap_or(("Shop", 3));
        line(2, format_args!("generic #{id}"));
        line(3, format_args!("text \"{word}\""));
        line(1, format_args!("listbox \"People\" #10"));
        for (nth, word) in WORDS.into_iter().enumerate() {
            let selected =
                if self.at(Spot::Selected).is_some_and(|(w, _)| w == word) { "selected" } else { "" };
            line(2, format_args!("option \"{word}\"* {selected} #{}", 11 + nth));
        }
        line(1, format_args!("navigation \"Recent\" #20"));
        for (nth, word) in WORDS.into_iter().enumerate() {
            let current =
                if self.at(Spot::Current).is_some_and(|(w, _)| w == word) { "current=page" } else { "" };
            line(2, format_args!("link \"{word}\"* {current} #{}", 21 + nth));
        }
        line(1, format_args!("main #30"));
        let mut depth = 2;
        if self.layout.in_row {
            line(2, format_args!("list #31"));
            for nth in 0..self.siblings {
                line(3, format_args!("listitem #{}", 32 + nth));
                line(4, format_args!("text \"{}\"", ["First", "Second"][nth]));
            }
            line(3, format_args!("listitem #39"));
            line(4, format_args!("text \"Third\""));
            depth = 4;
        }
        for level in (0..self.layout.depth).rev() {
            line(depth, format_args!("group #{}", 40 + level));
            depth += 1;
            for (_, id) in self.notes.iter().filter(|(above, _)| *above == level) {
                line(depth, format_args!("text \"note\""));
                line(depth, format_args!("separator #{id}"));
            }
            if let Some((word, id)) = self.at(Spot::Above(level)) {
                line(depth, format_args!("text \"{word}\""));
                line(depth, format_args!("separator #{id}"));
            }
        }
        if let Some((word, id)) = self.at(Spot::Panel) {
            line(depth, format_args!("generic #{}", id + 1));
            line(depth + 1, format_args!("paragraph #{id}"));
            line(depth + 2, format_args!("text \"{word}\""));
        }
        if let Some((word, id)) = self.at(Spot::Heading) {
            line(depth, format_args!("heading \"{word}\"* #{id}"));
        }
        if let Some((word, id)) = self.at(Spot::Field) {
            line(depth, format_args!("textbox \"Name\" value=\"{word}\" #{id}"));
        }
        if let Some((word, id)) = self.at(Spot::Picture) {
            line(depth, format_args!("img \"Photo\" source=\"/{word}.png\" #{id}"));
        }
        if let Some((word, id)) = self.at(Spot::Caption) {
            line(depth, format_args!("img \"{word}\" #{id}"));
        }
        if let Some((word, id)) = self.at(Spot::Description) {
            line(depth, format_args!("toolbar \"Acts\" description=\"{word}\" #{id}"));
        }
        line(depth, format_args!("button \"Delete\"* #{BUTTON}"));
        line(1, format_args!("list #60"));
        for id in &self.rows {
            line(2, format_args!("listitem #{id}"));
            line(3, format_args!("text \"entry {}\"", ["a", "b", "c"][*id as usize % 3]));
        }
        if let Some(word) = self.message {
            line(1, format_args!("status #80"));
            line(2, format_args!("text \"{} wrote\"", WORDS[word]));
        }
        if self.dialog {
            line(1, format_args!("dialog \"Help\" #90"));
            line(2, format_args!("text \"Press a key\""));
        }
        tree(&page)
    }
}

pub(super) fn layout() -> impl Strategy<Value = Layout> {
    let grade = prop_oneof![4 => Just("never-reused"), 2 => Just("while-alive"), 1 => Just("none")];
    let spots = proptest::sample::subsequence(SPOTS.to_vec(), 1..5);
    (spots, 1..5usize, any::<bool>(), grade).prop_map(|(spots, depth, in_row, grade)| {
        // A device without identity does not report which row is which: the content of a row
        // depends on the records.
        let in_row = in_row && grade != "none";
        let is_there = |spot: &Spot| !matches!(spot, Spot::Above(level) if *level >= depth);
        let mut spots: Vec<Spot> = spots.into_iter().filter(is_there).collect();
        if spots.is_empty() {
            spots.push(Spot::Panel);
        }
        Layout { spots, depth, in_row, grade }
    })
}

/// Generates changes that do not replace a record.
pub(super) fn elsewhere() -> impl Strategy<Value = Op> {
    prop_oneof![
        Just(Op::AddRow),
        (0..6usize).prop_map(|at| Op::RemoveRow { at }),
        (0..3usize).prop_map(Op::Siblings),
        (0..5usize).prop_map(|above| Op::AddNote { above }),
        proptest::option::of(0..WORDS.len()).prop_map(Op::Message),
        any::<bool>().prop_map(Op::Dialog),
    ]
}

pub(super) fn op() -> impl Strategy<Value = Op> {
    let replace = (any::<u16>(), 0..WORDS.len(), any::<bool>())
        .prop_map(|(spots, word, new_nodes)| Op::Replace { spots, word, new_nodes });
    prop_oneof![replace, elsewhere()]
}
