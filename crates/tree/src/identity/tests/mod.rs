//! Properties of the record rule, and the amount of work that it causes.

mod row_part;

use std::fmt::Write as _;

use proptest::prelude::*;

use crate::identity::rows::numbers::is_volatile;
use crate::identity::step_count::count_steps;
use crate::testing::tree;
use crate::{Attr, Document, IdentityGrade, NodeSpec, States, TreeBuilder};
use crate::{Clause, Handle, NoMatch, NodeId, NodeRef, Openers, Records, Role, Tree, Verdict, content_match};

/// Builds the rows of a list from the numbers of their handles and their texts, with a "Delete" in
/// each.
fn list(rows: &[(u64, &str)], grade: &str) -> Tree {
    let mut text =
        format!("page \"Mail\" http://127.0.0.1/ grade={grade}\n  heading \"Mail\" level=1\n  list #2\n");
    for (id, row) in rows {
        write!(
            text,
            "    listitem #{id}\n      text \"{row}\" #{}\n      button \"Delete\"* #{}\n",
            id + 1,
            id + 2
        )
        .expect("a string takes all");
    }
    tree(&text)
}

fn buttons(tree: &Tree) -> Vec<NodeId> {
    tree.nodes().filter(|n| n.role() == Role::Button).map(NodeRef::id).collect()
}

fn rows(texts: &[String], first: u64) -> Vec<(u64, &str)> {
    texts.iter().zip(0..).map(|(t, i)| (first + 10 * i, t.as_str())).collect()
}

