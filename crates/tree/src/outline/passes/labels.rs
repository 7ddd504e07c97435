//! Folds labels and legends. If the text of a label, legend or caption repeats the name of what it
//! labels, the text is dropped and the caption is folded as well.

use super::super::draft::Draft;
use super::text::{is_same_text, strip_label_mark, text_of};
use crate::{NodeRef, Role, States};
use hashbrown::HashSet;

pub(super) fn apply(draft: &mut Draft<'_>) {
    let nodes: Vec<_> =
        draft.nodes().filter(|n| matches!(n.role(), Role::Label | Role::Legend | Role::Caption)).collect();
    if nodes.is_empty() {
        return;
    }
    let names: HashSet<&str> =
        draft.nodes().filter(|n| n.role().is_control()).map(|n| strip_label_mark(n.name())).collect();
    for node in nodes {
        let text = if node.name().is_empty() { text_of(node) } else { node.name().to_owned() };
        let repeats = match node.role() {
            Role::Label => names.contains(strip_label_mark(&text)),
            _ => node.ancestors().take(4).any(|a| !a.name().is_empty() && is_same_text(&text, a.name())),
        };
        if repeats {
            drop_texts(draft, node);
        }
        if repeats || node.role() != Role::Caption {
            // A label itself needs no line; its text or content does.
            draft.fold(node);
        }
    }
}

/// Drops the texts in a label, legend or caption, except those in actionable elements.
fn drop_texts(draft: &mut Draft<'_>, label: NodeRef<'_>) {
    for leaf in label.subtree().filter(|n| n.is_text()) {
        let inside = leaf.ancestors().take_while(|a| *a != label).any(|a| a.is(States::ACTIONABLE));
        if !inside {
            draft.drop(leaf);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::outline_after;

    #[test]
    fn required_mark_does_not_become_a_name() {
        let shown = outline_after(
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
    fn label_equal_to_name_is_dropped_and_others_stay() {
        let shown = outline_after(
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
