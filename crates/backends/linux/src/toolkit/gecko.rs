//! Peculiarities of Firefox: covered windows, row headers, and fewer queries for plain text.
//!
//! # Queries
//! Each answer takes about 15 µs, and a page has a thousand objects, most of which contain only
//! text: cells, rows, headings, paragraphs. Each object is queried for its role and states first,
//! and then only for properties in which it may differ (ADR 33).
//!
//! # Covered windows
//! If other windows cover a window completely, or it is minimized, Firefox reports everything in it
//! as hidden, except the window itself.
//!
//! # Row headers
//! Firefox may report row headers as column headers. Gecko classifies a `th` without `scope` when
//! the element is created, and keeps the result. A `th` that existed before the cells of its row
//! remains a column header (the browser process keeps roles; `HTMLTableHeaderCell` examines the
//! siblings). Pages that build rows cell by cell therefore get wrong roles.

use crate::capture::question::Question;
use crate::model::{EMBEDDED, Facts, Interfaces, Object, ObjectTree, role, roles, states};
use crate::toolkit::profile::Toolkit;
use hashbrown::HashSet;

/// The states of plain text. An object with further states, such as focusable, selectable or
/// editable, is queried completely.
const PLAIN: u64 = states::USABLE | states::OPAQUE | states::SELECTABLE_TEXT;

/// Returns the only queries that an object needs before its details and its children, if it merely
/// contains text; `None` if the object needs all queries. The text reveals the number of children.
pub(crate) fn plain_questions(toolkit: Toolkit, object: &Object) -> Option<&'static [Question]> {
    let questions: &[Question] = match object.role {
        // HTML rows have cells but no text. Other rows are recognized later (`late_questions`).
        role::TABLE_ROW => &[],
        role::SECTION => &[Question::Text],
        _ => &[Question::Name, Question::Text],
    };
    (toolkit == Toolkit::Gecko && is_plain(object)).then_some(questions)
}

/// Derives facts from the answers to [`plain_questions`], for an object that was asked them.
pub(crate) fn keep_plain(object: &mut Object) {
    object.interfaces.insert(Interfaces::AROUND_TEXT);
    if object.role == role::TABLE_ROW {
        return;
    }
    match &object.text {
        // For example, an image with the role of a heading.
        None => object.interfaces.remove(Interfaces::TEXT),
        // The text contains one character per child. An empty text may omit children.
        Some(text) if !text.is_empty() && !text.contains(EMBEDDED) => {
            object.count = 0;
            object.complete = true;
        }
        Some(_) => {}
    }
}

/// Returns the queries that follow from the details of an object.
pub(crate) fn late_questions(toolkit: Toolkit, object: &Object) -> Vec<Question> {
    if toolkit != Toolkit::Gecko || !is_plain(object) || !names_by_markup(object.role) {
        return Vec::new();
    }
    let (explicit, tag) = (object.attribute("explicit-name"), object.attribute("tag"));
    let name = object.name.is_empty() && (explicit.is_some() || tag.is_none());
    let text = object.role == role::TABLE_ROW && tag != Some("tr");
    name.then_some(Question::Name).into_iter().chain(text.then_some(Question::Text)).collect()
}

/// Returns whether a query about the details of an object is unnecessary.
pub(crate) fn skips(toolkit: Toolkit, object: &Object, question: Question) -> bool {
    match question {
        _ if toolkit != Toolkit::Gecko => false,
        Question::Extents => is_where_its_row_is(object),
        // The text of a row is queried after its attributes.
        Question::Text => object.text.is_some() || is_plain(object) && object.role == role::TABLE_ROW,
        _ => false,
    }
}

/// Returns whether a window reports all of its content as hidden because others cover it.
pub(crate) fn shows_nothing(picture: &ObjectTree, window: usize) -> bool {
    let window = &picture[window];
    picture.toolkit == Toolkit::Gecko
        && window.shown
        && !window.children.is_empty()
        && picture.children(window).all(|child| !child.shown)
}

/// Returns the objects that are row headers regardless of their reported role.
pub(crate) fn row_headers(picture: &ObjectTree) -> HashSet<usize> {
    if picture.toolkit != Toolkit::Gecko {
        return HashSet::new();
    }
    let mut out = HashSet::new();
    let shown = |at: usize| picture[at].children.iter().copied().filter(|&c| picture[c].shown);
    let role_of = |at: usize| picture[at].role;
    let headed = |row: usize| {
        let mut cells = shown(row);
        let first = cells.next().filter(|&first| role_of(first) == role::COLUMN_HEADER)?;
        let mut rest = cells.peekable();
        (rest.peek().is_some() && rest.all(|cell| role_of(cell) == role::TABLE_CELL)).then_some(first)
    };
    let tables = (0..picture.objects.len()).filter(|&at| role_of(at) == role::TABLE && picture[at].shown);
    for table in tables {
        // A part of a table may have its own object.
        let lines = shown(table).flat_map(|at| {
            let row = (role_of(at) == role::TABLE_ROW).then_some(at);
            row.into_iter().chain(shown(at).filter(move |_| row.is_none()))
        });
        let rows: Vec<Option<usize>> =
            lines.filter(|&at| role_of(at) == role::TABLE_ROW).map(headed).collect();
        // The first row may be `<th scope=col>` next to an empty corner, so its header counts only
        // if all rows begin with one.
        let all = rows.len() > 1 && rows.iter().all(Option::is_some);
        out.extend(rows.into_iter().skip(usize::from(!all)).flatten());
    }
    out
}

