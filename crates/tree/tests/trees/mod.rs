//! Trees for tests: a small indented text format, and a generator of large ones (feature
//! `testing`).
//!
//! ```text
//! page "Shop" http://127.0.0.1/p.html scope=1 grade=never-reused
//!   heading "Shop" level=1
//!   list
//!     listitem tag=li class=row data-key=7
//!       link "Item 0"* href=/item/0
//!       text "or"
//!       button "Buy 0"* disabled #42
//!   iframe "Pay"
//!     frame "Payment" http://pay.example/ scope=2 path=0
//!       textbox "Card" value="42"
//! // a comment
//! ```
//!
//! Two spaces per level. A line is a role, an optional name in quotes, and words: a state
//! (`disabled`, `name-from-content`), `key=value` for level, value, tag and [`Attr`]s, or `#n` for
//! the number of the handle (otherwise, lines are numbered in order; text leaves have no handle
//! unless given one). `*` after the name adds `name-from-content` and a text leaf with the name. A
//! page may be `truncated`, and may list the handles of its own scope that are hidden
//! (`hidden=4,5`). Controls are actionable, text fields editable, boxes checkable, options and tabs
//! selectable by default; `inert` turns that off.

use crate::{Attr, Document, Handle, IdentityGrade, NodeSpec, Role, States, SurfaceId, Tree, TreeBuilder};

