//! The record rule without one of its clauses, to see what that clause is worth.
//!
//! The product contains only the whole rule. A clause is disabled from outside: its answer is
//! ignored, or the trees are read without the data that it uses.

use std::borrow::Cow;
use std::collections::HashSet;

use stickpin_tree::{
    Attr, Clause, Handle, Meaning, NoMatch, NodeId, NodeRef, NodeSpec, Records, Role, States, Tree,
    TreeBuilder, Verdict, content_match, is_volatile,
};

/// A clause, by its name in `needs` of the handwritten situations, and how to disable it.
#[derive(Clone, Copy)]
pub struct Ablation {
    pub name: &'static str,
    how: How,
}

#[derive(Clone, Copy)]
enum How {
    /// The whole rule.
    Nothing,
    /// The rule reduced to role and name.
    Everything,
    /// Answers of `Records::differences` are ignored.
    Difference(fn(&Meaning, Clause) -> bool),
    /// A name with different counts is a different name.
    Counts,
    /// Nodes that replaced a removed node are refused.
    Match(fn(&Taken<'_, '_>) -> bool),
    /// The trees are read without some of their data.
    Input(fn(&Tree, &mut Draft<'_>)),
    /// The trees are read without the list of hidden nodes.
    Hidden,
    /// What opened a popup is unknown.
    Openers,
}

/// A node that was accepted in place of a removed one.
struct Taken<'r, 't> {
    issued: &'r Meaning,
    old: NodeRef<'t>,
    new: NodeRef<'t>,
}

/// A node that is being rebuilt.
struct Draft<'t> {
    node: NodeRef<'t>,
    role: Role,
    name: Cow<'t, str>,
    value: &'t str,
    id: u64,
    attrs: Vec<(Attr, Cow<'t, str>)>,
}

/// Clauses that cannot be disabled from outside. Each is covered by its situations in
/// `test_data/records`, whose outcome is wrong if the clause is removed from the code.
pub const HELD_BY_SITUATIONS: [&str; 6] =
    ["ROW_NAMES", "OWN_NAME", "OUTER_ROW", "ROW_LIVES", "JOINED_TEXT", "FRESH"];

pub const WHOLE: Ablation = Ablation { name: "", how: How::Nothing };

pub const ROLE_AND_NAME: Ablation = Ablation { name: "", how: How::Everything };

/// The clauses that are measured.
pub const ABLATIONS: [Ablation; 23] = [
    Ablation { name: "KEYS", how: How::Input(without_keys) },
    Ablation { name: "KEYS_IN_STEP", how: How::Input(with_keys_out_of_step) },
    Ablation { name: "ROW_TEXT", how: How::Difference(|_, clause| clause == Clause::RowText) },
    Ablation { name: "ROW_LINKS", how: How::Input(without_links) },
    Ablation { name: "VOLATILE", how: How::Input(with_letters_for_digits) },
    Ablation { name: "ROW_NUMBERS", how: How::Difference(|_, clause| clause == Clause::RowNumbers) },
    Ablation { name: "ROW_SHIFTS", how: How::Input(|_, draft| draft.value = "") },
    Ablation { name: "STRUCTURE", how: How::Input(without_repetition) },
    Ablation { name: "HEADINGS", how: How::Difference(is_of_heading) },
    Ablation { name: "HEADING_LIVES", how: How::Input(without_heading_ids) },
    Ablation { name: "SECTIONS", how: How::Difference(|_, clause| clause == Clause::SectionText) },
    Ablation { name: "FRAMEWORK", how: How::Input(without_framework) },
    Ablation { name: "OPENERS", how: How::Openers },
    Ablation { name: "DIALOG_TEXT", how: How::Difference(|_, clause| clause == Clause::DialogText) },
    Ablation { name: "COUNTS_IN_NAMES", how: How::Counts },
    Ablation { name: "CONTENT_MATCH", how: How::Match(|_| true) },
    Ablation { name: "ROW_KEPT", how: How::Match(|taken| taken.is_in_kept_row()) },
    Ablation { name: "READS_SAME", how: How::Match(reads_same) },
    Ablation { name: "RELOAD", how: How::Match(|taken| taken.is_reloaded()) },
    Ablation { name: "HIDDEN", how: How::Hidden },
    Ablation { name: "GROUPS", how: How::Input(without_group_titles) },
    Ablation { name: "PARTS", how: How::Difference(is_of_part) },
    Ablation { name: "WORDS", how: How::Difference(is_of_words) },
];

impl Ablation {
    /// Returns a tree as it is read without the clause. Nodes keep their positions.
    pub fn tree<'t>(&self, tree: &'t Tree) -> Cow<'t, Tree> {
        match self.how {
            How::Input(change) => Cow::Owned(rebuilt(tree, change, tree.hidden())),
            How::Openers => Cow::Owned(rebuilt(tree, without_links_to_openers, tree.hidden())),
            How::Hidden => Cow::Owned(rebuilt(tree, |_, _| {}, &[])),
            _ => Cow::Borrowed(tree),
        }
    }

