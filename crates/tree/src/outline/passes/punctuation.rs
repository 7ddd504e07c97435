//! Drops texts that only separate other lines: the full stop after a link, the bar between two
//! links.

use super::super::sketch::Sketch;

pub(super) fn apply(sketch: &mut Sketch<'_>) {
    sketch.with_lines(|sketch, lines| {
        let top = lines.iter().filter(|l| l.parent.is_none()).count();
        for line in lines {
            // Alone in a cell, a dash is the content of the cell.
            let siblings = line.parent.map_or(top, |p| lines[p].children);
            if line.node.is_text() && siblings > 1 && sketch.label(line.node).chars().all(separates) {
                sketch.drop(line.node);
            }
        }
    });
}

fn separates(c: char) -> bool {
    " .,;:/|-–—·•()[]›»".contains(c)
}

#[cfg(test)]
mod tests {
    use super::super::testing::after;

    #[test]
    fn separators_go_and_signs_stay() {
        let shown = after(
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
