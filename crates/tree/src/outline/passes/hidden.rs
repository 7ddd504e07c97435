//! Removes the lines of invisible nodes, but not those of visible nodes inside them.

use super::super::draft::Draft;
use crate::States;

pub(super) fn apply(draft: &mut Draft<'_>) {
    let nodes: Vec<_> = draft.nodes().collect();
    for node in nodes {
        let parent_hidden = node.parent().is_some_and(|p| p.is(States::HIDDEN));
        if node.is_text() && (node.is(States::HIDDEN) || parent_hidden) {
            draft.drop(node);
        } else if node.is(States::HIDDEN) {
            draft.fold(node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::outline_after;

    #[test]
    fn visible_children_of_hidden_elements_stay() {
        let shown = outline_after(
            super::apply,
            r#"
            page "P" http://h/
              region "Menu" hidden
                text "not seen"
                button "Seen"
              button "Gone" hidden
            "#,
        );
        assert_eq!(shown, "\nbutton \"Seen\"");
    }
}
