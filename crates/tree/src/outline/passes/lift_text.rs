//! Writes a nameless element with a single text as one line, `listitem "Milk"`, unless it is a
//! field or a frame. Also lifts the only text of an item if the item begins with it; the rest stays
//! below.

use super::super::draft::Draft;
use crate::{Role, States};

pub(super) fn apply(draft: &mut Draft<'_>) {
    draft.with_lines(|draft, lines| {
        let mut texts = vec![0_usize; lines.len()];
        for parent in lines.iter().filter(|l| l.node.is_text()).filter_map(|l| l.parent) {
            texts[parent] += 1;
        }
        for (at, line) in lines.iter().enumerate() {
            let node = line.node;
            let begins = line.children > 0 && lines[at + 1].node.is_text();
            let only_text = begins && (line.children == 1 || (is_item(node.role()) && texts[at] == 1));
            // The text in a field was typed and is not a name.
            let field = node.is(States::EDITABLE) || node.is(States::EDIT_HOST);
            let frame = matches!(node.role(), Role::Iframe | Role::Document);
            if only_text && !field && !frame && draft.label(node).is_empty() {
                let text = draft.label(lines[at + 1].node).to_owned();
                draft.drop(lines[at + 1].node);
                draft.set_label(node, text);
            }
        }
    });
}

fn is_item(role: Role) -> bool {
    matches!(
        role,
        Role::ListItem | Role::Article | Role::Cell | Role::GridCell | Role::Definition | Role::Note
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::outline_after;

    #[test]
    fn single_text_is_lifted_and_two_are_not() {
        let shown = outline_after(
            super::apply,
            r#"
            page "P" http://h/
              listitem
                text "Milk"
              listitem
                text "Eggs" block
                generic
                  text "6" block
              listitem
                text "Salt"
                button "Remove"*
              listitem
                button "Add"*
                text "Pepper"
              region
                text "Total"
                button "Pay"*
              textbox edit-host
                text "draft"
            "#,
        );
        let expected = r#"
listitem "Milk"
listitem
  text "Eggs"
  text "6"
listitem "Salt"
  button "Remove"
listitem
  button "Add"
  text "Pepper"
region
  text "Total"
  button "Pay"
textbox
  text "draft""#;
        assert_eq!(shown, expected);
    }
}
