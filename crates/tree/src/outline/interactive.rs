//! `-i`: keeps what is needed to choose an action.
//!
//! - Actionable elements, even while disabled.
//! - Headings, for orientation.
//! - Messages (alert, status, tooltip) and dialogs, with their texts if these are few.
//! - Named groups of fields, because radio buttons are called "Yes" and "No".
//! - Frames and apps.
//! - Drawing surfaces and media, which are acted on by coordinates.
//!
//! Toolbars with many buttons become one line (`toolbars.rs`).

use super::draft::{Draft, DraftLine};
use super::toolbars;
use crate::{NodeRef, Role, States};

/// The maximum number of texts directly below a dialog or message that are kept. More texts are
/// content rather than a question or an answer.
const MAX_KEPT_TEXTS: usize = 3;

pub(super) fn apply(draft: &mut Draft<'_>, fold_bars: bool) {
    draft.with_lines(choose_lines);
    if fold_bars {
        toolbars::fold_toolbars(draft);
    }
    draft.with_lines(fold_empty);
}

fn choose_lines(draft: &mut Draft<'_>, lines: &[DraftLine<'_>]) {
    let has_text = lines_with_texts(lines);
    for (at, line) in lines.iter().enumerate() {
        let node = line.node;
        if node.is_text() {
            let parent_has_text = line.parent.is_some_and(|p| has_text[p]);
            if !parent_has_text {
                draft.drop(node);
            }
        } else if node.role() == Role::Option && (!node.is(States::ACTIONABLE) || in_closed_list(node)) {
            // Options of a closed list cannot be pressed; the list shows the selected one.
            draft.drop(node);
        } else if !is_needed(draft, node) || is_repeated_by_link(draft, lines, at) {
            draft.fold(node);
        } else if draft.label(node).is_empty() && !node.name().is_empty() {
            // The cells that repeat the name are not shown here.
            draft.set_label(node, node.name().to_owned());
        }
    }
}

fn in_closed_list(option: NodeRef<'_>) -> bool {
    let list = option.ancestors().find(|a| matches!(a.role(), Role::Combobox | Role::ListBox));
    list.is_some_and(|l| l.role() == Role::Combobox && !l.is(States::EXPANDED))
}

fn is_needed(draft: &Draft<'_>, node: NodeRef<'_>) -> bool {
    let named = !draft.label(node).is_empty();
    node.is(States::ACTIONABLE)
        || node.role().is_control()
        || match node.role() {
            Role::Heading | Role::Group | Role::RadioGroup | Role::Application => named,
            Role::Dialog | Role::AlertDialog | Role::Iframe | Role::Canvas | Role::Video | Role::Audio => {
                true
            }
            role => is_message(role),
        }
}

/// Returns whether elements with a given role report what just happened.
fn is_message(role: Role) -> bool {
    matches!(role, Role::Alert | Role::Status | Role::Tooltip)
}

/// Returns whether a line is a heading whose only child line is an actionable element with the same
/// label, which makes the heading redundant.
fn is_repeated_by_link(draft: &Draft<'_>, lines: &[DraftLine<'_>], at: usize) -> bool {
    let node = lines[at].node;
    node.role() == Role::Heading
        && !node.is(States::ACTIONABLE)
        && lines[at].children == 1
        && lines[at + 1].node.is(States::ACTIONABLE)
        && draft.label(lines[at + 1].node) == draft.label(node)
}

/// Returns, for each line, whether the texts directly below it are kept.
fn lines_with_texts(lines: &[DraftLine<'_>]) -> Vec<bool> {
    let mut texts = vec![0_usize; lines.len()];
    for line in lines.iter().filter(|l| l.node.is_text()) {
        if let Some(parent) = line.parent {
            texts[parent] += 1;
        }
    }
    let is_message_like = |role| is_message(role) || matches!(role, Role::Dialog | Role::AlertDialog);
    lines
        .iter()
        .zip(texts)
        .map(|(l, texts)| is_message_like(l.node.role()) && texts <= MAX_KEPT_TEXTS)
        .collect()
}

/// Folds groups without child lines, and messages with neither a label nor child lines, unless they
/// are actionable.
fn fold_empty(draft: &mut Draft<'_>, lines: &[DraftLine<'_>]) {
    for line in lines.iter().filter(|line| line.children == 0 && !line.node.is(States::ACTIONABLE)) {
        let quiet = match line.node.role() {
            Role::Group | Role::RadioGroup => true,
            role => is_message(role) && draft.label(line.node).is_empty(),
        };
        if quiet {
            draft.fold(line.node);
        }
    }
}
