//! Which element a number refers to, across changes and absences.

use super::*;

#[test]
fn returning_meaning_gets_its_old_number() {
    let mut b = Bench::new("never-reused");
    let play = b.show(&me(), "paragraph \"Song\" #4\nbutton \"Play\" #5")[0];
    let replaced = b.capture("paragraph \"Song\" #4\nbutton \"Pause\" #5");
    assert_eq!(replaced.ended, [play]);
    let RefFault::Ended { reason, was, now, .. } = fault(b.plain(&me(), play)) else { panic!() };
    assert_eq!(reason, EndReason::Changed);
    assert!(was.unwrap().to_string().starts_with("button \"Play\""));
    let pause = b.session.issue(&me(), &[now.unwrap()]).unwrap()[0];
    assert_ne!(pause, play);
    assert_eq!(b.name(play), Err(EndReason::Changed), "the same command again is refused again");

    let replaced = b.capture("paragraph \"Song\" #4\nbutton \"Play\" #5");
    assert_eq!(replaced.ended, [pause]);
    assert_eq!(b.name(play).unwrap(), "Play");
    assert_eq!(b.issue(&me(), 5), play);
    assert_eq!(b.name(pause), Err(EndReason::Changed));
}

#[test]
fn never_reused_handle_finds_element_after_absence() {
    for (grade, found) in [("never-reused", Ok("Save".to_owned())), ("while-alive", Err(EndReason::Gone))] {
        let mut b = Bench::new(grade);
        let save = b.show(&me(), "button \"Save\" #5\nbutton \"Open\" #6")[0];
        assert_eq!(b.capture("button \"Open\" #6").ended, [save]);
        assert_eq!(b.name(save), Err(EndReason::Gone));
        b.capture("button \"Save\" #5\nbutton \"Open\" #6");
        assert_eq!(b.name(save), found, "{grade}");
    }
}

#[test]
fn reused_handle_gets_a_new_ref() {
    let mut b = Bench::new("while-alive");
    let save = b.show(&me(), "button \"Save\" #5\nbutton \"Open\" #6")[0];
    b.capture("button \"Open\" #6");
    let again = b.show(&me(), "button \"Save\" #5\nbutton \"Open\" #6")[0];
    assert_ne!(again, save);
    assert_eq!(b.name(save), Err(EndReason::Gone));
    assert_eq!(b.name(again).unwrap(), "Save");
}

#[test]
fn hidden_element_is_gone_and_keeps_its_handle() {
    for grade in ["never-reused", "while-alive"] {
        let mut b = Bench::new(grade);
        let save = b.show(&me(), "button \"Save\" #5\nbutton \"Open\" #6")[0];
        b.store("hidden=5", "button \"Open\" #6", Origin::Internal);
        assert_eq!(b.name(save), Err(EndReason::Gone), "{grade}");
        assert!(b.session.watched_handles().contains(&Handle { scope: 1, id: 5 }), "it may come back");
        b.capture("button \"Save\" #5\nbutton \"Open\" #6");
        assert_eq!(b.name(save).unwrap(), "Save", "{grade}");
    }
}

#[test]
fn hidden_element_is_not_content_matched() {
    let mut b = Bench::new("never-reused");
    let body = "main #2\n  group #3\n    text \"Draft\"\n    button \"Save\" #5\n    button \"Open\" #6";
    let save = b.show(&me(), body)[0];
    let copy = body.replace("#3", "#13").replace("#5", "#15").replace("#6", "#16");
    b.store("hidden=3,5,6", &copy, Origin::Internal);
    assert_eq!(b.name(save), Err(EndReason::Gone), "the old node is still there");
    b.capture(&copy);
    assert_eq!(b.name(save), Err(EndReason::Gone), "both existed at once, so the copy is another element");
}

#[test]
fn ref_on_other_surface_is_elsewhere_until_shown() {
    for grade in ["never-reused", "while-alive"] {
        let mut b = Bench::new(grade);
        let save = b.show(&me(), "button \"Save\" #5")[0];
        b.store("surface=2 scope=9", "button \"Save\" #5", Origin::Internal);
        assert_eq!(b.name(save), Err(EndReason::Elsewhere), "{grade}");
        assert!(b.session.watched_handles().is_empty(), "another surface cannot be asked for it");
        b.capture("button \"Save\" #5");
        assert_eq!(b.name(save).unwrap(), "Save", "{grade}");
    }
}

