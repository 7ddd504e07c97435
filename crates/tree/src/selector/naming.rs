//! Creates selectors that find an element again without its ref, as recorders write them.

use super::matching::ID_ATTRIBUTES;
use super::{Alternative, Compare, Key, Selector, Term, reduce};
use crate::identity::{is_machine_made, without_counts};
use crate::{Attr, Meaning, NodeId, NodeRef, Records, Role};

/// The maximum length of a useful name or text, in characters. Longer ones are hard to read and
/// likely to change.
const MAX_NAME_CHARS: usize = 120;

impl Selector {
    /// Returns the strongest selector that matches only this element.
    ///
    /// In order of preference: the developer's id; the role with the name, placeholder or link
    /// target, each alone, then combined with the text of the row or with a container; the role
    /// with such a context; the role alone. An id comes with the next best selector as an
    /// alternative. `None` if nothing distinguishes the element; `nth` is never used, because
    /// another order would select another element.
    #[must_use]
    pub fn unique_for(records: &Records<'_>, node: NodeId) -> Option<Self> {
        let tree = records.tree();
        let unique = |terms: &Vec<Term>| {
            let alternative = Alternative { terms: terms.clone(), nth: None };
            let found = Self { alternatives: vec![alternative] }.matches(tree);
            reduce(tree, &found)[..] == [node]
        };
        let element = tree.node(node);
        let by_id = ids(element).map(|id| vec![id]).find(&unique);
        let by_words = text_candidates(element, records).into_iter().find(&unique);
        let alternatives: Vec<Alternative> =
            by_id.into_iter().chain(by_words).map(|terms| Alternative { terms, nth: None }).collect();
        (!alternatives.is_empty()).then_some(Self { alternatives })
    }

    /// Returns the selector that corresponds to a meaning: role, name and row. Several elements may
    /// match the selector.
    #[must_use]
    pub fn for_meaning(meaning: &Meaning) -> Self {
        let mut terms = vec![Term::Role(meaning.role())];
        if !meaning.name().is_empty() {
            terms.push(has(Key::Label, Compare::Equals, meaning.name()));
        }
        if let Some(row) = meaning.row_label() {
            terms.push(has(Key::Row, Compare::Equals, row));
        }
        Self { alternatives: vec![Alternative { terms, nth: None }] }
    }
}

fn has(key: Key, compare: Compare, value: &str) -> Term {
    Term::Has { key, compare, value: value.to_owned() }
}

fn ids(element: NodeRef<'_>) -> impl Iterator<Item = Term> {
    let values =
        ID_ATTRIBUTES.into_iter().filter_map(move |attr| element.attr(attr).map(|value| (attr, value)));
    values
        .filter(|(attr, id)| *attr != Attr::Id || !is_machine_made(id))
        .filter(|(_, id)| usable(id))
        .map(|(_, id)| has(Key::Id, Compare::Equals, id))
}

fn usable(text: &str) -> bool {
    !text.trim().is_empty() && text.chars().count() <= MAX_NAME_CHARS
}

/// Returns candidate lists of terms for an element, best first.
fn text_candidates(element: NodeRef<'_>, records: &Records<'_>) -> Vec<Vec<Term>> {
    let role = Term::Role(element.role());
    let mut own_terms: Vec<Vec<Term>> = Vec::new();
    if usable(element.name()) {
        // `Cart (2)` may be `Cart (3)` tomorrow.
        let stable_name = without_counts(element.name());
        if stable_name != element.name() && usable(&stable_name) {
            own_terms.push(vec![role.clone(), has(Key::Label, Compare::Contains, &stable_name)]);
        }
        own_terms.push(vec![role.clone(), has(Key::Label, Compare::Equals, element.name())]);
    }
    if let Some(placeholder) = element.attr(Attr::Placeholder).filter(|p| usable(p)) {
        own_terms.push(vec![role.clone(), has(Key::Placeholder, Compare::Equals, placeholder)]);
    }
    if let Some(href) = element.attr(Attr::Href).filter(|h| usable(h) && !h.starts_with(['#', 'j'])) {
        own_terms.push(vec![role.clone(), has(Key::Url, Compare::Equals, href)]);
    }
    own_terms.push(vec![role]);

    let mut contexts: Vec<Term> = Vec::new();
    contexts.extend(
        records
            .distinguishing_text(element.id())
            .filter(|t| usable(t))
            .map(|t| has(Key::Row, Compare::Equals, &t)),
    );
    contexts.extend(element.ancestors().filter_map(container).take(4));

    let mut candidates = Vec::new();
    for terms in &own_terms {
        let is_role_alone = matches!(terms[..], [_]);
        candidates.extend((!is_role_alone).then(|| terms.clone()));
        let with_context = |context: &Term| terms.iter().chain([context]).cloned().collect::<Vec<_>>();
        candidates.extend(contexts.iter().map(with_context));
        if let [row @ Term::Has { .. }, outer @ ..] = &contexts[..] {
            candidates
                .extend(outer.iter().map(|o| with_context(row).into_iter().chain([o.clone()]).collect()));
        }
    }
    // The role alone (for the only text box of a page) is a poor name, but better than none.
    candidates.extend(own_terms.pop());
    candidates
}

