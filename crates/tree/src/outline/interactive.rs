//! `-i`: keeps what is needed to choose an action.
//!
//! - Actionable elements, even while disabled.
//! - Headings, for orientation.
//! - Messages (alert, status, tooltip) and dialogs, with their text if it is short.
//! - Named groups of fields, because radio buttons are called "Yes" and "No".
//! - Frames and apps.
//! - Drawing surfaces and media, which are acted on by coordinates.
//!
//! Toolbars with many buttons become one line (`bars.rs`).

use super::bars;
use super::sketch::{Shown, Sketch};
use crate::{NodeRef, Role, States};

/// Up to this many texts, a dialog or message is a question or an answer; more are content.
const FEW_TEXTS: usize = 3;

pub(super) fn apply(sketch: &mut Sketch<'_>, folds_bars: bool) {
    sketch.with_lines(choose);
    if folds_bars {
        bars::fold(sketch);
    }
    sketch.with_lines(fold_empty);
}

fn choose(sketch: &mut Sketch<'_>, lines: &[Shown<'_>]) {
    let speaks = speaking(lines);
    for (at, line) in lines.iter().enumerate() {
        let node = line.node;
        if node.is_text() {
            let kept = line.parent.is_some_and(|p| speaks[p]);
            if !kept {
                sketch.drop(node);
            }
        } else if node.role() == Role::Option && (!node.is(States::ACTIONABLE) || in_closed_list(node)) {
            // Options of a closed list cannot be pressed; the list shows the chosen one.
            sketch.drop(node);
        } else if !is_needed(sketch, node) || repeats_in_child(sketch, lines, at) {
            sketch.fold(node);
        } else if sketch.label(node).is_empty() && !node.name().is_empty() {
            // The cells that repeat the name are not shown here.
            sketch.set_label(node, node.name().to_owned());
        }
    }
}

fn in_closed_list(option: NodeRef<'_>) -> bool {
    let list = option.ancestors().find(|a| matches!(a.role(), Role::Combobox | Role::ListBox));
    list.is_some_and(|l| l.role() == Role::Combobox && !l.is(States::EXPANDED))
}

fn is_needed(sketch: &Sketch<'_>, node: NodeRef<'_>) -> bool {
    let named = !sketch.label(node).is_empty();
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

/// Whether elements of a role report what just happened.
fn is_message(role: Role) -> bool {
    matches!(role, Role::Alert | Role::Status | Role::Tooltip)
}

/// Whether a heading contains only a link, which says everything.
fn repeats_in_child(sketch: &Sketch<'_>, lines: &[Shown<'_>], at: usize) -> bool {
    let node = lines[at].node;
    node.role() == Role::Heading
        && !node.is(States::ACTIONABLE)
        && lines[at].children == 1
        && lines[at + 1].node.is(States::ACTIONABLE)
        && sketch.label(lines[at + 1].node) == sketch.label(node)
}

/// For each line, whether the texts directly below it are kept.
fn speaking(lines: &[Shown<'_>]) -> Vec<bool> {
    let mut texts = vec![0_usize; lines.len()];
    for line in lines.iter().filter(|l| l.node.is_text()) {
        if let Some(parent) = line.parent {
            texts[parent] += 1;
        }
    }
    let says = |role| is_message(role) || matches!(role, Role::Dialog | Role::AlertDialog);
    lines.iter().zip(texts).map(|(l, texts)| says(l.node.role()) && texts <= FEW_TEXTS).collect()
}

/// Folds groups without lines, and messages without text or lines.
fn fold_empty(sketch: &mut Sketch<'_>, lines: &[Shown<'_>]) {
    for line in lines.iter().filter(|line| line.children == 0 && !line.node.is(States::ACTIONABLE)) {
        let quiet = match line.node.role() {
            Role::Group | Role::RadioGroup => true,
            role => is_message(role) && sketch.label(line.node).is_empty(),
        };
        if quiet {
            sketch.fold(line.node);
        }
    }
}
