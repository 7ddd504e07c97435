//! Finds the nodes that a selector matches.

use super::text::TextIndex;
use super::{Alternative, Compare, Flag, Key, Selector, Term, reduce};
use crate::identity::{Structure, row_contains};
use crate::{Attr, Document, NodeId, NodeRef, Role, States, Tree};
use hashbrown::HashSet;
use std::borrow::Cow;

/// Answers `css=` terms: whether the device's matches include a node.
pub type CssAnswers<'a> = dyn Fn(&str, NodeId) -> bool + 'a;

impl Selector {
    /// Returns the matches of the first alternative that has any, in document order. Documents
    /// match only with `role=document`. Text leaves match only with `role=text`; without this term,
    /// the elements that show the texts match instead. `css=` terms match nothing; see
    /// [`Selector::css`].
    #[must_use]
    pub fn matches(&self, tree: &Tree) -> Vec<NodeId> {
        self.matches_with(tree, &|_, _| false)
    }

    /// Returns the matches like [`Selector::matches`], with the device's answers to `css=` terms.
    #[must_use]
    pub fn matches_with(&self, tree: &Tree, css: &CssAnswers<'_>) -> Vec<NodeId> {
        let mut texts = None;
        self.find(tree, css, &mut texts)
    }

    fn find(&self, tree: &Tree, css: &CssAnswers<'_>, texts: &mut Option<TextIndex>) -> Vec<NodeId> {
        self.alternatives
            .iter()
            .map(|a| a.find(tree, css, texts))
            .find(|found| !found.is_empty())
            .unwrap_or_default()
    }
}

/// A term, with any data that is computed once for the whole tree.
enum PreparedTerm<'s> {
    Role(Role),
    Has {
        key: Key,
        value: WantedText<'s>,
    },
    /// Matches by label or value, or by text content if the node is one of `holders`.
    Text {
        value: WantedText<'s>,
        holders: HashSet<NodeId>,
    },
    /// Matches by the texts of the node's row.
    Row {
        value: WantedText<'s>,
        structure: Structure,
    },
    Is {
        flag: Flag,
        wanted: bool,
    },
    /// Matches nodes inside these subtrees, which are sorted ranges that do not overlap.
    In(Vec<(NodeId, NodeId)>),
    Css(&'s str),
}

impl Alternative {
    fn find(&self, tree: &Tree, css: &CssAnswers<'_>, texts: &mut Option<TextIndex>) -> Vec<NodeId> {
        let mut terms: Vec<PreparedTerm<'_>> =
            self.terms.iter().map(|t| t.prepare(tree, css, texts)).collect();
        // Check the expensive term last, on the nodes that match the others.
        terms.sort_by_key(|term| matches!(term, PreparedTerm::Row { .. }));
        // A text leaf is represented by its element, and the title of a page is not shown on it.
        // Match either only on request.
        let named = |role| self.terms.contains(&Term::Role(role));
        let (texts_too, documents_too) = (named(Role::Text), named(Role::Document));
        let counts = |n: NodeRef<'_>| match n.role() {
            Role::Text => texts_too,
            Role::Document => documents_too,
            _ => true,
        };
        let found: Vec<NodeId> = tree
            .nodes()
            .filter(|n| counts(*n) && terms.iter().all(|t| t.holds(*n, css)))
            .map(NodeRef::id)
            .collect();
        match self.nth {
            None => found,
            // Count as a person does: a button and the icon in it are one element.
            Some(nth) => reduce(tree, &found).get(nth.get() as usize - 1).copied().into_iter().collect(),
        }
    }
}

impl Term {
    fn prepare<'s>(
        &'s self,
        tree: &Tree,
        css: &CssAnswers<'_>,
        texts: &mut Option<TextIndex>,
    ) -> PreparedTerm<'s> {
        match self {
            Self::Role(role) => PreparedTerm::Role(*role),
            Self::Is { flag, wanted } => PreparedTerm::Is { flag: *flag, wanted: *wanted },
            Self::Css(css) => PreparedTerm::Css(css),
            Self::Has { key: Key::Text, compare, value } => {
                let value = WantedText::new(*compare, value);
                let holders = texts.get_or_insert_with(|| TextIndex::new(tree)).find_holders(tree, &value);
                PreparedTerm::Text { value, holders }
            }
            Self::Has { key: Key::Row, compare, value } => {
                PreparedTerm::Row { value: WantedText::new(*compare, value), structure: Structure::new(tree) }
            }
            Self::Has { key, compare, value } => {
                PreparedTerm::Has { key: *key, value: WantedText::new(*compare, value) }
            }
            Self::In(inner) => {
                let mut ranges: Vec<(NodeId, NodeId)> = Vec::new();
                for id in inner.find(tree, css, texts) {
                    // Matches are in document order, so a match inside the last range is inside an
                    // outer match.
                    if ranges.last().is_none_or(|&(_, end)| id >= end) {
                        ranges.push((id, tree.node(id).subtree_end()));
                    }
                }
                PreparedTerm::In(ranges)
            }
        }
    }
}

impl PreparedTerm<'_> {
    fn holds(&self, node: NodeRef<'_>, css: &CssAnswers<'_>) -> bool {
        match self {
            Self::Role(role) => node.role() == *role,
            Self::Css(text) => css(text, node.id()),
            Self::Is { flag, wanted } => flag.is(node) == Some(*wanted),
            Self::In(ranges) => {
                let at = ranges.partition_point(|&(start, _)| start < node.id());
                at > 0 && node.id() < ranges[at - 1].1
            }
            Self::Text { value, holders } => {
                let named = !node.name().is_empty() && value.is(node.name());
                let has_value =
                    !node.value().is_empty() && !node.is(States::PROTECTED) && value.is(node.value());
                named || has_value || holders.contains(&node.id())
            }
            Self::Row { value, structure } => row_contains(structure, node, |text| value.is(text)),
            Self::Has { key, value } => key.is(node, value),
        }
    }
}