/// Returns the term `in(…)` for an ancestor if it has an id, both a role and its own name, or the
/// role of a landmark or dialog.
fn container(node: NodeRef<'_>) -> Option<Term> {
    if let Some(id) = ids(node).next() {
        return Some(inside(vec![id]));
    }
    let names = !matches!(node.role(), Role::Document | Role::Generic | Role::Clickable | Role::Text);
    if !names {
        return None;
    }
    if usable(node.name()) && !node.is(crate::States::NAME_FROM_CONTENT) {
        return Some(inside(vec![Term::Role(node.role()), has(Key::Label, Compare::Equals, node.name())]));
    }
    let landmark = matches!(
        node.role(),
        Role::Dialog | Role::AlertDialog | Role::Main | Role::Navigation | Role::Banner | Role::ContentInfo
    );
    landmark.then(|| inside(vec![Term::Role(node.role())]))
}

fn inside(terms: Vec<Term>) -> Term {
    Term::In(Selector { alternatives: vec![Alternative { terms, nth: None }] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Openers, testing};

    const PAGE: &str = r#"
page "Mail" http://h.example/mail
  navigation "Main"
    link "Cart (2)"* href=/cart #10
  main
    list
      listitem #20
        text "Mail 1"
        button "Delete"* #21
      listitem #30
        text "Mail 11"
        button "Delete"* #31
        button "Reply" id=radix-7f3a91 #32
    button "Save" id=save #40
    textbox placeholder="Search" #41
    list
      listitem #50
        button "Open"* #51
      listitem #52
        button "Open"* #53
  dialog "New mail"
    button "Save" #60
    textbox "To" data-testid=to #61
  dialog
    button "Close" #70
  region "Left"
    button "Close" #71
"#;

    fn name(id: u64) -> Option<String> {
        let tree = testing::tree(PAGE);
        let openers = Openers::default();
        let records = Records::new(&tree, &openers);
        let node = tree.nodes().find(|n| n.address().is_some_and(|a| a.id == id)).expect("a node").id();
        let selector = Selector::unique_for(&records, node)?;
        // The selector must match the same elements after it was written and parsed.
        let read: Selector = selector.to_string().parse().expect("it can be read");
        assert_eq!(read, selector);
        assert_eq!(reduce(&tree, &selector.matches(&tree)), [node], "{selector}");
        Some(selector.to_string())
    }

    #[test]
    fn naming_picks_the_strongest_unique_selector() {
        for (id, expected) in [
            (10, r#"role=link label~=Cart"#),
            (21, r#"role=button label=Delete row="Mail 1""#),
            (31, r#"role=button label=Delete row="Mail 11""#),
            (32, "role=button label=Reply"),
            (40, r#"id=save || role=button label=Save in(role=main)"#),
            (41, "role=textbox placeholder=Search"),
            (60, r#"role=button label=Save in(role=dialog label="New mail")"#),
            (61, "id=to || role=textbox label=To"),
            (70, "role=button label=Close in(role=dialog)"),
            (71, "role=button label=Close in(role=region label=Left)"),
        ] {
            assert_eq!(name(id).as_deref(), Some(expected), "#{id}");
        }
    }

    #[test]
    fn indistinguishable_elements_have_no_selector() {
        assert_eq!(name(51), None);
        assert_eq!(name(53), None);
    }
}
