//! Folds nameless list items, cells and groups that contain only named controls: the controls show
//! where an item begins.

use super::super::draft::Draft;
use crate::{Role, States};

pub(super) fn apply(draft: &mut Draft<'_>) {
    draft.with_lines(|draft, lines| {
        let mut only_controls = vec![true; lines.len()];
        for line in lines {
            let named = line.node.role().is_control() && !draft.label(line.node).is_empty();
            if let (Some(parent), false) = (line.parent, named && line.children == 0) {
                only_controls[parent] = false;
            }
        }
        for (line, only_controls) in lines.iter().zip(only_controls) {
            let node = line.node;
            let row = matches!(node.role(), Role::ListItem | Role::Cell | Role::GridCell | Role::Group);
            let plain =
                draft.label(node).is_empty() && !node.is(States::ACTIONABLE) && !node.is(States::SELECTED);
            if row && plain && only_controls && line.children > 0 {
                draft.fold(node);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::super::testing::outline_after;

    #[test]
    fn row_of_controls_folds_and_row_with_text_stays() {
        let shown = outline_after(
            super::apply,
            r#"
            page "P" http://h/
              list
                listitem
                  link "Item 0"*
                  button "Buy 0"*
                listitem
                  text "Sold out"
                  button "Tell me"*
            "#,
        );
        let expected = r#"
list
  link "Item 0"
  button "Buy 0"
  listitem "Sold out"
    button "Tell me""#;
        assert_eq!(shown, expected);
    }
}
