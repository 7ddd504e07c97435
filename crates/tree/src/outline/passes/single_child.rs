//! Folds nameless containers around a single child, and nameless paragraphs around any content.
//! Drops containers with neither a name nor content.

use super::super::draft::Draft;
use crate::{Role, States};

pub(super) fn apply(draft: &mut Draft<'_>) {
    draft.with_lines(|draft, lines| {
        for line in lines {
            let node = line.node;
            let plain =
                draft.label(node).is_empty() && !node.is(States::ACTIONABLE) && !node.is(States::SELECTED);
            let wraps = match node.role() {
                Role::Paragraph => line.children > 0,
                role => role.is_wrapper() && line.children == 1,
            };
            if plain && wraps {
                draft.fold(node);
            }
            // There is nothing to read and nothing inside.
            if plain && node.role().is_hollow() && line.children == 0 {
                draft.drop(node);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::super::testing::outline_after;

    #[test]
    fn container_with_single_child_folds() {
        let shown = outline_after(
            super::apply,
            r#"
            page "P" http://h/
              list
                listitem
                  link "Home"*
                listitem
                  link "Help"*
                  text "new"
              region "Named"
                button "Go"
              paragraph
                text "By"
                link "Ann"*
              group
            "#,
        );
        let expected = r#"
list
  link "Home"
  listitem
    link "Help"
    text "new"
region "Named"
  button "Go"
text "By"
link "Ann""#;
        assert_eq!(shown, expected);
    }
}
