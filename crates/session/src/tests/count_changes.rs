//! Refs in a record whose count an action of their client incremented.

use super::*;

fn cart(count: &str, name: &str) -> String {
    format!(
        "list #2\n  listitem #3\n    text \"{name}: {count}\" #4\n    button \"More\" #5\n    button \"Less\" #6\n  \
         listitem #7\n    text \"Blue mug: 1\" #8\n    button \"More\" #9\n    button \"Less\" #10"
    )
}

/// Shows the cart to `client`, whose action then turns the page into `then`.
fn act(b: &mut Bench, client: &ClientId, then: &str, stored: bool) -> Vec<Ref> {
    let refs = b.show(&me(), &cart("2", "Green tea"));
    b.session.mark_read_in_full(client);
    b.issue_all(client);
    let before = b.session.tree().unwrap().clone();
    if stored {
        b.capture(then);
        let after = b.session.tree().unwrap().clone();
        b.session.note_effects(client, &before, &after, None);
    } else {
        let after = tree(&format!("page \"P\" / grade=never-reused\n  {}", then.replace('\n', "\n  ")));
        b.session.note_effects(client, &before, &after, None);
        b.capture(then);
    }
    refs
}

#[test]
fn count_changed_by_own_action_ends_no_ref_in_its_row() {
    for stored in [true, false] {
        let mut b = Bench::new("never-reused");
        let refs = act(&mut b, &me(), &cart("3", "Green tea"), stored);
        for r in refs {
            assert!(b.plain(&me(), r).is_ok(), "{r} {stored}");
        }
    }
}

#[test]
fn changed_words_end_refs_of_the_row() {
    for stored in [true, false] {
        let mut b = Bench::new("never-reused");
        let refs = act(&mut b, &me(), &cart("3", "Black tea"), stored);
        let held: Vec<bool> = refs.iter().map(|&r| b.plain(&me(), r).is_ok()).collect();
        assert_eq!(held, [false, false, true, true], "{stored}");
    }
}

#[test]
fn count_changed_by_itself_ends_refs_of_its_row() {
    let mut b = Bench::new("never-reused");
    let refs = b.show(&me(), &cart("2", "Green tea"));
    b.session.mark_read_in_full(&me());
    b.capture(&cart("3", "Green tea"));
    assert!(b.plain(&me(), refs[0]).is_err());
    assert!(b.plain(&me(), refs[2]).is_ok());
}

#[test]
fn other_client_gets_notice_of_changed_count() {
    let mut b = Bench::new("never-reused");
    let refs = b.show(&me(), &cart("2", "Green tea"));
    b.session.mark_read_in_full(&me());
    b.issue_all(&other());
    b.session.mark_read_in_full(&other());
    let before = b.session.tree().unwrap().clone();
    b.capture(&cart("3", "Green tea"));
    let after = b.session.tree().unwrap().clone();
    let (_, kept) = b.session.note_effects(&me(), &before, &after, None);
    assert_eq!(kept, [refs[0], refs[1]]);
    let node = b.plain(&other(), refs[0]).unwrap().node.unwrap();
    assert_eq!(b.session.unseen_changes(&other(), &after, node).len(), 1);
    assert_eq!(b.session.unseen_changes(&me(), &after, node), []);
}
