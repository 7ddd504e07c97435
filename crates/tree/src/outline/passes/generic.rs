//! Folds wrappers without meaning and the documents of frames, and drops empty texts.

use super::super::draft::Draft;
use crate::{Role, States};

pub(super) fn apply(draft: &mut Draft<'_>) {
    let nodes: Vec<_> = draft.nodes().filter(|n| draft.shows(*n)).collect();
    for node in nodes.into_iter().filter(|n| !n.is(States::ACTIONABLE)) {
        let empty_text = node.is_text() && node.name().is_empty();
        match node.role() {
            _ if empty_text => draft.drop(node),
            Role::Generic if node.name().is_empty() => draft.fold(node),
            // The element that shows a frame represents its document, as a desktop app does.
            Role::Document
                if node.parent().is_some_and(|p| matches!(p.role(), Role::Iframe | Role::Application)) =>
            {
                if let Some(frame) = node.parent().filter(|f| f.name().is_empty() && !node.name().is_empty())
                {
                    draft.set_label(frame, node.name().to_owned());
                }
                draft.fold(node);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::outline_after;

    #[test]
    fn wrappers_fold_and_frames_take_the_title_of_their_document() {
        let shown = outline_after(
            super::apply,
            r#"
            page "P" http://h/
              generic
                generic "Named"
                  generic
                    button "Go"
              iframe
                frame "Pay" http://pay/ path=0 scope=2
                  textbox "Card"
            "#,
        );
        assert_eq!(shown, "\ngeneric \"Named\"\n  button \"Go\"\niframe \"Pay\"\n  textbox \"Card\"");
    }
}
