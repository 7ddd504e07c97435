//! Drops a text next to a control, picture, group, table, meter or progress bar that has the same
//! name. Often, `aria-labelledby` refers to such a text.

use super::super::draft::{Draft, DraftLine};
use super::text::is_same_text;
use crate::Role;

pub(super) fn apply(draft: &mut Draft<'_>) {
    draft.with_lines(|draft, lines| {
        for line in lines {
            let Some(before) = line.before.map(|b| &lines[b]) else { continue };
            for (text, other) in [(before, line), (line, before)] {
                if text.node.is_text()
                    && is_named(other)
                    && is_same_text(draft.label(text.node), other.node.name())
                {
                    draft.drop(text.node);
                }
            }
        }
    });
}

fn is_named(line: &DraftLine<'_>) -> bool {
    let role = line.node.role();
    !line.node.name().is_empty()
        && (role.is_control()
            || matches!(
                role,
                Role::Image | Role::Group | Role::RadioGroup | Role::Meter | Role::ProgressBar | Role::Table
            ))
}

#[cfg(test)]
mod tests {
    use super::super::testing::outline_after;

    #[test]
    fn text_next_to_its_control_is_dropped() {
        let shown = outline_after(
            super::apply,
            r#"
            page "P" http://h/
              generic
                text "Volume:" block
              slider "Volume" value="3"
              text "loud"
            "#,
        );
        assert_eq!(shown, "\nslider \"Volume\" value=\"3\"\ntext \"loud\"");
    }
}
