//! Complete diffs renew.

use super::*;
use crate::BaseTree;

const A: &str = "paragraph \"Song\" #4\nbutton \"Save\" #5\nbutton \"Play\" #6\nbutton \"Open\" #7";
const B: &str = "paragraph \"Song\" #4\nbutton \"Save\" #5\nbutton \"Stop\" #6\nbutton \"Open\" #7";
const C: &str = "paragraph \"Song\" #4\nbutton \"Save\" #5\nbutton \"Stop\" #6";

fn base(b: &Bench, client: &ClientId) -> BaseTree {
    b.session.base(client, None).expect("a base")
}

#[test]
fn complete_diff_renews_unlisted_refs() {
    let mut b = Bench::new("never-reused");
    let refs = b.show(&me(), A);
    b.capture(B);
    b.capture(C);
    let base = base(&b, &me());
    assert_eq!(base.generation, g(0));
    let listed = b.session.ended_since(&base).unwrap();
    assert_eq!(listed, [refs[1], refs[2]], "refs outside every view are listed too");
    assert_eq!(b.session.renew(&me(), &base, &listed), [refs[0]]);
    assert_eq!(b.plain(&me(), refs[0]).unwrap().warning, None);
    assert_eq!(b.pinned(refs[0], g(2)).unwrap().warning, None);
    assert_eq!(
        b.pinned(refs[0], g(0)).unwrap().warning,
        Some(precise(1, 0, 2)),
        "an older pin keeps its age"
    );
    assert_eq!(b.session.base(&me(), None).unwrap().generation, g(2), "the next diff starts here");
}

#[test]
fn ref_received_before_base_is_not_renewed() {
    let mut b = Bench::new("never-reused");
    let save = b.show(&me(), A)[0];
    // The full read of `B` becomes the base but does not issue Save again.
    b.capture(B);
    b.session.mark_read_in_full(&me());
    let open = b.issue(&me(), 7);
    b.capture(A);
    let base = base(&b, &me());
    assert_eq!(base.generation, g(1));
    let listed = b.session.ended_since(&base).unwrap();
    assert_eq!(b.session.renew(&me(), &base, &listed), [open]);
    assert!(b.plain(&me(), save).unwrap().warning.is_some());
}

#[test]
fn renewal_applies_to_one_client() {
    let mut b = Bench::new("never-reused");
    let save = b.show(&me(), A)[0];
    b.issue_all(&other());
    b.capture(B);
    let base = base(&b, &other());
    let listed = b.session.ended_since(&base).unwrap();
    assert!(b.session.renew(&other(), &base, &listed).contains(&save));
    assert_eq!(b.plain(&other(), save).unwrap().warning, None);
    assert!(b.plain(&me(), save).unwrap().warning.is_some());
}

#[test]
fn ref_listed_as_changed_is_not_renewed() {
    let mut b = Bench::new("never-reused");
    let refs = b.show(&me(), A);
    b.capture(&A.replace("#7", "#7 disabled"));
    let base = base(&b, &me());
    assert_eq!(b.session.renew(&me(), &base, &[refs[2]]), [refs[0], refs[1]]);
}

#[test]
fn truncated_captures_renew_nothing() {
    let mut b = Bench::new("never-reused");
    b.show(&me(), A);
    b.store("truncated", B, Origin::Internal);
    assert_eq!(b.session.ended_since(&base(&b, &me())), None);
    b.session.mark_read_in_full(&me());
    b.capture(C);
    assert_eq!(b.session.ended_since(&base(&b, &me())), None, "the base was cut");
}

#[test]
fn since_selects_the_base_of_a_pinning_client() {
    let mut b = Bench::new("never-reused");
    b.show(&me(), A);
    b.capture(B);
    b.session.mark_read_in_full(&other());
    b.capture(C);
    assert_eq!(b.session.base(&other(), Some(g(0))).unwrap().generation, g(0), "`me` still needs it");
    assert_eq!(b.session.base(&other(), None).unwrap().generation, g(1));
    assert!(b.session.base(&me(), Some(g(9))).is_none(), "never had");
    assert!(b.session.base(&ClientId::new("new"), None).is_none(), "never read anything");
    assert_eq!(b.session.base(&me(), Some(g(2))).unwrap().generation, g(2), "the current one");
}

#[test]
fn ref_that_ended_and_returned_is_renewed() {
    let mut b = Bench::new("never-reused");
    let refs = b.show(&me(), A);
    b.capture(B);
    b.capture(A);
    let base = base(&b, &me());
    let listed = b.session.ended_since(&base).unwrap();
    assert_eq!(listed, []);
    assert_eq!(b.session.renew(&me(), &base, &listed), refs);
}
