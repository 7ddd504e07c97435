//! An element without a name that holds nothing but one text reads as one line: `listitem "Milk"`.

use super::super::sketch::Sketch;
use crate::{Role, States};

pub(super) fn apply(sketch: &mut Sketch<'_>) {
    let lines = sketch.lines();
    for (at, line) in lines.iter().enumerate() {
        let node = line.node;
        let only_text = line.children == 1 && lines[at + 1].node.is_text();
        // What stands in a field was typed, and is no name.
        let field = node.is(States::EDITABLE) || node.is(States::EDIT_HOST);
        let frame = matches!(node.role(), Role::Iframe | Role::Document);
        if only_text && !field && !frame && sketch.label(node).is_empty() {
            let text = sketch.label(lines[at + 1].node).to_owned();
            sketch.drop(lines[at + 1].node);
            sketch.set_label(node, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::after;

    #[test]
    fn one_text_moves_up_and_two_do_not() {
        let shown = after(
            super::apply,
            r#"
            page "P" http://h/
              listitem
                text "Milk"
              listitem
                text "Eggs" block
                generic
                  text "6" block
              textbox edit-host
                text "draft"
            "#,
        );
        let expected = r#"
listitem "Milk"
listitem
  text "Eggs"
  text "6"
textbox
  text "draft""#;
        assert_eq!(shown, expected);
    }
}
