//! Checks whether the row of an element shows a text, for `row=` terms.

use crate::identity::rows::detect::Structure;
use crate::identity::rows::text::{leaf_text, walk};
use crate::{NodeRef, States};

/// Returns whether the row of an element, or a row around that row, contains a given text leaf or
/// control name outside the element itself.
pub(crate) fn row_contains(
    structure: &Structure,
    element: NodeRef<'_>,
    wanted: impl Fn(&str) -> bool,
) -> bool {
    let rows =
        std::iter::successors(structure.row_of(element), |at| structure.row_of(element.tree().node(at.id)));
    rows.map(|at| element.tree().node(at.id)).any(|row| {
        let mut found = false;
        walk(row, |n| {
            if found || n == element {
                return false;
            }
            found = if n.is_text() {
                leaf_text(n).is_some_and(|text| wanted(&text))
            } else {
                n.is(States::ACTIONABLE) && !n.name().is_empty() && wanted(n.name())
            };
            !found
        });
        found
    })
}
