//! The effect of a listener on rows.

use super::*;
use serde_json::json;
use stickpin_tree::States;

/// Builds columns of rows `(depth, role, actionable)`; the number of a row is its index.
fn columns(rows: &[(u32, &str, bool)]) -> Columns {
    let mut strings = vec![String::new(), "document".to_owned()];
    let (mut kinds, mut ids) = (vec![1, 0, 0], vec![1, 1]);
    for (row, (_, role, actionable)) in rows.iter().enumerate() {
        let states = if *actionable { States::ACTIONABLE.bits() } else { 0 };
        kinds.extend([u32::try_from(strings.len()).unwrap(), 0, states]);
        strings.push((*role).to_owned());
        if *role != "text" {
            ids.extend([row + 2, 1]);
        }
    }
    let n = rows.len() + 1;
    let json = json!({
        "v": 2, "url": "", "title": "", "hidden": [], "custom": [], "hosts": [], "level": [], "value": [],
        "attrs": [], "truncated": false, "ms": 0, "kinds": kinds, "kind": (0..n).collect::<Vec<_>>(),
        "depth": std::iter::once(0).chain(rows.iter().map(|r| r.0)).collect::<Vec<_>>(),
        "name": vec![0; n], "names": [], "ids": ids, "strings": strings,
    });
    Columns::parse(&json.to_string()).unwrap()
}

/// Returns the rows that are actionable once the rows `heard` are known to have listeners.
fn pressed(rows: &[(u32, &str, bool)], heard: &[u64]) -> Vec<usize> {
    let mut columns = columns(rows);
    mark(&mut columns, &heard.iter().map(|row| row + 1).collect());
    (1..columns.len()).filter(|&row| columns.is_actionable(row)).collect()
}

#[test]
fn a_wrapper_that_listens_is_clickable() {
    let mut columns = columns(&[(1, "generic", false), (2, "text", false)]);
    mark(&mut columns, &HashSet::from([2]));
    assert_eq!(columns.role_of(1), Some(Role::Clickable));
    assert!(columns.is_actionable(1));
}

#[test]
fn the_outermost_only_and_nothing_inside_of_what_is_pressed() {
    let rows = [(1, "button", true), (2, "generic", false), (1, "listitem", false), (2, "generic", false)];
    assert_eq!(pressed(&rows, &[2, 3, 4]), [1, 3]);
}

#[test]
fn listener_among_siblings_in_a_pressable_is_pressable() {
    // A row with a hand cursor, text, and two icons.
    let row = [(1, "clickable", true), (2, "text", false), (2, "generic", false), (2, "generic", false)];
    assert_eq!(pressed(&row, &[3, 4]), [1, 3, 4]);
    // A bar of two halves; a wrapper that listens for its descendants is neither of them.
    let bar = [
        (1, "clickable", true),
        (2, "generic", false),
        (3, "generic", false),
        (4, "text", false),
        (2, "generic", false),
        (3, "text", false),
    ];
    assert_eq!(pressed(&bar, &[2, 3, 5]), [1, 3, 5]);
    // In a row that listens as a whole, the image is actionable, but not the cells or all content.
    let cells =
        [(1, "row", false), (2, "cell", false), (3, "img", false), (2, "cell", false), (3, "text", false)];
    assert_eq!(pressed(&cells, &[1, 2, 3, 4]), [1, 3]);
    assert_eq!(pressed(&[(1, "clickable", true), (2, "generic", false), (3, "text", false)], &[1, 2]), [1]);
    // The outer element has only a hand cursor, which it may have only while the pointer is over
    // it.
    assert_eq!(pressed(&[(1, "clickable", true), (2, "generic", false), (3, "text", false)], &[2]), [1, 2]);
    // Everything in a control is part of it.
    let button = [(1, "button", true), (2, "text", false), (2, "generic", false)];
    assert_eq!(pressed(&button, &[3]), [1]);
}

#[test]
fn who_listens_for_others_is_not_pressed() {
    let rows = [(1, "generic", false), (2, "button", true), (1, "list", false), (2, "listitem", false)];
    assert_eq!(pressed(&rows, &[1, 3]), [2]);
    let mut many = vec![(1, "generic", false)];
    many.extend([(2, "text", false); MAX_ROWS_BELOW + 1]);
    assert_eq!(pressed(&many, &[1]), [0; 0]);
    assert_eq!(pressed(&many[..MAX_ROWS_BELOW], &[1]), [1]);
}
