//! Drops purely visual nodes (rules, scroll bars, decorative images) and folds inline markup, whose
//! text belongs to the surrounding sentence.

use super::super::sketch::Sketch;
use crate::{NodeRef, Role, States};

pub(super) fn apply(sketch: &mut Sketch<'_>) {
    let nodes: Vec<_> = sketch.nodes().collect();
    for node in nodes.into_iter().filter(|n| !n.is(States::ACTIONABLE)) {
        match node.role() {
            Role::Separator | Role::ScrollBar if node.name().is_empty() => sketch.drop(node),
            // A nameless image means nothing, unless it contains something meaningful.
            Role::Image if node.name().is_empty() && is_bare(node) => sketch.drop(node),
            Role::Image if node.name().is_empty() => sketch.fold(node),
            Role::Code | Role::RowGroup => sketch.fold(node),
            role if role.is_markup() => sketch.fold(node),
            _ => {}
        }
    }
}

fn is_bare(node: NodeRef<'_>) -> bool {
    node.subtree().skip(1).all(|n| n.name().is_empty() && !n.is(States::ACTIONABLE))
}

#[cfg(test)]
mod tests {
    use super::super::testing::after;

    #[test]
    fn decoration_goes_and_inline_markup_joins_its_sentence() {
        let shown = after(
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
