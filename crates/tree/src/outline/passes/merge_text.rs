//! Merges the consecutive texts of a sentence into one line.

use super::super::draft::{Draft, DraftLine};
use super::text::join;
use crate::{NodeRef, States};

pub(super) fn apply(draft: &mut Draft<'_>) {
    draft.with_lines(|draft, lines| {
        // For each line, the line into which it was merged.
        let mut joined: Vec<usize> = (0..lines.len()).collect();
        let mut texts: Vec<String> = vec![String::new(); lines.len()];
        for (at, line) in lines.iter().enumerate() {
            let Some(before) = line.before.filter(|&b| is_text(&lines[b]) && is_text(line)) else { continue };
            if crosses_block(lines[before].node, line.node) {
                continue;
            }
            let first = joined[before];
            joined[at] = first;
            if texts[first].is_empty() {
                texts[first].push_str(lines[first].node.name());
            }
            join(&mut texts[first], line.node.name());
            draft.drop(line.node);
        }
        for (line, text) in lines.iter().zip(texts) {
            if !text.is_empty() {
                draft.set_label(line.node, text);
            }
        }
    });
}

fn is_text(line: &DraftLine<'_>) -> bool {
    line.node.is_text()
}

/// Returns whether a block begins or ends between two leaves.
fn crosses_block(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    let is_left_behind = |leaf: NodeRef<'_>, other: NodeRef<'_>| {
        let mut path = leaf.ancestors().take_while(|n| !n.contains(other.id())).peekable();
        // A marked leaf is directly in a block, which ends here if the other leaf is not in it.
        (leaf.is(States::BLOCK) && path.peek().is_some()) || path.any(is_block)
    };
    is_left_behind(a, b) || is_left_behind(b, a)
}

/// Returns whether a node has an HTML tag whose content forms a block of its own. On other
/// platforms, the mark on the leaf decides.
fn is_block(node: NodeRef<'_>) -> bool {
    const TAGS: [&str; 13] =
        ["div", "p", "li", "dt", "dd", "section", "header", "footer", "tr", "td", "th", "pre", "address"];
    TAGS.contains(&node.tag())
}

#[cfg(test)]
mod tests {
    use super::super::testing::outline_after;

    #[test]
    fn sentence_is_one_line_and_blocks_are_several() {
        let shown = outline_after(
            super::apply,
            r#"
            page "P" http://h/
              paragraph tag=p
                text "Only" block
                strong
                  text "3"
                text "left" block
                emphasis
                  text "today"
                text "." block
              generic tag=div
                text "one" block
              generic tag=div
                text "two" block
              generic tag=div
                generic tag=span
                  text "three"
            "#,
        );
        let expected = r#"
paragraph
  text "Only 3 left today."
text "one"
text "two"
text "three""#;
        assert_eq!(shown, expected);
    }
}
