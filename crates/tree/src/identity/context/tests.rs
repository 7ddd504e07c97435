//! What counts as a change around an element, and what a map of facts retains.

use std::collections::HashSet;
use std::sync::Arc;

use super::fact::{SegmentKey, slots};
use super::*;
use crate::testing::tree;
use crate::{Handle, NodeId, Openers, Records, Tree};

/// Returns a page with these lines below its root; `grade` as in the text format.
fn graded(grade: &str, body: &str) -> Tree {
    let mut text = format!("page \"App\" http://app.test/a grade={grade}\n");
    for line in body.lines() {
        text.push_str(&format!("  {line}\n"));
    }
    tree(&text)
}

fn page(body: &str) -> Tree {
    graded("never-reused", body)
}

fn at(tree: &Tree, id: u64) -> NodeId {
    tree.find_address(Handle { scope: 1, id }).expect("the node").id()
}

fn read<T>(tree: &Tree, with: impl FnOnce(&ContextReader<'_, '_>) -> T) -> T {
    with(&ContextReader::new(&Records::new(tree, &Openers::default())))
}

fn map(tree: &Tree) -> ContextMap {
    ContextReader::new(&Records::new(tree, &Openers::default())).map()
}

/// Returns the changes around node 9 as `was > now`, with positions whose numbers change by
/// themselves.
fn changes_ticking(before: &Tree, after: &Tree, ticks: impl Fn(FactKey) -> bool) -> Vec<String> {
    let changes = read(after, |reader| {
        let now = reader.context(at(after, 9));
        map(before).context_of(&now).changes_to(&now, &reader.own_content(at(after, 9)), ticks)
    });
    changes.into_iter().map(|change| format!("{} > {}", change.before, change.after)).collect()
}

fn changes(before: &str, after: &str) -> Vec<String> {
    changes_ticking(&page(before), &page(after), |_| false)
}

#[test]
fn replaced_text_is_a_change_anywhere() {
    let before = "group #5\n  paragraph #6\n    text \"Ada\"\nbutton \"Delete\"* #9";
    assert_eq!(changes(before, &before.replace("Ada", "Nils")), ["Ada > Nils"]);
    let new_node = before.replace("Ada", "Nils").replace("#6", "#7");
    assert_eq!(changes(before, &new_node), ["Ada > Nils"], "in a new node of the same shape");
    assert_eq!(changes(before, &before.replace("#6", "#7")), [""; 0], "the same text in a new node");
}

#[test]
fn added_and_removed_facts_are_no_changes() {
    let before = "group #5\n  text \"Ada\"\nbutton \"Delete\"* #9";
    let added = "group #5\n  text \"new\"\n  separator #6\n  text \"Ada\"\nbutton \"Delete\"* #9";
    assert_eq!(changes(before, added), [""; 0]);
    assert_eq!(changes(added, before), [""; 0]);
}

#[test]
fn own_content_is_no_change_but_description_is() {
    let before = "button \"Delete\"* description=\"of Ada\" #9";
    assert_eq!(changes(before, &before.replace("Delete", "Remove")), [""; 0]);
    assert_eq!(changes(before, &before.replace("Ada", "Nils")), ["of Ada > of Nils"]);
}

#[test]
fn swapped_records_in_new_nodes_are_a_change() {
    let of = |first: &str, second: &str, ids: [u32; 2]| {
        format!(
            "group #5\n  heading \"{first}\"* #{}\n  paragraph #{}\n    text \"{second}\"\n  button \"Delete\"* #9",
            ids[0], ids[1]
        )
    };
    let found = changes(&of("Ada", "Nils", [6, 7]), &of("Nils", "Ada", [16, 17]));
    assert!(found.contains(&"Ada > Nils".to_owned()), "{found:?}");
}

#[test]
fn shape_is_the_slot_without_identity() {
    let before = "heading \"Ada\"*\nparagraph\n  text \"Nils\"\nbutton \"Delete\"* #9";
    let after = "heading \"Nils\"*\nparagraph\n  text \"Ada\"\nbutton \"Delete\"* #9";
    let found = changes_ticking(&graded("none", before), &graded("none", after), |_| false);
    assert_eq!(found, ["Ada > Nils", "Nils > Ada"]);
}

