//! Memory stays bounded, and forgotten data is reported as such.

use super::*;
use crate::table::MAX_ENDED;

#[test]
fn refs_ended_first_are_forgotten_first() {
    let mut b = Bench::new("never-reused");
    let body = |from: u64| {
        let line = |i: u64| format!("button \"B{i}\" #{}\n", i + 2);
        (from..from + 1_000).map(line).collect::<String>()
    };
    let first = b.show(&me(), &body(0));
    for page in 1..=4 {
        b.show(&me(), &body(page * 1_000));
    }
    assert_eq!(b.name(first[0]), Err(EndReason::Gone), "4,000 are gone, 4,096 are remembered");
    let base = b.session.base(&me(), None).unwrap();
    let base = crate::BaseTree { generation: g(0), ..base };
    assert_eq!(b.session.ended_since(&base).unwrap().len(), 4_000);

    b.show(&me(), &body(5_000));
    let RefFault::Ended { reason, was, now, warning, .. } = fault(b.pinned(first[0], g(0))) else { panic!() };
    assert_eq!((reason, now), (EndReason::Forgotten, None));
    assert!(was.is_none());
    assert_eq!(warning, Some(precise(1, 0, 5)));
    let remembered = (1..=5_000).filter(|&n| b.name(r(n)) == Err(EndReason::Gone)).count();
    assert_eq!(remembered, MAX_ENDED);
    assert_eq!(b.session.ended_since(&base), None, "a diff that cannot list everything renews nothing");
    assert_eq!(b.name(r(5_001)).unwrap(), "B5000", "live refs are never forgotten");
}

#[test]
fn past_meanings_of_one_element_are_bounded() {
    let mut b = Bench::new("never-reused");
    let first = b.show(&me(), "button \"Name 0 x\" #5")[0];
    for i in 1..40 {
        b.show(&me(), &format!("button \"Name {i} x\" #5"));
    }
    assert_eq!(b.name(first), Err(EndReason::Forgotten));
    b.show(&me(), "button \"Name 30 x\" #5");
    assert_eq!(b.name(r(31)).unwrap(), "Name 30 x", "a later one is remembered");
}

#[test]
fn trees_kept_for_absent_elements_are_bounded() {
    let mut b = Bench::new("never-reused");
    for i in 0..100_u64 {
        b.show(&ClientId::new(&format!("client {i}")), &format!("button \"B{i}\" #{}", i + 5));
    }
    assert!(b.session.retained.len() <= crate::retained::MAX_TREES);
}

#[test]
fn truncated_captures_do_not_accumulate_elements() {
    let mut b = Bench::new("never-reused");
    for page in 0..6_u64 {
        let line = |i: u64| format!("button \"B{i}\" #{}\n", i + 2);
        let body = (page * 1_000..(page + 1) * 1_000).map(line).collect::<String>();
        b.store("truncated", &body, Origin::Snapshot);
        b.issue_all(&me());
    }
    let known = (1..=6_000).filter(|&n| b.plain(&me(), r(n)).is_ok()).count();
    assert_eq!(known, MAX_ENDED + 1_000);
    assert_eq!(fault_reason(&b, 1), EndReason::Forgotten);
}

fn fault_reason(b: &Bench, number: u32) -> EndReason {
    match fault(b.plain(&me(), r(number))) {
        RefFault::Ended { reason, .. } => reason,
        fault => panic!("{fault:?}"),
    }
}
