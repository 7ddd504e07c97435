//! Drops text that repeats the name of its container.
//!
//! The text of a button is its name. A row or cell may be named by its content and repeat the names
//! of elements inside. If it contains a cell, a heading, a tree item or an actionable element, it
//! loses such a name and the texts stay.

use super::super::draft::Draft;
use super::super::view::normalize_text;
use super::text::is_same_text;
use crate::{NodeRef, Role, States};

pub(super) fn apply(draft: &mut Draft<'_>) {
    let nodes: Vec<_> = draft.nodes().filter(|n| draft.shows(*n) && !n.name().is_empty()).collect();
    for node in nodes.iter().copied().filter(|n| !n.is_text()) {
        if is_container(node.role()) && has_other_content(node) {
            if node.is(States::NAME_FROM_CONTENT) && repeats_below(node) {
                draft.set_label(node, String::new());
            }
        } else if covers_all_text(node) {
            drop_named_texts(draft, node, |_| true);
        } else if node.role() == Role::Option {
            // The name that an app gives an option need not be all of its text.
            let name = normalize_text(node.name());
            drop_named_texts(draft, node, |text| name.contains(&normalize_text(text)));
        }
    }
    for text in nodes.into_iter().filter(|n| n.is_text()) {
        if !draft.shows(text) {
            continue;
        }
        let container = text.ancestors().find(|a| draft.shows(*a));
        let repeats_name = container.is_some_and(|a| {
            is_same_text(text.name(), draft.label(a)) || (!a.value().is_empty() && a.value() == text.name())
        });
        if repeats_name {
            draft.drop(text);
        }
    }
}

/// Returns whether elements with a given role contain other elements, although ARIA names them by
/// their content.
fn is_container(role: Role) -> bool {
    role.is_cell() || role.is_row() && role != Role::Option
}

fn has_other_content(node: NodeRef<'_>) -> bool {
    node.subtree().skip(1).any(|n| {
        n.is(States::ACTIONABLE)
            || matches!(
                n.role(),
                Role::Cell | Role::GridCell | Role::TreeItem | Role::RowHeader | Role::Heading
            )
    })
}

/// Returns whether the name contains the name of a descendant element. The name of a tree item
/// contains only its own text, not that of its subitems.
fn repeats_below(node: NodeRef<'_>) -> bool {
    let named = node.subtree().skip(1).filter(|n| !n.is_text() && !n.name().is_empty());
    named.into_iter().any(|n| node.name().contains(n.name()))
}

/// Returns whether the name covers all text below: the name comes from that text, or the role is
/// one whose name conveys all of the content.
fn covers_all_text(node: NodeRef<'_>) -> bool {
    node.is(States::NAME_FROM_CONTENT) || node.role().is_told_by_name()
}

/// Drops texts that the name covers and folds other elements, so that actionable descendants stay.
fn drop_named_texts(draft: &mut Draft<'_>, node: NodeRef<'_>, is_in_name: impl Fn(&str) -> bool) {
    // Actionable descendants keep their texts, which are handled when their turn comes.
    let mut control_end = node.id();
    for below in node.subtree().skip(1) {
        if below.id() < control_end {
            continue;
        }
        if below.is(States::ACTIONABLE) || below.role().is_control() {
            control_end = below.subtree_end();
        } else if below.is_text() {
            if is_in_name(below.name()) {
                draft.drop(below);
            }
        } else if draft.shows(below) {
            draft.fold(below);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::outline_after;

    #[test]
    fn texts_equal_to_the_name_are_dropped() {
        let shown = outline_after(
            super::apply,
            r#"
            page "P" http://h/
              button "Close"
                text "×"
              link "Read on"*
                heading "Read on"*
              heading "News"* level=2
                link "News"*
              region "Cart"
                text "Cart"
                text "2 items"
            "#,
        );
        let expected = r#"
button "Close"
link "Read on"
heading "News" level=2
  link "News"
region "Cart"
  text "2 items""#;
        assert_eq!(shown, expected);
    }

    #[test]
    fn option_keeps_text_missing_from_its_name() {
        let shown = outline_after(
            super::apply,
            r#"
            page "P" http://h/
              listbox
                option "Inbox folder"
                  generic
                    text "Inbox"
                  generic
                    text "3 unread"
                option "Sent 12" name-from-content
                  text "Sent"
                  text "12"
            "#,
        );
        let expected = "\nlistbox\n  option \"Inbox folder\"\n    text \"3 unread\"\n  option \"Sent 12\"";
        assert_eq!(shown, expected);
    }

    #[test]
    fn decorative_text_stays_as_only_content() {
        let shown = outline_after(
            super::apply,
            r#"
            page "P" http://h/
              row
                cell
                  text "*"
                cell
                  text "Rating:"
              region "Rating"
                text "Rating: *"
            "#,
        );
        assert_eq!(shown, "\nrow\n  cell\n    text \"*\"\n  cell\n    text \"Rating:\"\nregion \"Rating\"");
    }

    #[test]
    fn row_with_controls_loses_its_content_name() {
        let shown = outline_after(
            super::apply,
            r#"
            page "P" http://h/
              row "Mail 1 Delete" name-from-content
                cell "Mail 1"*
                cell "Delete" name-from-content
                  button "Delete"*
            "#,
        );
        let items = outline_after(
            super::apply,
            r#"
            page "P" http://h/
              treeitem "src"* level=1
                treeitem "main.rs"* level=2
            "#,
        );
        assert_eq!(items, "\ntreeitem \"src\" level=1\n  treeitem \"main.rs\" level=2");
        assert_eq!(shown, "\nrow\n  cell \"Mail 1\"\n  cell\n    button \"Delete\"");
    }
}