#[test]
fn ticker_excuses_numbers_but_not_words() {
    let of = |text: &str| page(&format!("paragraph #5\n  text \"{text}\"\nbutton \"Delete\"* #9"));
    let ticks = |key: FactKey| key == FactKey::text_at(Handle { scope: 1, id: 5 });
    assert_eq!(changes_ticking(&of("3 for Ada"), &of("4 for Ada"), ticks), [""; 0]);
    assert_eq!(changes_ticking(&of("3 for Ada"), &of("4 for Ada"), |_| false), ["3 for Ada > 4 for Ada"]);
    assert_eq!(changes_ticking(&of("3 for Ada"), &of("3 for Nils"), ticks), ["3 for Ada > 3 for Nils"]);
}

#[test]
fn sibling_rows_and_messages_are_separate_segments() {
    let before = "list #2\n  listitem #3\n    text \"Ada\"\n  listitem #4\n    text \"Nils\"\nstatus #5\n  text \"Hello\"\n\
                  button \"Delete\"* #9";
    assert_eq!(changes(before, &before.replace("Ada", "Ines").replace("Hello", "Bye")), [""; 0]);
}

#[test]
fn last_remaining_row_keeps_its_text() {
    let others = "list #2\n  listitem #3\n    text \"Nils\"\n  listitem #4\n    img \"Ada\" #6\n    button \"Delete\"* #9";
    let alone = "list #2\n  listitem #4\n    img \"Ada\" #6\n    button \"Delete\"* #9";
    assert_eq!(changes(others, alone), [""; 0]);
    assert_eq!(changes(others, &alone.replace("Ada", "Ines")), ["Ada > Ines"]);
    assert_eq!(changes(alone, &others.replace("Ada", "Ines")), ["Ada > Ines"]);
}

#[test]
fn selection_address_and_values_are_facts() {
    let body = "listbox \"People\" #2\n  option \"Ada\"* selected #3\n  option \"Nils\"* #4\ntextbox \"Name\" value=\"a\" #5\n\
                button \"Delete\"* #9";
    let moved = body.replace(" selected", "").replace("\"Nils\"*", "\"Nils\"* selected");
    assert_eq!(changes(body, &moved), ["Ada > Nils"]);
    assert_eq!(changes(body, &body.replace("value=\"a\"", "value=\"b\"")), ["a > b"]);
    let mut other = String::from("page \"App (3)\" http://app.test/b#part\n");
    body.lines().for_each(|line| other.push_str(&format!("  {line}\n")));
    let found = changes_ticking(&page(body), &tree(&other), |_| false);
    assert_eq!(found, ["http://app.test/a > http://app.test/b"], "neither a count nor a fragment");
}

#[test]
fn selection_moving_to_target_is_no_change() {
    let menu = "menu #2 active-descendant=\"Play\"\n  menuitem \"Play\"* #3\n  menuitem \"Stop\"* #9\n  menuitem \"Next\"* #4";
    assert_eq!(changes(menu, &menu.replace("descendant=\"Play", "descendant=\"Stop")), [""; 0]);
    assert_eq!(changes(menu, &menu.replace("descendant=\"Play", "descendant=\"Next")), ["Play > Next"]);
}

#[test]
fn note_effects_keeps_earlier_unseen_changes() {
    let of = |first: &str, second: &str| {
        page(&format!(
            "paragraph #5\n  text \"{first}\"\nparagraph #6\n  text \"{second}\"\nbutton \"Delete\"* #9"
        ))
    };
    let base = map(&of("Ada", "one"));
    let mut later = ContextMap::default();
    // Unnoticed: Ada becomes Nils. By the action: one becomes two.
    later.note_effects(
        &map(&of("Nils", "one")),
        &map(&of("Nils", "two")),
        |asked| base.context_of(asked),
        || base.all(),
    );
    let after = of("Nils", "two");
    let found = read(&after, |reader| {
        let now = reader.context(at(&after, 9));
        later.update(&base.context_of(&now), &now).changes_to(&now, &ElementContent::default(), |_| false)
    });
    let found: Vec<_> = found.iter().map(|c| (c.before.as_str(), c.after.as_str())).collect();
    assert_eq!(found, [("Ada", "Nils")]);
}

