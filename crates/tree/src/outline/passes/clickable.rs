//! Keeps clickable elements without a role: the outermost, and inner ones beside other content.
//! Folds those that merely wrap one control.

use super::super::draft::{Draft, Fate};
use super::text::{is_same_text, text_of};
use crate::{NodeRef, Role, States};

pub(super) fn apply(draft: &mut Draft<'_>) {
    let nodes: Vec<_> = draft.nodes().filter(|n| n.role() == Role::Clickable).collect();
    for node in nodes {
        let encloses = |a: &NodeRef<'_>| {
            draft.fate_of(*a) == Fate::Show && (a.role().is_control() || a.is(States::ACTIONABLE))
        };
        let is_same_target = |outer: NodeRef<'_>| {
            outer.role().is_control() && outer.role() != Role::Clickable || !has_siblings_within(node, outer)
        };
        if node.ancestors().filter(encloses).any(is_same_target) || wraps_one_control(node) {
            draft.fold(node);
        }
    }
}

/// Returns whether `outer` contains a text, picture or control outside `inner`.
fn has_siblings_within(inner: NodeRef<'_>, outer: NodeRef<'_>) -> bool {
    let has_content = |n: NodeRef<'_>| {
        n.is_text() || n.is(States::ACTIONABLE) || n.role().is_control() || n.role() == Role::Image
    };
    let (before, behind) = (inner.id(), inner.subtree_end());
    let mut others = outer.subtree().skip(1).filter(|n| n.id() < before || n.id() >= behind);
    others.any(|n| has_content(n) && !n.contains(before))
}

/// Returns whether a node contains exactly one control, and no text but the control's.
fn wraps_one_control(node: NodeRef<'_>) -> bool {
    let mut controls = node
        .subtree()
        .skip(1)
        .filter(|n| n.role() != Role::Clickable && (n.role().is_control() || n.is(States::ACTIONABLE)));
    let (Some(control), None) = (controls.next(), controls.next()) else { return false };
    let text = text_of(node);
    text.is_empty() || is_same_text(&text, control.name()) || text == text_of(control)
}

#[cfg(test)]
mod tests {
    use super::super::testing::outline_after;

    #[test]
    fn nested_clickables_keep_the_outermost() {
        let shown = outline_after(
            super::apply,
            r#"
            page "P" http://h/
              clickable "Card"*
                clickable "inner"*
              clickable
                clickable
                  text "all of it"
              clickable
                text "Ann"
                clickable
              clickable
                button "Go"*
              clickable
                text "Row 1"
                button "Delete"*
              link "Home"*
                clickable
            "#,
        );
        let expected = r#"
clickable "Card"
  text "Card"
  clickable "inner"
    text "inner"
clickable
  text "all of it"
clickable
  text "Ann"
  clickable
button "Go"
  text "Go"
clickable
  text "Row 1"
  button "Delete"
    text "Delete"
link "Home"
  text "Home""#;
        assert_eq!(shown, expected);
    }
}