    /// Returns whether the opener of a popup is recorded.
    pub fn notes_openers(&self) -> bool {
        !matches!(self.how, How::Openers)
    }

    /// Checks that an issued meaning still applies to a node. The error names what no longer
    /// applies.
    pub fn judge(&self, records: &Records<'_>, issued: &Meaning, node: NodeId) -> Result<(), String> {
        let passed_over = |clause: Clause| match self.how {
            How::Difference(is_passed_over) => is_passed_over(issued, clause),
            How::Everything => !matches!(clause, Clause::Role | Clause::Name),
            _ => false,
        };
        if let Some(clause) = records.differences(issued, node).find(|clause| !passed_over(*clause)) {
            return Err(format!("changed: {clause:?}"));
        }
        let renamed = matches!(records.judge(issued, node), Verdict::Same { reads_now: Some(_) });
        if renamed && matches!(self.how, How::Counts) {
            return Err("changed: its counts".to_owned());
        }
        Ok(())
    }

    /// Returns the node that replaced a removed one.
    pub fn content_match(
        &self,
        old: (&Records<'_>, NodeId),
        issued: &Meaning,
        new: &Records<'_>,
    ) -> Result<NodeId, NoMatch> {
        let found = content_match(old.0, old.1, issued, new)?;
        let taken = Taken { issued, old: old.0.tree().node(old.1), new: new.tree().node(found) };
        match self.how {
            How::Match(is_refused) if is_refused(&taken) => Err(NoMatch::Absent),
            How::Everything => Err(NoMatch::Absent),
            How::Counts => self.judge(new, issued, found).map(|()| found).map_err(|_| NoMatch::Absent),
            _ => Ok(found),
        }
    }
}

impl Taken<'_, '_> {
    fn is_reloaded(&self) -> bool {
        self.old.document().scope != self.new.document().scope
    }

    fn is_in_kept_row(&self) -> bool {
        let row = self.issued.row();
        row.is_some_and(|row| self.new.ancestors().any(|n| n.handle() == Some(row)))
    }
}

fn reads_same(taken: &Taken<'_, '_>) -> bool {
    !taken.is_reloaded() && !taken.is_in_kept_row() && !taken.issued.has_record_key()
}

/// Returns whether a clause concerns headings. Only rows have parts; elsewhere the heading
/// distinguishes elements.
fn is_of_heading(issued: &Meaning, clause: Clause) -> bool {
    clause == Clause::Heading && issued.row().is_none()
}

fn is_of_part(issued: &Meaning, clause: Clause) -> bool {
    let is_around =
        matches!(clause, Clause::Heading | Clause::SectionText | Clause::Group | Clause::DialogText);
    is_around && issued.row().is_some()
}

fn is_of_words(issued: &Meaning, clause: Clause) -> bool {
    clause == Clause::Name && issued.name().is_empty()
}

fn is_key(attr: Attr) -> bool {
    use Attr::{DataCy, DataId, DataItemId, DataKey, DataRowKey, DataTest, DataTestId, Id, TestId};
    matches!(attr, DataCy | DataId | DataItemId | DataKey | DataRowKey | DataTest | DataTestId | Id | TestId)
}

/// Removes keys, except ids that others refer to.
fn without_keys(tree: &Tree, draft: &mut Draft<'_>) {
    let refers = |n: NodeRef<'_>, id: &str| {
        let lists = [Attr::Controls, Attr::LabelledBy].map(|attr| n.attr(attr).unwrap_or(""));
        lists.iter().any(|list| list.split_whitespace().any(|word| word == id))
    };
    let is_referred_to = |id: &str| tree.nodes().any(|n| refers(n, id));
    draft.attrs.retain(|(attr, value)| !is_key(*attr) || *attr == Attr::Id && is_referred_to(value));
}