/// Builds the tree that a text describes.
///
/// # Panics
/// Panics if the text is not in the format; the message names the line.
#[must_use]
pub fn tree(text: &str) -> Tree {
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .filter(|(_, l)| !l.trim().is_empty() && !l.trim_start().starts_with("//"))
        .collect();
    let base = lines.first().map_or(0, |(_, l)| indent(l));
    let mut builder = None;
    let mut next_id = 1;
    for (number, line) in lines {
        let spaces =
            indent(line).checked_sub(base).unwrap_or_else(|| panic!("line {}: outdented", number + 1));
        assert!(spaces.is_multiple_of(2), "line {}: two spaces per level", number + 1);
        let parsed = Line::parse(line.trim_start(), number + 1);
        parsed.push(&mut builder, spaces / 2, &mut next_id);
    }
    builder.expect("no line").finish().expect("a tree")
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// A line before it is interpreted.
struct Line {
    number: usize,
    head: String,
    name: String,
    starred: bool,
    /// The (key, value) pairs; a word without `=` has no value.
    words: Vec<(String, Option<String>)>,
}

impl Line {
    fn parse(line: &str, number: usize) -> Self {
        let (head, mut rest) = line.split_at(line.find(' ').unwrap_or(line.len()));
        let mut name = String::new();
        let mut starred = false;
        rest = rest.trim_start();
        if rest.starts_with('"') {
            (name, rest) = quoted(rest, number);
            if let Some(after) = rest.strip_prefix('*') {
                (starred, rest) = (true, after);
            }
        }
        let mut words = Vec::new();
        loop {
            rest = rest.trim_start();
            let Some(end) = (!rest.is_empty()).then(|| rest.find(' ').unwrap_or(rest.len())) else { break };
            match rest[..end].split_once('=') {
                // An address may have `=` in its query.
                Some((key, value)) if !key.contains('/') => {
                    let (key, value) = (key.to_owned(), value);
                    if value.starts_with('"') {
                        let (value, after) = quoted(&rest[key.len() + 1..], number);
                        words.push((key, Some(value)));
                        rest = after;
                    } else {
                        words.push((key, Some(value.to_owned())));
                        rest = &rest[end..];
                    }
                }
                _ => {
                    words.push((rest[..end].to_owned(), None));
                    rest = &rest[end..];
                }
            }
        }
        Self { number, head: head.to_owned(), name, starred, words }
    }

    fn push(&self, builder: &mut Option<TreeBuilder>, depth: usize, next_id: &mut u64) {
        match self.head.as_str() {
            "page" | "frame" => self.push_document(builder, depth, next_id),
            _ => {
                self.push_node(builder.as_mut().unwrap_or_else(|| self.bad("no page above")), depth, next_id)
            }
        }
    }

    fn push_document(&self, builder: &mut Option<TreeBuilder>, depth: usize, next_id: &mut u64) {
        let mut doc =
            Document { scope: 1, frame: String::new(), url: String::new(), title: self.name.clone() };
        let mut grade = IdentityGrade::NeverReused;
        let (mut truncated, mut surface, mut hidden) = (false, 0, Vec::new());
        for (key, value) in &self.words {
            match (key.as_str(), value.as_deref()) {
                ("scope", Some(v)) => doc.scope = self.number_of(v),
                ("path", Some(v)) => v.clone_into(&mut doc.frame),
                ("surface", Some(v)) => surface = self.number_of(v),
                ("grade", Some("never-reused")) => {}
                ("grade", Some("while-alive")) => grade = IdentityGrade::WhileAlive,
                ("grade", Some("none")) => grade = IdentityGrade::None,
                ("truncated", None) => truncated = true,
                ("hidden", Some(v)) => hidden = v.split(',').map(|id| self.number_of(id)).collect(),
                (url, None) if doc.url.is_empty() => url.clone_into(&mut doc.url),
                _ => self.bad(key),
            }
        }
        let builder = builder.get_or_insert_with(|| TreeBuilder::new(grade));
        if depth == 0 {
            let hidden = hidden.iter().map(|&id| Handle { scope: doc.scope, id });
            builder.set_surface(SurfaceId(surface)).set_truncated(truncated).add_hidden(hidden);
        }
        builder.document(depth, doc, *next_id).unwrap_or_else(|e| self.bad(&e.to_string()));
        *next_id += 1;
    }

    fn push_node(&self, builder: &mut TreeBuilder, depth: usize, next_id: &mut u64) {
        let role: Role = self.head.parse().unwrap_or_else(|_| self.bad("no such role"));
        let mut spec = NodeSpec { role: Some(role), name: &self.name, ..NodeSpec::default() };
        if role != Role::Text {
            spec.id = *next_id;
            *next_id += 1;
        }
        spec.states = usual_states(role);
        if self.starred {
            spec.states |= States::NAME_FROM_CONTENT;
        }
        let mut attrs: Vec<(Attr, &str)> = Vec::new();
        for (key, value) in &self.words {
            match (key.as_str(), value.as_deref()) {
                ("value", Some(v)) => spec.value = v,
                ("tag", Some(v)) => spec.tag = v,
                ("level", Some(v)) => spec.level = self.number_of(v).try_into().unwrap_or(u8::MAX),
                ("inert", None) => spec.states = States::empty(),
                (key, Some(v)) => attrs.push((attr(key).unwrap_or_else(|| self.bad(key)), v)),
                (word, None) => match word.strip_prefix('#') {
                    Some(id) => spec.id = self.number_of(id),
                    None => spec.states |= state(word).unwrap_or_else(|| self.bad(word)),
                },
            }
        }
        spec.attrs = &attrs;
        builder.node(depth, spec).unwrap_or_else(|e| self.bad(&e.to_string()));
        if self.starred {
            let leaf = NodeSpec { role: Some(Role::Text), name: &self.name, ..NodeSpec::default() };
            builder.node(depth + 1, leaf).unwrap_or_else(|e| self.bad(&e.to_string()));
        }
    }

    fn number_of(&self, text: &str) -> u64 {
        text.parse().unwrap_or_else(|_| self.bad(text))
    }

    fn bad<T>(&self, what: &str) -> T {
        panic!("line {}: {what:?} is not understood", self.number)
    }
}

/// Returns the quoted text at the start of `text` with its escapes resolved, and the rest.
fn quoted(text: &str, line: usize) -> (String, &str) {
    let mut out = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (out, &text[at + 1..]),
            '\\' => match chars.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, 't')) => out.push('\t'),
                Some((_, 'u')) => {
                    let hex: String =
                        chars.by_ref().skip(1).map(|(_, c)| c).take_while(|&c| c != '}').collect();
                    let c = u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32);
                    out.push(c.unwrap_or_else(|| panic!("line {line}: bad escape")));
                }
                Some((_, c)) => out.push(c),
                None => break,
            },
            c => out.push(c),
        }
    }
    panic!("line {line}: a quote is not closed")
}

fn usual_states(role: Role) -> States {
    let mut states = if role.is_control() { States::ACTIONABLE } else { States::empty() };
    states |= match role {
        Role::TextBox | Role::SearchBox | Role::SpinButton => States::EDITABLE,
        Role::Checkbox | Role::Radio | Role::Switch | Role::MenuItemCheckbox | Role::MenuItemRadio => {
            States::CHECKABLE
        }
        Role::Option | Role::Tab | Role::TreeItem => States::SELECTABLE,
        _ => States::empty(),
    };
    states
}