impl Flag {
    /// Returns whether the flag is true of a node; `None` if the flag does not apply (a paragraph
    /// cannot be checked).
    fn is(self, node: NodeRef<'_>) -> Option<bool> {
        let states = node.states();
        let has = |s: States| states.contains(s);
        let state_if_able = |able: States, state: States| (has(able) || has(state)).then(|| has(state));
        match self {
            Self::Visible => Some(!has(States::HIDDEN)),
            Self::Hidden => Some(has(States::HIDDEN)),
            Self::Enabled => Some(!has(States::DISABLED)),
            Self::Disabled => Some(has(States::DISABLED)),
            Self::Editable => {
                Some(has(States::EDITABLE) && !states.intersects(States::READONLY | States::DISABLED))
            }
            Self::Focused => Some(has(States::FOCUSED)),
            Self::Selected => state_if_able(States::SELECTABLE, States::SELECTED),
            Self::Checked => state_if_able(States::CHECKABLE, States::CHECKED),
            Self::Expanded => state_if_able(States::EXPANDABLE, States::EXPANDED),
        }
    }
}

/// The attributes that hold a developer's stable id.
pub(super) const ID_ATTRIBUTES: [Attr; 5] =
    [Attr::Id, Attr::TestId, Attr::DataTest, Attr::DataCy, Attr::DataTestId];

impl Key {
    fn is(self, node: NodeRef<'_>, value: &WantedText<'_>) -> bool {
        let matches_value = |s: &str| !s.is_empty() && value.is(s);
        match self {
            Self::Role => value.is(node.role().name()),
            Self::Id => ID_ATTRIBUTES.into_iter().any(|a| node.attr(a).is_some_and(|id| value.is(id))),
            Self::Label => matches_value(node.name()) || (value.is_empty() && node.name().is_empty()),
            // A secret must not be guessed by matching.
            Self::Value if node.is(States::PROTECTED) => false,
            // `value=""` matches an empty field, but not a node that cannot have a value.
            Self::Value => {
                matches_value(node.value())
                    || (value.is_empty() && node.value().is_empty() && node.is(States::EDITABLE))
            }
            Self::Placeholder => node.attr(Attr::Placeholder).is_some_and(|p| value.is(p)),
            Self::Url => match node.attr(Attr::Href) {
                Some(href) => value.is(href) || value.is(&absolute_url(href, node.document())),
                None => value.is(&node.document().url),
            },
            Self::App => nearest(node, Role::Application).is_some_and(|n| value.is(n.name())),
            Self::Window => match nearest(node, Role::Window) {
                Some(window) => value.is(window.name()),
                None => value.is(&node.tree().documents()[0].title),
            },
            Self::Text | Self::Row => unreachable!("these are prepared separately"),
        }
    }
}

fn nearest(node: NodeRef<'_>, role: Role) -> Option<NodeRef<'_>> {
    std::iter::once(node).chain(node.ancestors()).find(|n| n.role() == role)
}

/// Returns a link target, with the origin of its document if the target is a path.
fn absolute_url(href: &str, document: &Document) -> String {
    let has_origin = href.starts_with('/') && document.url.contains("://");
    if has_origin { format!("{}{href}", document.origin()) } else { href.to_owned() }
}

/// The value of a term, prepared for comparisons.
#[derive(Debug)]
pub(super) struct WantedText<'s> {
    pub(super) compare: Compare,
    raw: &'s str,
    /// The value with collapsed white space, in lower case for [`Compare::Contains`].
    pub(super) text: String,
}

impl<'s> WantedText<'s> {
    fn new(compare: Compare, raw: &'s str) -> Self {
        let collapsed = normalize_typed_text(raw).split_whitespace().collect::<Vec<_>>().join(" ");
        let text = if compare == Compare::Contains { collapsed.to_lowercase() } else { collapsed };
        Self { compare, raw, text }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    pub(super) fn is(&self, found: &str) -> bool {
        match self.compare {
            Compare::Equals => found == self.raw || normalize_typed_text(found) == self.text,
            Compare::Contains => contains_without_case(&normalize_typed_text(found), &self.text),
            Compare::StartsWith => {
                found.starts_with(self.raw) || normalize_typed_text(found).starts_with(&self.text)
            }
            Compare::EndsWith => {
                found.ends_with(self.raw) || normalize_typed_text(found).ends_with(&self.text)
            }
        }
    }
}

/// Returns a text as a reader would type it. If it contains invisible characters (soft hyphens,
/// line break opportunities) or white space outside ASCII, the former are removed and all white
/// space is collapsed to single spaces; otherwise it is returned unchanged.
pub(super) fn normalize_typed_text(text: &str) -> Cow<'_, str> {
    let is_invisible = |c: char| matches!(c, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}');
    let other = |c: char| !c.is_ascii() && c.is_whitespace();
    if text.is_ascii() || !text.contains(|c| is_invisible(c) || other(c)) {
        return Cow::Borrowed(text);
    }
    let visible: String = text.chars().filter(|&c| !is_invisible(c)).collect();
    Cow::Owned(visible.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns whether `text` contains `part`, ignoring case. `part` must be in lower case.
fn contains_without_case(text: &str, part: &str) -> bool {
    if text.is_ascii() && part.is_ascii() {
        let (t, p) = (text.as_bytes(), part.as_bytes());
        return p.is_empty() || t.windows(p.len()).any(|w| w.eq_ignore_ascii_case(p));
    }
    text.to_lowercase().contains(part)
}