/// Adds a second number to a key, which hides that the key counts up.
fn with_keys_out_of_step(_: &Tree, draft: &mut Draft<'_>) {
    for (attr, value) in &mut draft.attrs {
        if is_key(*attr) && value.contains(|c: char| c.is_ascii_digit()) {
            *value = format!("1 {value}").into();
        }
    }
}

fn without_links(_: &Tree, draft: &mut Draft<'_>) {
    draft.attrs.retain(|(attr, _)| *attr != Attr::Href);
}

fn with_letters_for_digits(_: &Tree, draft: &mut Draft<'_>) {
    let is_title = |n: NodeRef<'_>| n.role() == Role::Heading || n.is(States::ACTIONABLE);
    if draft.node.is_text() && is_volatile(&draft.name) && !draft.node.ancestors().any(is_title) {
        let letter = |c: char| c.to_digit(10).and_then(|digit| char::from_digit(digit + 20, 36)).unwrap_or(c);
        draft.name = draft.name.chars().map(letter).collect::<String>().into();
    }
}

/// Makes siblings dissimilar, and keeps buttons from counting as cards.
fn without_repetition(_: &Tree, draft: &mut Draft<'_>) {
    let is_control = |n: &NodeRef<'_>| n.is(States::ACTIONABLE) || n.role() == Role::Heading;
    if draft.role == Role::Button && draft.node.subtree().filter(is_control).count() > 1 {
        draft.role = Role::Clickable;
    }
    draft.attrs.retain(|(attr, _)| *attr != Attr::Class);
    draft.attrs.push((Attr::Class, format!("only-{}", draft.node.id().0).into()));
}

/// Replaces group titles with a number, which makes them insignificant.
fn without_group_titles(_: &Tree, draft: &mut Draft<'_>) {
    use Role::{Article, Form, Group, RadioGroup, Region};
    if matches!(draft.role, Article | Form | Group | RadioGroup | Region) && !draft.name.is_empty() {
        draft.name = "1".into();
    }
}

fn without_links_to_openers(_: &Tree, draft: &mut Draft<'_>) {
    draft.attrs.retain(|(attr, _)| !matches!(attr, Attr::Controls | Attr::LabelledBy));
}

fn without_heading_ids(_: &Tree, draft: &mut Draft<'_>) {
    if draft.role == Role::Heading {
        draft.id = 0;
    }
}

fn without_framework(_: &Tree, draft: &mut Draft<'_>) {
    use Role::{Banner, ContentInfo, MenuBar, Navigation, TabList};
    if matches!(draft.role, Banner | ContentInfo | MenuBar | Navigation | TabList) {
        draft.role = Role::Toolbar;
    }
}

fn rebuilt(tree: &Tree, change: impl Fn(&Tree, &mut Draft<'_>), hidden: &[Handle]) -> Tree {
    let mut builder = TreeBuilder::new(tree.grade());
    let mut documents = HashSet::new();
    for node in tree.nodes() {
        let depth = node.ancestors().count();
        let id = node.address().map_or(0, |address| address.id);
        if node.role() == Role::Document && documents.insert(node.document_index()) {
            builder.document(depth, node.document().clone(), id).expect("a document that fitted");
            continue;
        }
        let attrs = node.attrs().map(|(attr, value)| (attr, value.into())).collect();
        let (role, name, value) = (node.role(), node.name().into(), node.value());
        let mut draft = Draft { node, role, name, value, id, attrs };
        change(tree, &mut draft);
        let attrs: Vec<(Attr, &str)> = draft.attrs.iter().map(|(attr, value)| (*attr, &**value)).collect();
        let spec = NodeSpec {
            role: Some(draft.role),
            name: &draft.name,
            value: draft.value,
            tag: node.tag(),
            states: node.states(),
            level: node.level(),
            id: draft.id,
            attrs: &attrs,
        };
        builder.node(depth, spec).expect("a node that fitted");
    }
    builder.add_hidden(hidden.iter().copied());
    builder.finish().expect("a tree")
}