fn state(word: &str) -> Option<States> {
    let name = word.to_uppercase().replace('-', "_");
    States::all().iter_names().find(|(n, _)| *n == name).map(|(_, s)| s)
}

fn attr(key: &str) -> Option<Attr> {
    Some(match key {
        "id" => Attr::Id,
        "data-testid" => Attr::TestId,
        "data-test" => Attr::DataTest,
        "data-cy" => Attr::DataCy,
        "data-test-id" => Attr::DataTestId,
        "data-id" => Attr::DataId,
        "data-key" => Attr::DataKey,
        "data-row-key" => Attr::DataRowKey,
        "data-item-id" => Attr::DataItemId,
        "row-index" => Attr::RowIndex,
        "href" => Attr::Href,
        "controls" => Attr::Controls,
        "labelled-by" => Attr::LabelledBy,
        "class" => Attr::Class,
        "placeholder" => Attr::Placeholder,
        "description" => Attr::Description,
        "current" => Attr::Current,
        "chosen" => Attr::Chosen,
        "active-descendant" => Attr::ActiveDescendant,
        "source" => Attr::Source,
        "options" => Attr::Options,
        "live" => Attr::Live,
        "value-text" => Attr::ValueText,
        "role-description" => Attr::RoleDescription,
        "preformatted" => Attr::Preformatted,
        "start" => Attr::Start,
        "colspan" => Attr::ColSpan,
        "rowspan" => Attr::RowSpan,
        _ => return None,
    })
}

/// Returns a tree of exactly `nodes` nodes: sections of rows with a link, a button and a field,
/// names of 24 bytes on average (most of them different), and five states on actionable elements.
/// Equal arguments give equal trees.
///
/// # Panics
/// Panics if `nodes` is 0.
#[must_use]
pub fn generate(nodes: usize, seed: u64) -> Tree {
    let mut builder = TreeBuilder::new(IdentityGrade::NeverReused);
    let doc = Document {
        scope: 1,
        frame: String::new(),
        url: "http://127.0.0.1/generated".into(),
        title: "Generated".into(),
    };
    let mut random = seed | 1;
    let mut pick = |below: u64| {
        // xorshift64 is good enough for made-up names and needs no crate.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    builder.document(0, doc, 1).expect("the root");
    const ROW: [(usize, Role, &str); 8] = [
        (2, Role::ListItem, "li"),
        (3, Role::Link, "a"),
        (4, Role::Text, ""),
        (3, Role::Button, "button"),
        (4, Role::Text, ""),
        (3, Role::Label, "label"),
        (4, Role::TextBox, "input"),
        (3, Role::Paragraph, "p"),
    ];
    const CONTROL: States = States::ACTIONABLE
        .union(States::FOCUSABLE)
        .union(States::NAME_FROM_CONTENT)
        .union(States::SELECTABLE)
        .union(States::SELECTED);
    const PLAIN: States = States::LIVE
        .union(States::BUSY)
        .union(States::EXPANDABLE)
        .union(States::EXPANDED)
        .union(States::SCROLLABLE);
    let mut name = String::new();
    while builder.len() < nodes {
        let at = builder.len();
        let within = (at - 1) % (50 * ROW.len() + 1);
        let (depth, role, tag) =
            if within == 0 { (1, Role::List, "ul") } else { ROW[(within - 1) % ROW.len()] };
        if role != Role::Text {
            use std::fmt::Write as _;
            name.clear();
            write!(name, "{} {at} ", role.name()).expect("writing to a String cannot fail");
            let length = usize::try_from(16 + pick(17)).expect("small");
            while name.len() < length {
                name.push(char::from(b'a' + u8::try_from(pick(26)).expect("a letter")));
            }
        }
        // A text leaf repeats the name of the control above it, as on real pages.
        let states = if role.is_control() { CONTROL } else { PLAIN };
        let id = u64::try_from(at).expect("a small number") + 1;
        let spec = NodeSpec { role: Some(role), name: &name, tag, states, id, ..NodeSpec::default() };
        builder.node(depth, spec).expect("depths fit");
    }
    builder.finish().expect("at least the root")
}
