//! Drops purely visual nodes, such as nameless separators, scroll bars and images. Folds row groups
//! and inline markup, whose text belongs to the surrounding sentence.

use super::super::draft::Draft;
use crate::{NodeRef, Role, States};

pub(super) fn apply(draft: &mut Draft<'_>) {
    let nodes: Vec<_> = draft.nodes().collect();
    for node in nodes.into_iter().filter(|n| !n.is(States::ACTIONABLE)) {
        match node.role() {
            Role::Separator | Role::ScrollBar if node.name().is_empty() => draft.drop(node),
            // A nameless image means nothing, unless it contains something meaningful.
            Role::Image if node.name().is_empty() && is_bare(node) => draft.drop(node),
            Role::Image if node.name().is_empty() => draft.fold(node),
            Role::Code | Role::RowGroup => draft.fold(node),
            role if role.is_markup() => draft.fold(node),
            _ => {}
        }
    }
}

fn is_bare(node: NodeRef<'_>) -> bool {
    node.subtree().skip(1).all(|n| n.name().is_empty() && !n.is(States::ACTIONABLE))
}

#[cfg(test)]
mod tests {
    use super::super::testing::outline_after;

    #[test]
    fn decoration_is_dropped_and_inline_markup_joined() {
        let shown = outline_after(
            super::apply,
            r#"
            page "P" http://h/
              img
              img "Logo"
              separator
              separator actionable
              paragraph
                text "now"
                strong
                  text "cheap"
            "#,
        );
        assert_eq!(shown, "\nimg \"Logo\"\nseparator\nparagraph\n  text \"now\"\n  text \"cheap\"");
    }
}