#[test]
fn reopened_dialog_keeps_its_shown_facts() {
    let closed = page("button \"Open\"* #9");
    let open = |who: &str| page(&format!("button \"Open\"* #9\ndialog \"Delete\" #5\n  text \"{who}\""));
    let dialog = SegmentKey::Node(Handle { scope: 1, id: 5 });
    let base = map(&open("Ada"));
    let mut later = ContextMap::default();
    later.note_effects(&map(&closed), &map(&open("Nils")), |asked| base.context_of(asked), || base.all());
    assert!(later.get(dialog).is_none(), "it was shown with Ada");
    later.note_effects(&map(&closed), &map(&open("Nils")), |_| Context::default(), Context::default);
    assert!(later.get(dialog).is_some(), "it is seen for the first time");
}

#[test]
fn shown_fact_replaces_it_in_all_segments() {
    let others = page(
        "list #2\n  listitem #3\n    text \"Nils\"\n  listitem #4\n    img \"Ada\" #6\n    button \"Delete\"* #9",
    );
    let alone = page("list #2\n  listitem #4\n    img \"Ines\" #6\n    button \"Delete\"* #9");
    let base = map(&others);
    let mut later = ContextMap::default();
    later.note_shown(&read(&alone, |reader| reader.context(at(&alone, 9))));
    // Ada again: the row that the client was shown first no longer counts.
    let again = page("list #2\n  listitem #4\n    img \"Ada\" #6\n    button \"Delete\"* #9");
    let found = read(&again, |reader| {
        let now = reader.context(at(&again, 9));
        later.update(&base.context_of(&now), &now).changes_to(&now, &ElementContent::default(), |_| false)
    });
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].before.as_str(), found[0].after.as_str()), ("Ines", "Ada"));
}

#[test]
fn note_effects_handles_facts_that_change_segment() {
    let others = page("list #2\n  listitem #3\n    text \"Nils\"\n  listitem #4\n    img \"Ada\" #6");
    let alone = page("list #2\n  listitem #4\n    img \"Ines\" #6");
    let found = map(&others).changes_to(&map(&alone));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].before.as_str(), found[0].after.as_str()), ("Ada", "Ines"));
}

#[test]
fn adopt_new_adds_only_unknown_segments() {
    let tree =
        page("list #2\n  listitem #3\n    button \"Open\"* #8\n  listitem #4\n    button \"Delete\"* #9");
    let mut seen = ContextMap::default();
    read(&tree, |reader| reader.adopt_new(&[at(&tree, 9)], &mut seen, |_| hashbrown::HashSet::new()));
    assert_eq!(seen.len(), 2, "the row and the page, not the other row");
    let mut seen = ContextMap::default();
    let base = map(&tree);
    read(&tree, |reader| reader.adopt_new(&[at(&tree, 9)], &mut seen, |asked| base.segments_among(asked)));
    assert!(seen.is_empty(), "all of it is known");
}

#[test]
fn map_versions_share_equal_chunks() {
    let of = |word: &str| {
        let lines = (0..400)
            .map(|n| format!("paragraph #{}\n  text \"line {}\"", 10 + n, if n == 200 { word } else { "x" }));
        map(&page(&lines.collect::<Vec<_>>().join("\n")))
    };
    let first = of("Ada");
    let chunks = |maps: &[&ContextMap]| {
        let segments = maps.iter().flat_map(|map| &map.segments);
        segments.flat_map(|segment| &segment.chunks).map(Arc::as_ptr).collect::<HashSet<_>>().len()
    };
    let (alone, apart) = (chunks(&[&first]), chunks(&[&first, &of("Nils")]));
    assert!(apart > alone * 19 / 10, "{apart} of {alone}");
    let mut second = of("Nils");
    second.share(&first);
    let shared = chunks(&[&first, &second]);
    assert!(shared < alone * 12 / 10, "{shared} of {alone}");
    assert!(second.segments[0] != first.segments[0]);
    let mut third = of("Ada");
    third.share(&first);
    assert!(Arc::ptr_eq(&third.segments[0], &first.segments[0]), "equal segments are shared");
}

