//! Drops texts that only separate other lines: the full stop after a link, the bar between two
//! links.

use super::super::draft::Draft;

pub(super) fn apply(draft: &mut Draft<'_>) {
    draft.with_lines(|draft, lines| {
        let top = lines.iter().filter(|l| l.parent.is_none()).count();
        for line in lines {
            // Alone in a cell, a dash is the content of the cell.
            let siblings = line.parent.map_or(top, |p| lines[p].children);
            if line.node.is_text() && siblings > 1 && draft.label(line.node).chars().all(is_separator) {
                draft.drop(line.node);
            }
        }
    });
}

fn is_separator(c: char) -> bool {
    " .,;:/|-–—·•()[]›»".contains(c)
}

#[cfg(test)]
mod tests {
    use super::super::testing::outline_after;

    #[test]
    fn separators_are_dropped_and_signs_kept() {
        let shown = outline_after(
            super::apply,
            r#"
            page "P" http://h/
              link "A"*
              text "|"
              link "B"*
              text "★"
              cell
                text "–"
            "#,
        );
        assert_eq!(shown, "\nlink \"A\"\nlink \"B\"\ntext \"★\"\ncell\n  text \"–\"");
    }
}
