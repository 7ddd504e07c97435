//! Distinguishes lines with the same text: four lines `button "Delete"` give a reader no basis for
//! a choice.

use super::draft::{Draft, DraftLine};
use super::view::OutlineQueries;
use crate::model::escape::{MAX_CHARS, quote_into};
use crate::{NodeRef, Role, States};
use hashbrown::HashMap;

/// Returns suffixes that make equal lines differ, such as ` in "Mail 1"`, by index in `lines`.
///
/// Covers only controls and other actionable elements for which [`row_is_hidden`] returns true.
pub(super) fn distinguishing_suffixes(
    draft: &Draft<'_>,
    lines: &[DraftLine<'_>],
    interactive: bool,
    queries: &OutlineQueries<'_>,
) -> HashMap<usize, String> {
    let mut similar: HashMap<(Role, &str), Vec<usize>> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        let acts = line.node.is(States::ACTIONABLE) || line.node.role().is_control();
        if acts && row_is_hidden(draft, line.node, interactive) {
            similar.entry((line.node.role(), draft.label(line.node))).or_default().push(at);
        }
    }
    // What the reader has just read: the heading before the line, and its parent line.
    let mut headings: Vec<Option<usize>> = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        let heading = line.node.role() == Role::Heading;
        headings.push(if heading { Some(at) } else { headings.last().copied().flatten() });
    }
    let label = |at: Option<usize>| at.map_or("", |at| draft.label(lines[at].node));
    let mut found = HashMap::new();
    for group in similar.into_values().filter(|g| g.len() > 1) {
        let mut read: HashMap<&str, usize> = HashMap::new();
        for &at in &group {
            *read.entry(label(headings[at])).or_default() += 1;
        }
        let distinguishing: Vec<String> = group
            .iter()
            .map(|&at| {
                let heading = label(headings[at]);
                // The row's own heading, unique among the rows, is right above.
                let own = headings[at].is_some_and(|h| in_one_row(lines[h].node, lines[at].node));
                if own && read[heading] == 1 {
                    return String::new();
                }
                suffix_for(draft, lines[at].node, [heading, label(lines[at].parent)], queries)
            })
            .collect();
        // A suffix shared by all lines distinguishes nothing.
        if distinguishing.iter().all(|t| *t == distinguishing[0]) {
            continue;
        }
        for (at, told) in group.into_iter().zip(distinguishing) {
            if !told.is_empty() {
                found.insert(at, told);
            }
        }
    }
    found
}

fn in_one_row(heading: NodeRef<'_>, node: NodeRef<'_>) -> bool {
    node.ancestors().find(|a| a.role().is_row()).is_some_and(|row| row.contains(heading.id()))
}

fn suffix_for(
    draft: &Draft<'_>,
    node: NodeRef<'_>,
    above: [&str; 2],
    queries: &OutlineQueries<'_>,
) -> String {
    let mut out = String::new();
    if let Some(row) = (queries.distinguishing_text)(node.id()) {
        if above[0] == row || above[1].contains(&row) {
            return out;
        }
        out.push_str(" in ");
        quote_into(&mut out, &row, MAX_CHARS);
    } else if let Some(area) =
        node.ancestors().find(|a| !a.name().is_empty() && a.role().is_area()).filter(|a| !draft.shows(*a))
    {
        // An area with its own line is already named above.
        out.push_str(" in ");
        out.push_str(area.role().name());
        out.push(' ');
        quote_into(&mut out, area.name(), MAX_CHARS);
    }
    out
}

/// Returns whether the row of a node is not shown. With `-i`, also returns true if the row has no
/// label, or if no ancestor has the role of a row. In the full view, surrounding texts distinguish
/// the elements of such rows.
fn row_is_hidden(draft: &Draft<'_>, node: NodeRef<'_>, interactive: bool) -> bool {
    match node.ancestors().find(|a| a.role().is_row()) {
        Some(row) => !draft.shows(row) || draft.label(row).is_empty() && interactive,
        None => interactive,
    }
}
