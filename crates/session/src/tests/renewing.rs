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
fn a_complete_diff_renews_what_it_does_not_list() {
    let mut b = Bench::new("never-reused");
    let refs = b.show(&me(), A);
    b.look(B);
    b.look(C);
    let base = base(&b, &me());
    assert_eq!(base.generation, g(0));
    let listed = b.session.ended_since(&base).unwrap();
    assert_eq!(listed, [refs[1], refs[2]], "also what is outside of every view");
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
fn a_ref_given_before_the_base_is_not_renewed() {
    let mut b = Bench::new("never-reused");
    let save = b.show(&me(), A)[0];
    // A scoped snapshot shows something else; a later full reading does not show Save (another
    // surface
    // of the list).
    b.look(B);
    b.session.mark_full_reading(&me());
    let open = b.issue(&me(), 7);
    b.look(A);
    let base = base(&b, &me());
    assert_eq!(base.generation, g(1));
    let listed = b.session.ended_since(&base).unwrap();
    assert_eq!(b.session.renew(&me(), &base, &listed), [open]);
    assert!(b.plain(&me(), save).unwrap().warning.is_some());
}

#[test]
fn a_renewal_is_for_its_client_only() {
    let mut b = Bench::new("never-reused");
    let save = b.show(&me(), A)[0];
    b.issue_all(&other());
    b.look(B);
    let base = base(&b, &other());
    let listed = b.session.ended_since(&base).unwrap();
    assert!(b.session.renew(&other(), &base, &listed).contains(&save));
    assert_eq!(b.plain(&other(), save).unwrap().warning, None);
    assert!(b.plain(&me(), save).unwrap().warning.is_some());
}

#[test]
fn what_is_listed_as_changed_is_not_renewed_even_if_it_lives() {
    let mut b = Bench::new("never-reused");
    let refs = b.show(&me(), A);
    b.look(&A.replace("#7", "#7 disabled"));
    let base = base(&b, &me());
    assert_eq!(b.session.renew(&me(), &base, &[refs[2]]), [refs[0], refs[1]]);
}

#[test]
fn cut_captures_renew_nothing() {
    let mut b = Bench::new("never-reused");
    b.show(&me(), A);
    b.store("truncated", B, Origin::Look);
    assert_eq!(b.session.ended_since(&base(&b, &me())), None);
    b.session.mark_full_reading(&me());
    b.look(C);
    assert_eq!(b.session.ended_since(&base(&b, &me())), None, "the base was cut");
}

#[test]
fn since_names_the_base_of_a_client_that_pins() {
    let mut b = Bench::new("never-reused");
    b.show(&me(), A);
    b.look(B);
    b.session.mark_full_reading(&other());
    b.look(C);
    assert_eq!(b.session.base(&other(), Some(g(0))).unwrap().generation, g(0), "kept for me, so it is there");
    assert_eq!(b.session.base(&other(), None).unwrap().generation, g(1));
    assert!(b.session.base(&me(), Some(g(9))).is_none(), "never had");
    assert!(b.session.base(&ClientId::new("new"), None).is_none(), "never read anything");
    assert_eq!(b.session.base(&me(), Some(g(2))).unwrap().generation, g(2), "the current one");
}

#[test]
fn what_ended_and_holds_again_is_renewed_and_not_listed() {
    let mut b = Bench::new("never-reused");
    let refs = b.show(&me(), A);
    b.look(B);
    b.look(A);
    let base = base(&b, &me());
    let listed = b.session.ended_since(&base).unwrap();
    assert_eq!(listed, []);
    assert_eq!(b.session.renew(&me(), &base, &listed), refs);
}
