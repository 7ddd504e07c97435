//! What can be clicked without having a role: the outermost only, and not where it merely wraps one control.

use super::super::sketch::{Fate, Sketch};
use super::{says_the_same, text_of};
use crate::{NodeRef, Role, States};

pub(super) fn apply(sketch: &mut Sketch<'_>) {
    let nodes: Vec<_> = sketch.nodes().filter(|n| n.role() == Role::Clickable).collect();
    for node in nodes {
        let inside_another = node
            .ancestors()
            .any(|a| sketch.fate(a) == Fate::Show && (a.role().is_control() || a.is(States::ACTIONABLE)));
        if inside_another || wraps_one_control(node) {
            sketch.fold(node);
        }
    }
}

/// Exactly one control below, and no text but its own.
fn wraps_one_control(node: NodeRef<'_>) -> bool {
    let mut controls = node
        .subtree()
        .skip(1)
        .filter(|n| n.role() != Role::Clickable && (n.role().is_control() || n.is(States::ACTIONABLE)));
    let (Some(control), None) = (controls.next(), controls.next()) else { return false };
    let text = text_of(node);
    text.is_empty() || says_the_same(&text, control.name()) || text == text_of(control)
}

#[cfg(test)]
mod tests {
    use super::super::testing::after;

    #[test]
    fn outermost_only() {
        let shown = after(
            super::apply,
            r#"
            page "P" http://h/
              clickable "Card"*
                clickable "inner"*
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
  text "inner"
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