#[test]
fn oldest_shown_segments_are_dropped_first() {
    let tree = page("list #2\n  listitem #3\n    text \"a\"\n  listitem #4\n    text \"b\"");
    let mut all = map(&tree);
    assert_eq!(all.len(), 3);
    all.truncate_front(1);
    assert!(all.get(SegmentKey::Node(Handle { scope: 1, id: 4 })).is_some_and(|s| slots(s).count() == 1));
    assert_eq!(all.len(), 1);
}

#[test]
fn number_changes_are_found_by_parent() {
    let of = |a: &str, b: &str, ids: [u64; 2]| {
        page(&format!("paragraph #{}\n  text \"{a}\"\nparagraph #{}\n  text \"{b}\"", ids[0], ids[1]))
    };
    let key = |id| FactKey::text_at(Handle { scope: 1, id });
    let numbers = |before: &Tree, now: &Tree| compare_texts(before, now).changed_numbers;
    assert_eq!(numbers(&of("1 a", "2 b", [5, 6]), &of("3 a", "2 b", [5, 6])), [key(5)]);
    assert_eq!(numbers(&of("1 a", "2 b", [5, 6]), &of("2 b", "4 a", [6, 5])), [key(5)], "moved");
    assert_eq!(numbers(&of("Ada", "2 b", [5, 6]), &of("Nils", "2 b", [5, 6])), [], "words are records");
    assert_eq!(numbers(&of("1 a", "2 b", [5, 6]), &of("3 a", "2 b", [7, 6])), [], "another node");
    let states = compare_texts(&of("Disk full", "2 b", [5, 6]), &of("Disk empty", "2 b", [5, 6])).states;
    assert_eq!(states, [(key(5), "Disk full".to_owned(), "Disk empty".to_owned())]);
}

#[test]
fn chart_labels_share_a_pattern() {
    let chart = |first: u64, marks: [&str; 4]| {
        let marks = marks.iter().zip(first..);
        let marks: Vec<String> =
            marks.map(|(mark, id)| format!("  generic #{id} tag=span\n    text \"{mark}\"")).collect();
        page(&format!("group #5\n{}\nbutton \"Buy\"* #9", marks.join("\n")))
    };
    let before = chart(10, ["6 s", "7 s", "30", "40"]);
    let after = chart(20, ["7 s", "8 s", "50", "60"]);
    assert_eq!(changes_ticking(&before, &after, |_| false), ["30 > 50", "40 > 60"], "seconds go on");
    let redrawn = compare_texts(&before, &after).rerendered;
    let found = map(&before).changes_to(&map(&after));
    assert!(!found.is_empty() && found.iter().all(|change| redrawn.contains(&change.pattern())), "{found:?}");
    assert!(
        compare_texts(&before, &chart(20, ["6 s", "7 s", "30", "40"])).rerendered.is_empty(),
        "no number is another"
    );
    assert!(
        compare_texts(&before, &chart(20, ["Ada", "Bo", "x", "y"])).rerendered.is_empty(),
        "words are records"
    );
}

#[test]
fn numbers_in_similar_slots_share_a_pattern() {
    let of = |text: &str, tag: &str| {
        page(&format!("paragraph #5 tag={tag}\n  text \"{text}\"\nbutton \"Delete\"* #9"))
    };
    let pattern = |was: &str, now: &str, tag: &str| {
        let found = map(&of(was, tag)).changes_to(&map(&of(now, tag)));
        assert_eq!(found.len(), 1);
        found[0].pattern()
    };
    assert_eq!(pattern("Load 1 %", "Load 2 %", "p"), pattern("Load 7 %", "Load 8,5 %", "p"));
    assert_ne!(pattern("Load 1 %", "Load 2 %", "p"), pattern("Order 1", "Order 2", "p"));
    assert_ne!(pattern("Load 1 %", "Load 2 %", "p"), pattern("Load 1 %", "Load 2 %", "div"));
}