/// Generates different names that distinguish records.
fn names(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<String>> {
    proptest::collection::hash_set("[A-Z][a-z]{2,6} [A-Z][a-z]{2,6}", count)
        .prop_map(|names| names.into_iter().filter(|n| !is_volatile(n)).collect::<Vec<_>>())
        .prop_filter("two names", |names| names.len() > 1)
}

/// Generates arbitrary trees: (depth, role, name, text flags) for each node.
fn any_tree() -> impl Strategy<Value = Tree> {
    const ROLES: [Role; 23] = [
        Role::RowHeader,
        Role::Generic,
        Role::Text,
        Role::ListItem,
        Role::List,
        Role::Row,
        Role::Group,
        Role::Article,
        Role::Button,
        Role::Link,
        Role::TextBox,
        Role::Heading,
        Role::Dialog,
        Role::Menu,
        Role::MenuItem,
        Role::Region,
        Role::Form,
        Role::Navigation,
        Role::Banner,
        Role::Status,
        Role::Clickable,
        Role::Main,
        Role::Option,
    ];
    let name = prop_oneof![
        "[A-C]",
        "[0-9]",
        Just(String::new()),
        Just("3 minutes ago".to_owned()),
        "Tab \\([1-3]\\)"
    ];
    let node = (1_usize..6, 0..ROLES.len(), name, any::<u8>());
    proptest::collection::vec(node, 1..60).prop_map(|nodes| {
        let mut builder = TreeBuilder::new(IdentityGrade::NeverReused);
        let document = Document { scope: 1, frame: String::new(), url: "/".into(), title: String::new() };
        builder.document(0, document, 1).expect("a root");
        let mut last = (0, Role::Document);
        for ((depth, role, name, bits), id) in nodes.into_iter().zip(2..) {
            let deepest = if last.1 == Role::Text { last.0 } else { last.0 + 1 };
            let depth = depth.min(deepest.max(1));
            last = (depth, ROLES[role]);
            let has = |bit: u8| bits & 1 << bit != 0;
            let mut states = States::empty();
            states.set(States::ACTIONABLE, ROLES[role].is_control());
            states.set(States::NAME_FROM_CONTENT, has(0));
            states.set(States::LIVE, has(1) && has(2));
            states.set(States::MODAL, has(1) && has(3) && has(4));
            let key = ["", "k1", "k2", "7"][usize::from(bits >> 6)];
            let attrs = [(Attr::DataId, key), (Attr::Href, if has(5) { "/a?b=1" } else { "" })];
            let value = if has(3) { "typed" } else { "" };
            let level = u8::from(ROLES[role] == Role::Heading) + u8::from(has(4));
            let spec = NodeSpec {
                role: Some(ROLES[role]),
                name: &name,
                value,
                states,
                level,
                id,
                attrs: &attrs,
                tag: "",
            };
            builder.node(depth, spec).expect("a node that fits");
        }
        builder.finish().expect("a tree")
    })
}

proptest! {
    /// An issued meaning applies to its own node.
    #[test]
    fn meaning_holds_for_its_own_node(tree in any_tree()) {
        let mut openers = Openers::default();
        let first = Records::new(&tree, &openers).as_opener(NodeId::ROOT);
        openers.note_act(first);
        openers.observe(&tree);
        let (then, now) = (Records::new(&tree, &openers), Records::new(&tree, &openers));
        for n in tree.nodes() {
            let meaning = then.meaning(n.id());
            prop_assert_eq!(now.judge(&meaning, n.id()), Verdict::Same { reads_now: None }, "{:?}", n);
        }
    }

    /// A node that is missing from a tree is matched only by one with the same role.
    #[test]
    fn content_match_never_changes_role(old in any_tree(), new in any_tree()) {
        let openers = Openers::default();
        let (then, now) = (Records::new(&old, &openers), Records::new(&new, &openers));
        for n in old.nodes() {
            let meaning = then.meaning(n.id());
            if let Ok(found) = content_match(&then, n.id(), &meaning, &now) {
                prop_assert_eq!(new.node(found).role(), n.role());
                prop_assert!(now.judge(&meaning, found).is_same());
            }
        }
    }

    /// The text is the only content that distinguishes a row: when it changes, the row is another
    /// record in the very same nodes.
    #[test]
    fn changed_row_text_is_another_record(texts in names(2..8), at in any::<prop::sample::Index>()) {
        let at = at.index(texts.len());
        let mut later = texts.clone();
        later[at] = "Quite another".to_owned();
        let (old, new) = (list(&rows(&texts, 10), "never-reused"), list(&rows(&later, 10), "never-reused"));
        let openers = Openers::default();
        let (then, now) = (Records::new(&old, &openers), Records::new(&new, &openers));
        for (i, node) in buttons(&old).into_iter().enumerate() {
            let meaning = then.meaning(node);
            let expected = if i == at {
                Verdict::Changed(Clause::RowText)
            } else {
                Verdict::Same { reads_now: None }
            };
            prop_assert_eq!(now.judge(&meaning, node), expected);
        }
    }

    /// Sorting moves nodes, and their refs move with them. Patching texts into existing nodes moves
    /// nothing.
    #[test]
    fn record_moves_with_its_row(texts in names(2..8), turn in any::<prop::sample::Index>()) {
        let turn = 1 + turn.index(texts.len() - 1);
        let openers = Openers::default();
        let first = rows(&texts, 10);
        let mut sorted = first.clone();
        sorted.rotate_left(turn);
        let patched: Vec<(u64, &str)> = first.iter().zip(&sorted).map(|(a, b)| (a.0, b.1)).collect();
        let [old, moved, other] = [&first, &sorted, &patched].map(|rows| list(rows, "never-reused"));
        let records = [&old, &moved, &other].map(|t| Records::new(t, &openers));
        for node in buttons(&old) {
            let meaning = records[0].meaning(node);
            let handle = old.node(node).handle().expect("a handle");
            let in_moved = moved.find_handle(handle).expect("the same nodes").id();
            let in_other = other.find_handle(handle).expect("the same nodes").id();
            prop_assert!(records[1].judge(&meaning, in_moved).is_same());
            prop_assert_eq!(records[2].judge(&meaning, in_other), Verdict::Changed(Clause::RowText));
        }
    }

    /// Without handles, the record alone finds the row again; equal rows are refused.
    #[test]
    fn records_match_without_handles(texts in names(2..8), turn in any::<prop::sample::Index>(), twice in any::<bool>()) {
        let mut later = texts.clone();
        later.rotate_left(turn.index(texts.len()));
        if twice {
            later.push(texts[0].clone());
        }
        let (old, new) = (list(&rows(&texts, 10), "none"), list(&rows(&later, 500), "none"));
        let openers = Openers::default();
        let (then, now) = (Records::new(&old, &openers), Records::new(&new, &openers));
        let found = buttons(&new);
        for (i, node) in buttons(&old).into_iter().enumerate() {
            let matched = content_match(&then, node, &then.meaning(node), &now);
            if twice && i == 0 {
                prop_assert_eq!(matched, Err(NoMatch::NotUnique));
            } else {
                let place = later.iter().position(|t| *t == texts[i]).expect("still there");
                prop_assert_eq!(matched, Ok(found[place]));
            }
        }
    }

    /// Typing into a field changes no meaning.
    #[test]
    fn field_values_do_not_change_meanings(values in proptest::collection::vec("[a-c]{0,2}", 2..6), at in any::<prop::sample::Index>()) {
        let form = |values: &[String]| {
            let mut text = "page \"Guests\" http://127.0.0.1/\n  form\n".to_owned();
            for value in values {
                write!(text, "    group \"Guest\"\n      textbox \"Name\" value=\"{value}\"\n      button \"Remove\"*\n").expect("a string");
            }
            tree(&text)
        };
        let mut later = values.clone();
        later[at.index(values.len())] = "typed".to_owned();
        let (old, new) = (form(&values), form(&later));
        let openers = Openers::default();
        let (then, now) = (Records::new(&old, &openers), Records::new(&new, &openers));
        for n in old.nodes() {
            prop_assert!(now.judge(&then.meaning(n.id()), n.id()).is_same());
        }
    }
}

/// Computes the meanings of all elements, judges them all, and matches them all after the list was
/// rendered again.
fn all_the_work(count: u64, text: impl Fn(u64) -> String) -> u64 {
    let texts: Vec<String> = (0..count).map(text).collect();
    let (old, new) = (list(&rows(&texts, 10), "never-reused"), list(&rows(&texts, 100_000), "never-reused"));
    let openers = Openers::default();
    let (then, now) = (Records::new(&old, &openers), Records::new(&new, &openers));
    let found = buttons(&new);
    count_steps(|| {
        for (i, node) in buttons(&old).into_iter().enumerate() {
            let meaning = then.meaning(node);
            assert!(then.judge(&meaning, node).is_same());
            let matched = content_match(&then, node, &meaning, &now);
            assert!(matched == Ok(found[i]), "{matched:?}");
        }
    })
}

/// Builds the rows of a desktop table: header, number of the first handle, and the text of the
/// cells.
fn table(rows: &[(&str, u64, &[&str])]) -> Tree {
    let mut text = "page \"Stock\" http://127.0.0.1/ grade=while-alive\n  table \"Stock\" #2\n".to_owned();
    for (header, id, cells) in rows {
        writeln!(text, "    row #{id}\n      rowheader \"{header}\" #{}", id + 1)
            .expect("a string takes all");
        for (cell, n) in cells.iter().zip(2..) {
            writeln!(text, "      cell \"{cell}\"* #{}", id + n).expect("a string takes all");
        }
    }
    tree(&text)
}

/// Returns whether the last cell of a row is judged to be the same in another tree under its old
/// handle.
fn is_same(old: &Tree, new: &Tree, row: u64, cells: u64) -> bool {
    let (openers, handle) = (Openers::default(), Handle { scope: 1, id: row + 1 + cells });
    let (then, now) = (Records::new(old, &openers), Records::new(new, &openers));
    let at = |tree: &Tree| tree.find_handle(handle).expect("the cell").id();
    now.judge(&then.meaning(at(old)), at(new)).is_same()
}

#[test]
fn row_header_identifies_row_with_equal_cells() {
    let week = table(&[("Ann", 10, &["on", "Swap"]), ("Bob", 20, &["on", "Swap"])]);
    let next = table(&[("Bob", 10, &["on", "Swap"]), ("Ann", 20, &["on", "Swap"])]);
    assert!(is_same(&week, &week, 10, 2));
    assert!(!is_same(&week, &next, 10, 2), "it is the one of Bob now");
}

#[test]
fn fixed_row_header_is_ignored_when_cells_identify_the_row() {
    let stock = table(&[("first", 10, &["Tape", "12", "Order"]), ("second", 20, &["Glue", "7", "Order"])]);
    let sorted = table(&[("first", 20, &["Glue", "7", "Order"]), ("second", 10, &["Tape", "12", "Order"])]);
    assert!(is_same(&stock, &sorted, 10, 3) && is_same(&stock, &sorted, 20, 3));
    // The name of a record belongs to it alone.
    let names = table(&[("first", 10, &["12", "Tape"]), ("second", 20, &["7", "Glue"])]);
    let sorted = table(&[("first", 20, &["7", "Glue"]), ("second", 10, &["12", "Tape"])]);
    assert!(is_same(&names, &sorted, 10, 2) && is_same(&names, &sorted, 20, 2));
}

#[test]
fn row_needs_both_numbers_and_header_to_match() {
    let then = table(&[("Ann", 10, &["1", "Swap"]), ("Bob", 20, &["2", "Swap"])]);
    let others = table(&[("Cem", 10, &["1", "Swap"]), ("Dan", 20, &["2", "Swap"])]);
    assert!(is_same(&then, &then, 10, 2));
    assert!(!is_same(&then, &others, 10, 2), "they are numbered, and the people differ");
    let then = table(&[("first", 10, &["12", "Order"]), ("second", 20, &["7", "Order"])]);
    let next = table(&[("first", 10, &["31", "Order"]), ("second", 20, &["5", "Order"])]);
    assert!(!is_same(&then, &next, 10, 2), "the next page, whose first row is another record");
}

#[test]
fn nameless_row_header_is_no_evidence() {
    let then = table(&[("", 10, &["12", "Order"]), ("second", 20, &["7", "Order"])]);
    let next = table(&[("", 10, &["31", "Order"]), ("second", 20, &["5", "Order"])]);
    assert!(is_same(&then, &then, 10, 2) && !is_same(&then, &next, 10, 2));
}

#[test]
fn work_grows_linearly_with_rows() {
    for text in [|i: u64| format!("Mail M{i}x"), |i: u64| i.to_string()] {
        let (small, large) = (all_the_work(500, text), all_the_work(1000, text));
        assert!(large < small * 22 / 10, "{small} steps for 500 rows, {large} for 1,000");
        assert!(large < 1000 * 100, "{large} steps for 1,000 rows");
    }
}

#[test]
fn meaning_displays_role_name_and_row() {
    let tree = tree(
        r#"
        page "Mail" http://127.0.0.1/
          heading "Inbox" level=2
            text "Inbox"
          button "Compose"*
          list
            listitem
              text "From a very long line of ancestors"
              text "Ann"
              button "Delete"*
            listitem
              text "Bob"
              button "Delete"*
          dialog "Confirm"
            button "Yes"*
        "#,
    );
    let openers = Openers::default();
    let records = Records::new(&tree, &openers);
    let read: Vec<String> = buttons(&tree).into_iter().map(|b| records.meaning(b).to_string()).collect();
    assert_eq!(
        read,
        [
            r#"button "Compose" in section "Inbox""#,
            r#"button "Delete" in row "From a very long line of ancestors Ann""#,
            r#"button "Delete" in row "Bob""#,
            r#"button "Yes" in dialog "Confirm""#,
        ]
    );
    let telling = records.distinguishing_text(buttons(&tree)[2]);
    assert_eq!(telling.as_deref(), Some("Bob"));
}

#[test]
fn long_name_is_cut_and_escaped() {
    let name = "x".repeat(500);
    let tree = tree(&format!("page \"P\" http://127.0.0.1/\n  button \"{name}\"\n"));
    let openers = Openers::default();
    let shown = Records::new(&tree, &openers).meaning(buttons(&tree)[0]).to_string();
    assert!(shown.chars().count() < 140, "{shown}");
}

#[test]
fn meaning_lists_the_handles_of_its_context() {
    let tree = tree(
        r#"
        page "P" http://127.0.0.1/
          main
            heading "Order 17" level=1 #7
              text "Order 17"
            section tag=section #8
              text "Laptop for Ann"
              button "Approve"* #9
        "#
        .replace("section tag=section", "generic tag=section")
        .as_str(),
    );
    let openers = Openers::default();
    let handles = Records::new(&tree, &openers).meaning(buttons(&tree)[0]).context_handles();
    assert_eq!(handles.iter().map(|h| h.id).collect::<Vec<_>>(), [7, 8]);
}

/// Returns the verdict on "Delete" in a window without headings.
fn in_windows(then: &str, now: &str) -> Verdict {
    let [then, now] = [then, now].map(|window| tree(&format!("page \"\" linux:1\n{window}")));
    let openers = Openers::default();
    let meaning = Records::new(&then, &openers).meaning(buttons(&then)[0]);
    Records::new(&now, &openers).judge(&meaning, buttons(&now)[0])
}

#[test]
fn window_without_headings_is_identified_by_labels() {
    let window =
        |title: &str, rest: &str| format!("  window \"{title}\" #2\n{rest}    button \"Delete\"* #9\n");
    let labels = |a: &str, b: &str| format!("    text \"{a}\" #3\n    generic #4\n      text \"{b}\"\n");
    let anna = labels("Order Anna", "Tea for two");
    let judge = |title: &str, rest: &str| in_windows(&window("Orders (2)", &anna), &window(title, rest));
    assert!(judge("Orders (3)", &anna).is_same(), "counts");
    assert!(judge("*Orders (2)", &anna).is_same(), "not saved");
    let saved = |then: &str, now: &str| in_windows(&window(then, &anna), &window(now, &anna)).is_same();
    assert!(saved("(a.txt)", "a.txt") && saved("a.txt* - Edit", "a.txt - Edit"), "not saved, either");
    assert!(
        saved("(a.txt)", "b.txt") && saved("a.txt* - Edit", "b.txt - Edit"),
        "reported, and the same button"
    );
    assert!(judge("Orders (2)", &labels("Order Anna", "Tea for three")).is_same(), "half of it stays");
    assert!(judge("Bruno", &anna).is_same(), "another title");
    let bruno = labels("Order Bruno", "Coffee for one");
    assert!(!judge("Orders (2)", &bruno).is_same() && !judge("Bruno", &bruno).is_same(), "other labels");
    let another =
        |title: &str| in_windows(&window("Anna", &anna), &window(title, &anna).replace("#2", "#12"));
    assert!(another("*Anna (2)").is_same() && !another("Bruno").is_same(), "another window");
    let named = |then: &str, now: &str| in_windows(&window(then, ""), &window(now, "")).is_same();
    assert!(named("", "Anna") && named("Anna", "") && named("Anna", "Bruno"), "the window itself");
    // The title of the window is also a label.
    let titled = |title: &str| window(title, &format!("    text \"{title}\" #3\n"));
    assert!(in_windows(&titled("Draft"), &titled("*Draft")).is_same());
    assert!(in_windows(&titled("Draft •"), &titled("Draft")).is_same());
    assert!(in_windows(&titled("Untitled"), &titled("report.txt")).is_same());
    // The content of a list is not the subject of the window.
    let list = |text: &str| format!("    list #3\n      text \"{text}\"\n");
    assert!(in_windows(&window("Mail", &list("Anna")), &window("Mail", &list("Bruno"))).is_same());
}

#[test]
fn window_menu_survives_title_change() {
    let window = |title: &str, menu: &str| {
        tree(&format!("page \"\" linux:1\n  window \"{title}\" #2\n    button \"More\"* #3\n{menu}"))
    };
    let menu = "  menu \"\" #7\n    menuitem \"Delete\"* #9\n";
    let (closed, open, saved) =
        (window("Untitled", ""), window("Untitled", menu), window("report.txt", menu));
    let mut openers = Openers::default();
    openers.note_act(Records::new(&closed, &openers).as_opener(buttons(&closed)[0]));
    openers.observe(&open);
    let item = |tree: &Tree| tree.find_address(Handle { scope: 1, id: 9 }).unwrap().id();
    let meaning = Records::new(&open, &openers).meaning(item(&open));
    assert!(Records::new(&saved, &openers).judge(&meaning, item(&saved)).is_same());
}

/// Returns the node that "Delete" of a row resolves to in a later list.
fn matched(then: &[(u64, &str)], now: &[(u64, &str)], row: usize) -> Result<usize, NoMatch> {
    let (old, new) = (list(then, "never-reused"), list(now, "never-reused"));
    let openers = Openers::default();
    let (then, now) = (Records::new(&old, &openers), Records::new(&new, &openers));
    let node = buttons(&old)[row];
    let found = content_match(&then, node, &then.meaning(node), &now)?;
    Ok(buttons(&new).iter().position(|b| *b == found).expect("a button of a row"))
}

#[test]
fn several_equal_rows_match_although_others_survived() {
    let then = [(10, "Ada"), (20, "Bo"), (30, "Cy"), (40, "Di")];
    let sorted = [(110, "Di"), (120, "Cy"), (130, "Bo"), (10, "Ada"), (140, "Eve")];
    assert_eq!(matched(&then, &sorted, 1), Ok(2));
    assert_eq!(matched(&then, &sorted, 3), Ok(0));
    let two = [(120, "Cy"), (20, "Bo"), (10, "Ada"), (110, "Di")];
    assert_eq!(matched(&then, &two, 3), Err(NoMatch::SiblingSurvived), "two may have been created");
    let twice = [(110, "Di"), (120, "Cy"), (130, "Bo"), (10, "Ada"), (140, "Bo")];
    assert!(matched(&then, &twice, 1).is_err(), "which of the two is it?");
    let alone = [(10, "Ada"), (20, "Bo"), (30, "Cy"), (140, "Di")];
    assert_eq!(matched(&then, &alone, 3), Err(NoMatch::SiblingSurvived), "deleted and created");
}

#[test]
fn similar_elements_differing_in_counts_match_by_exact_name() {
    let page = |first: u64| {
        tree(&format!(
            "page \"Report\" http://h/\n  heading \"Report\" level=1 #2\n  generic #{first}\n    text \"Choose a range\"\n    \
             button \"Last 7 days\"* #{}\n    button \"Last 30 days\"* #{}\n",
            first + 1,
            first + 2
        ))
    };
    let (old, new) = (page(10), page(20));
    let openers = Openers::default();
    let (then, now) = (Records::new(&old, &openers), Records::new(&new, &openers));
    for (was, is) in buttons(&old).into_iter().zip(buttons(&new)) {
        assert_eq!(content_match(&then, was, &then.meaning(was), &now), Ok(is));
    }
}

#[test]
fn changed_count_in_name_is_reported() {
    let page = |items: &str| tree(&format!("page \"Shop\" http://h/\n  button \"show {items}\"* #3\n"));
    let judge = |before: &str, now: &str| {
        let (old, new, openers) = (page(before), page(now), Openers::default());
        let meaning = Records::new(&old, &openers).meaning(buttons(&old)[0]);
        Records::new(&new, &openers).judge(&meaning, buttons(&new)[0])
    };
    assert_eq!(judge("1 item", "7 items"), Verdict::Same { reads_now: Some("show 7 items".to_owned()) });
    assert_eq!(judge("page 3", "page 4"), Verdict::Changed(Clause::Name));
}

#[test]
fn toolbar_is_not_below_heading_of_following_region() {
    // As in an editor: the title of the document, or of the selection in it, is not a section of
    // the bar above.
    let page = |bar: &str, region: &str, title: &str| {
        tree(&format!(
            "page \"Posts\" http://app.test/edit\n  generic #1\n    {bar} #2\n      button \"Publish\"* #9\n    {region} #3\n      \
             heading \"{title}\"* level=1 #4\n      paragraph \"Some text\"* #5\n"
        ))
    };
    let same = |bar: &str, region: &str| {
        let [then, now] = ["Add title", "My first post"].map(|title| page(bar, region, title));
        let openers = Openers::default();
        let meaning = Records::new(&then, &openers).meaning(buttons(&then)[0]);
        Records::new(&now, &openers).judge(&meaning, buttons(&now)[0]).is_same()
    };
    assert!(same("region \"Editor top bar\"", "region \"Editor content\""));
    assert!(same("generic", "complementary \"Settings\""));
    // An element without a name is the page itself, and so is a heading next to the bar.
    assert!(!same("generic", "region"));
    // A section named by its heading is the content of the page.
    let labelled = |title: &str| page("generic", &format!("region \"{title}\""), title);
    let [then, now] = ["Invoice 1041", "Invoice 1042"].map(labelled);
    let openers = Openers::default();
    let meaning = Records::new(&then, &openers).meaning(buttons(&then)[0]);
    assert!(!Records::new(&now, &openers).judge(&meaning, buttons(&now)[0]).is_same());
    assert!(!same("generic", "generic"));
}