#[test]
fn gone_error_names_the_unique_similar_element() {
    let mut b = Bench::new("while-alive");
    let save = b.show(&me(), "button \"Save\" #5\nbutton \"Open\" #6")[0];
    b.capture("button \"Open\" #6");
    let now = |b: &Bench| match fault(b.plain(&me(), save)) {
        RefFault::Ended { reason: EndReason::Gone, now, .. } => now,
        fault => panic!("{fault:?}"),
    };
    assert_eq!(now(&b), None);
    b.capture("button \"Open\" #6\nbutton \"Save\" #7");
    assert_eq!(b.session.tree().unwrap().node(now(&b).unwrap()).handle(), Some(Handle { scope: 1, id: 7 }));
    b.capture("button \"Open\" #6\nbutton \"Save\" #7\nbutton \"Save\" #8");
    assert_eq!(now(&b), None, "two are not one");
}

#[test]
fn gone_error_carries_the_last_handle() {
    for grade in ["never-reused", "while-alive"] {
        let mut b = Bench::new(grade);
        let save = b.show(&me(), "button \"Save\" #5\nbutton \"Open\" #6")[0];
        b.capture("button \"Open\" #6");
        let RefFault::Ended { handle, .. } = fault(b.plain(&me(), save)) else { panic!() };
        assert_eq!(handle, Some(Handle { scope: 1, id: 5 }), "{grade}");
    }
    // Another element may have that name by then: the ref does not resolve to it.
    let mut b = Bench::new("while-alive");
    let save = b.show(&me(), "button \"Save\" #5\nbutton \"Open\" #6")[0];
    b.capture("button \"Open\" #6");
    b.capture("button \"Open\" #6\nbutton \"Save\" #5");
    assert_eq!(b.name(save), Err(EndReason::Gone));
}

#[test]
fn distinguished_node_is_never_confused_later() {
    // The row of e1 is deleted and a new equal row is created: they can be distinguished because a
    // sibling row is alive.
    let row = |row: u64, name: &str, button: u64| {
        format!("  listitem #{row}\n    text \"{name}\"\n    button \"Delete\" #{button}\n")
    };
    let list = |rows: &[String]| format!("list #2\n{}", rows.concat());
    let mut b = Bench::new("never-reused");
    let old = b.show(&me(), &list(&[row(3, "Notes", 4), row(5, "Untitled", 6)]))[1];
    b.capture(&list(&[row(3, "Notes", 4)]));
    let new = b.show(&me(), &list(&[row(3, "Notes", 4), row(7, "Untitled", 8)]))[1];
    assert_ne!(old, new);
    // The list is rendered again: only the row that was there last is found again.
    let anew = list(&[row(13, "Notes", 14), row(17, "Untitled", 18)]).replace("list #2", "list #12");
    b.capture(&anew);
    assert_eq!(b.name(new).unwrap(), "Delete");
    assert_eq!(b.name(old), Err(EndReason::Gone));
}

#[test]
fn keyed_row_is_found_after_absence_in_every_grade() {
    let rows = |from: u64, keys: &[(&str, &str)]| {
        let mut text = "list #2\n".to_owned();
        for (i, (key, name)) in keys.iter().enumerate() {
            let id = from + 10 * i as u64;
            text += &format!(
                "  listitem #{id} data-key={key}\n    text \"{name}\"\n    button \"Delete\" #{}\n",
                id + 1
            );
        }
        text
    };
    let (page1, page2) = ([("k9", "Anna"), ("k3", "Berta")], [("k7", "Carla"), ("k1", "Dora")]);
    for grade in ["never-reused", "while-alive", "none"] {
        let mut b = Bench::new(grade);
        let anna = b.show(&me(), &rows(100, &page1))[0];
        b.capture(&rows(200, &page2));
        assert_eq!(b.name(anna), Err(EndReason::Gone), "{grade}");
        b.capture(&rows(300, &page1));
        let node = b.plain(&me(), anna).unwrap().node.unwrap();
        let address = b.session.tree().unwrap().node(node).address();
        assert_eq!(address, Some(Handle { scope: 1, id: 301 }), "{grade}");
    }
}

