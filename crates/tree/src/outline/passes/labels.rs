//! Folds labels, legends and captions whose text repeats the name of what they label.

use super::super::sketch::Sketch;
use super::words::{bare, says_the_same, text_of};
use crate::{NodeRef, Role, States};
use hashbrown::HashSet;

pub(super) fn apply(sketch: &mut Sketch<'_>) {
    let nodes: Vec<_> =
        sketch.nodes().filter(|n| matches!(n.role(), Role::Label | Role::Legend | Role::Caption)).collect();
    if nodes.is_empty() {
        return;
    }
    let names: HashSet<&str> =
        sketch.nodes().filter(|n| n.role().is_control()).map(|n| bare(n.name())).collect();
    for node in nodes {
        let text = if node.name().is_empty() { text_of(node) } else { node.name().to_owned() };
        let repeats = match node.role() {
            Role::Label => names.contains(bare(&text)),
            _ => node.ancestors().take(4).any(|a| !a.name().is_empty() && says_the_same(&text, a.name())),
        };
        if repeats {
            drop_texts(sketch, node);
        }
        if repeats || node.role() != Role::Caption {
            // A label is not a thing of its own; its text or content is.
            sketch.fold(node);
        }
    }
}

/// Drops the texts below a label, except in actionable elements.
fn drop_texts(sketch: &mut Sketch<'_>, label: NodeRef<'_>) {
    for leaf in label.subtree().filter(|n| n.is_text()) {
        let inside = leaf.ancestors().take_while(|a| *a != label).any(|a| a.is(States::ACTIONABLE));
        if !inside {
            sketch.drop(leaf);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::after;

    #[test]
    fn a_mark_is_not_the_name_of_what_has_none() {
        let shown = after(
            super::apply,
            r#"
            page "P" http://h/
              label
                text "*"
              textbox
            "#,
        );
        assert_eq!(shown, "\ntext \"*\"\ntextbox");
    }

    #[test]
    fn a_label_that_says_the_name_goes_and_another_stays_as_text() {
        let shown = after(
            super::apply,
            r#"
            page "P" http://h/
              label
                text "Email *"
              textbox "Email"
              label
                checkbox "Remember me"
                text "Remember me"
              label
                text "for nothing"
              group "Size"
                legend
                  text "Size"
                radio "S"
            "#,
        );
        let expected = r#"
textbox "Email"
checkbox "Remember me"
text "for nothing"
group "Size"
  radio "S""#;
        assert_eq!(shown, expected);
    }
}