/// Returns whether an object of Firefox contains only text and other objects.
fn is_plain(object: &Object) -> bool {
    let holds_text = roles::is(object.role, Facts::CELL)
        || names_by_markup(object.role)
        || matches!(object.role, role::HEADING | role::PARAGRAPH | role::LIST_ITEM);
    object.states & !PLAIN == 0 && holds_text
}

/// Returns whether a plain object is as visible as its row, so that its rectangle is not needed.
fn is_where_its_row_is(object: &Object) -> bool {
    is_plain(object) && roles::is(object.role, Facts::CELL) && object.count == 0
}

/// Returns whether objects of a role have a name only if the page sets one (ARIA, "name from
/// author"). The attributes, which are read anyway, reveal whether there is such a name.
fn names_by_markup(number: u32) -> bool {
    matches!(number, role::TABLE_ROW | role::SECTION)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEN: u64 = states::VISIBLE | states::SHOWING | states::ENABLED | states::SENSITIVE;

    fn object(role: u32) -> Object {
        Object { role, states: SEEN, count: -1, ..Object::default() }
    }

    fn after(role: u32, text: Option<&str>) -> Object {
        let mut object = Object { text: text.map(str::to_owned), ..object(role) };
        keep_plain(&mut object);
        object
    }

    #[test]
    fn what_is_acted_on_is_asked_everything() {
        for number in
            [role::LINK, role::PUSH_BUTTON, role::ENTRY, role::TABLE, role::DOCUMENT_WEB, role::STATIC]
        {
            assert!(!is_plain(&object(number)), "{number}");
        }
        for number in [role::TABLE_CELL, role::TABLE_ROW, role::HEADING, role::SECTION, role::LIST_ITEM] {
            assert!(is_plain(&object(number)), "{number}");
            let states = [
                states::FOCUSABLE,
                states::SELECTABLE,
                states::EDITABLE,
                states::EXPANDABLE,
                states::MANAGES_DESCENDANTS,
                states::BUSY,
                states::DEFUNCT,
            ];
            for state in states {
                assert!(!is_plain(&Object { states: SEEN | state, ..object(number) }), "{number} {state:#x}");
            }
        }
    }

    #[test]
    fn plain_text_is_asked_for_name_and_text_but_rows_are_not() {
        let asked = |role| plain_questions(Toolkit::Gecko, &object(role)).unwrap();
        assert_eq!(asked(role::TABLE_CELL), [Question::Name, Question::Text]);
        assert_eq!(asked(role::HEADING), [Question::Name, Question::Text]);
        assert_eq!(asked(role::SECTION), [Question::Text]);
        assert_eq!(asked(role::TABLE_ROW), []);
    }

    #[test]
    fn a_text_in_which_nothing_stands_has_no_children() {
        assert_eq!(after(role::TABLE_CELL, Some("Firefox")).count, 0);
        assert!(after(role::TABLE_CELL, Some("Firefox")).complete);
        for open in [Some("see \u{fffc}"), Some(""), None] {
            let object = after(role::TABLE_CELL, open);
            assert!(object.count < 0 && !object.complete, "{open:?}");
        }
        assert!(!after(role::TABLE_ROW, None).complete);
    }

    #[test]
    fn what_has_no_text_after_all_is_not_asked_for_it_again() {
        assert!(!after(role::HEADING, None).has(Interfaces::TEXT));
        assert!(after(role::HEADING, None).has(Interfaces::ACTION));
        assert!(after(role::HEADING, Some("")).has(Interfaces::TEXT));
    }

    #[test]
    fn a_row_is_asked_for_its_name_where_the_page_gives_it_one() {
        let later = |number, attributes: &[(&str, &str)]| {
            let attributes = attributes.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
            late_questions(Toolkit::Gecko, &Object { attributes, ..object(number) })
        };
        assert_eq!(later(role::TABLE_ROW, &[("tag", "tr")]), []);
        assert_eq!(later(role::TABLE_ROW, &[("tag", "tr"), ("explicit-name", "true")]), [Question::Name]);
        assert_eq!(later(role::TABLE_ROW, &[("tag", "div")]), [Question::Text]);
        assert_eq!(later(role::SECTION, &[("tag", "div")]), []);
        assert_eq!(later(role::SECTION, &[("tag", "div"), ("explicit-name", "true")]), [Question::Name]);
        // The row did not report a tag.
        assert_eq!(later(role::TABLE_ROW, &[]), [Question::Name, Question::Text]);
        assert_eq!(later(role::TABLE_CELL, &[]), []);
    }

    #[test]
    fn only_a_cell_with_nothing_but_text_is_not_asked_where_it_is() {
        assert!(is_where_its_row_is(&after(role::TABLE_CELL, Some("Firefox"))));
        assert!(!is_where_its_row_is(&after(role::TABLE_CELL, Some("\u{fffc}"))));
        assert!(!is_where_its_row_is(&after(role::SECTION, Some("folded"))));
        let link = Object { states: SEEN | states::FOCUSABLE, ..after(role::TABLE_CELL, Some("Firefox")) };
        assert!(!is_where_its_row_is(&link));
    }
}