#[test]
fn most_recent_of_two_candidates_gets_the_node() {
    let bar = |from: u64, names: [&str; 4]| {
        let mut text = format!("main #2\n  group #{from}\n    button \"Rename\" #{}\n", from + 1);
        for (i, name) in names.iter().enumerate() {
            text += &format!("    button \"{name}\" #{}\n", from + 2 + i as u64);
        }
        text
    };
    let mut b = Bench::new("never-reused");
    let old = b.show(&me(), &bar(10, ["Open", "Print", "Copy", "Paste"]))[0];
    let new = b.show(&me(), &bar(20, ["Open", "Print", "Send", "Share"]))[0];
    assert_ne!(old, new, "half of what is around it is something else");
    b.capture(&bar(30, ["Open", "Print", "Copy", "Send"]));
    assert_eq!(b.name(new).unwrap(), "Rename");
    assert_eq!(b.name(old), Err(EndReason::Gone));
}

/// A tree that is stored again is not searched, but an equal one is: the caller does not notice the
/// difference.
#[test]
fn restored_equal_tree_keeps_all_refs() {
    let row =
        |id: u64, text: &str| format!("listitem #{id}\n  text \"{text}\"\n  button \"Open\" #{}\n", id + 1);
    let pages = [
        format!(
            "list #1\n  {}",
            [row(10, "Anna"), row(20, "Ben"), row(30, "Cleo")].concat().replace('\n', "\n  ")
        ),
        // Ben is gone, and Cleo's row shows Dora.
        format!("list #1\n  {}", [row(10, "Anna"), row(30, "Dora")].concat().replace('\n', "\n  ")),
        format!(
            "list #1\n  {}",
            [row(40, "Ben"), row(10, "Anna"), row(30, "Cleo")].concat().replace('\n', "\n  ")
        ),
    ];
    for grade in ["never-reused", "while-alive"] {
        let stand = |again: bool| {
            let mut b = Bench::new(grade);
            let mut stood = Vec::new();
            let mut refs = Vec::new();
            for page in &pages {
                b.store("", page, Origin::Internal);
                refs.extend(b.issue_all(&me()));
                let stored = b.session.tree().unwrap().clone();
                let stored = if again { stored } else { std::sync::Arc::new((*stored).clone()) };
                let replaced = b.session.replace_tree(stored, Origin::Snapshot);
                assert!(replaced.stored && replaced.ended.is_empty(), "{replaced:?}");
                stood.push(refs.iter().map(|&r| b.name(r)).collect::<Vec<_>>());
            }
            (refs, stood)
        };
        assert_eq!(stand(true), stand(false), "{grade}");
    }
}

/// Between two captures of an equal tree, an action may reveal what opened the popup in it.
#[test]
fn opener_learned_between_equal_trees_is_applied() {
    let mut b = Bench::new("never-reused");
    let body = "list #1\n  listitem #10\n    text \"Anna\"\n    button \"More\" #11\n  listitem #20\n    text \"Ben\"\n    \
                button \"More\" #21\n";
    b.show(&me(), body);
    let tree = b.session.tree().unwrap().clone();
    let node = |tree: &stickpin_tree::Tree, id| tree.find_address(Handle { scope: 1, id }).unwrap().id();
    b.session.note_act(node(&tree, 11));
    let refs = b.show(&me(), &format!("{body}menu #5\n  menuitem \"Delete\" #6\n"));
    let delete = *refs.last().unwrap();
    let tree = b.session.tree().unwrap().clone();
    // The menu was closed and opened again by the other row, without a capture in between.
    b.session.note_act(node(&tree, 21));
    b.session.replace_tree(tree, Origin::Snapshot);
    assert_eq!(b.name(delete), Err(EndReason::Changed));
}