#[cfg(test)]
mod covered_tests {
    use super::*;
    use crate::capture::tree::{COVERED, build};
    use crate::model::ids::{APP, PathNumbers};
    use stickpin_tree::{Handle, Role, Tree};

    fn picture(toolkit: Toolkit, shown: bool) -> ObjectTree {
        let object = |path: &str, role, shown, children: &[usize]| Object {
            path: path.to_owned(),
            name: path.to_owned(),
            role,
            shown,
            states: states::VISIBLE | states::ENABLED | if shown { states::SHOWING } else { 0 },
            children: children.to_vec(),
            ..Object::default()
        };
        let objects = vec![
            object("app", 75, true, &[1]),
            object("window", role::FRAME, true, &[2, 3]),
            object("menu", role::MENU, false, &[]),
            object("Reload", role::PUSH_BUTTON, shown, &[]),
        ];
        ObjectTree { toolkit, objects, truncated: false }
    }

    fn statuses(tree: &Tree) -> Vec<&str> {
        tree.nodes().filter(|node| node.role() == Role::Status).map(|node| node.name()).collect()
    }

    #[test]
    fn covered_firefox_window_is_hidden_with_a_reason() {
        let ids = PathNumbers::default();
        let handle = |ids: &PathNumbers, path: &str| Handle { scope: APP, id: ids.id(path) };
        // This also applies to a page that is not even listed while the window is covered.
        let (reload, link) = (handle(&ids, "Reload"), handle(&ids, "link of a page"));
        let watch = [reload, link];
        let of = |toolkit, shown| build(&picture(toolkit, shown), &ids, "", &watch).unwrap();
        let covered = of(Toolkit::Gecko, false);
        assert_eq!((statuses(&covered), covered.hidden()), (vec![COVERED], &watch[..]));
        let open = of(Toolkit::Gecko, true);
        assert_eq!((statuses(&open).len(), open.hidden().len()), (0, 0));
        assert!(open.find_handle(reload).is_some());
        // Reports from other toolkits are reliable.
        let other = of(Toolkit::Gtk3, false);
        assert_eq!((statuses(&other).len(), other.hidden()), (0, &watch[..1]));
    }

    #[test]
    fn what_has_ended_behind_it_is_gone() {
        let ids = PathNumbers::default();
        let reload = Handle { scope: APP, id: ids.id("Reload") };
        let mut picture = picture(Toolkit::Gecko, false);
        picture.objects[3].states |= states::DEFUNCT;
        let tree = build(&picture, &ids, "", &[reload]).unwrap();
        assert_eq!(tree.hidden(), []);
    }
}

#[cfg(test)]
mod header_tests {
    use super::*;

    /// Returns the indices of the rows whose first cell is found to be a row header. Each row has a
    /// letter for each cell: `c` and `r` for headers of columns and rows, `d` for others.
    fn headed(toolkit: Toolkit, rows: &[&str]) -> Vec<usize> {
        let object = |role| Object { role, shown: true, ..Object::default() };
        let mut picture =
            ObjectTree { toolkit, objects: vec![object(75), object(role::TABLE)], truncated: false };
        let mut firsts = Vec::new();
        for row in rows {
            let at = picture.objects.len();
            picture.objects[1].children.push(at);
            picture.objects.push(object(role::TABLE_ROW));
            firsts.push(at + 1);
            for cell in row.chars() {
                let new = picture.objects.len();
                picture.objects[at].children.push(new);
                picture.objects.push(object(match cell {
                    'c' => role::COLUMN_HEADER,
                    'r' => role::ROW_HEADER,
                    _ => role::TABLE_CELL,
                }));
            }
        }
        let found = row_headers(&picture);
        assert!(found.iter().all(|at| firsts.contains(at)));
        (0..rows.len()).filter(|&row| found.contains(&firsts[row])).collect()
    }

    const NONE: [usize; 0] = [];

    #[test]
    fn a_header_before_the_cells_of_its_row_is_one_of_the_row() {
        let headed = |rows: &[&str]| headed(Toolkit::Gecko, rows);
        assert_eq!(headed(&["cd", "cd", "rd"]), [1]);
        assert_eq!(headed(&["cd", "cd"]), [0, 1]);
        assert_eq!(headed(&["cc", "cd", "cd"]), [1, 2]);
        // A cell that may be a column header is not a row header.
        assert_eq!(headed(&["cd", "dd"]), NONE);
        assert_eq!(headed(&["cd"]), NONE);
        assert_eq!(headed(&["cc", "dd", "c", "cc"]), NONE);
    }

    #[test]
    fn other_toolkits_know_their_headers() {
        assert_eq!(headed(Toolkit::Gtk3, &["cd", "cd"]), NONE);
    }
}
