//! The standing table, the ladder, and the wording of the warnings.

use super::*;
use crate::Standing;

const SAVE: &str = "button \"Save\" #5";
const MOVED: &str = "button \"Save\" #5\nbutton \"Open\" #6";

#[test]
fn current_ref_resolves_without_warning() {
    let mut b = Bench::new("never-reused");
    let save = b.show(&me(), SAVE)[0];
    for resolved in [b.plain(&me(), save), b.pinned(save, g(0))] {
        let resolved = resolved.unwrap();
        assert_eq!((resolved.standing, resolved.warning), (Standing::Current, None));
        assert_eq!(resolved.handle, Some(Handle { scope: 1, id: 5 }));
    }
}

#[test]
fn live_ref_warns_briefly_when_plain_and_precisely_when_pinned() {
    let mut b = Bench::new("never-reused");
    let save = b.show(&me(), SAVE)[0];
    b.capture(MOVED);
    let resolved = b.plain(&me(), save).unwrap();
    assert_eq!(resolved.standing, Standing::Live);
    let warning = resolved.warning.unwrap();
    assert_eq!(warning, "The tree changed since @e1 was issued; the ref still means button \"Save\".");
    assert_eq!(b.pinned(save, g(0)).unwrap().warning, Some(precise(1, 0, 1)));
}

#[test]
fn ref_issued_by_find_is_current_and_renews_no_other() {
    let mut b = Bench::new("never-reused");
    let save = b.show(&me(), SAVE)[0];
    b.capture(MOVED);
    let open = b.issue(&me(), 6);
    assert_eq!(b.pinned(open, g(1)).unwrap().warning, None);
    assert_eq!(b.plain(&me(), open).unwrap().warning, None);
    assert_eq!(b.pinned(save, g(0)).unwrap().warning, Some(precise(1, 0, 1)));
    assert!(b.plain(&me(), save).unwrap().warning.is_some());
    // A pin to a tree other than the one that the ref was issued with: the tree that it was issued
    // with counts.
    assert_eq!(b.pinned(save, g(1)).unwrap().warning, Some(precise(1, 0, 1)));
}

#[test]
fn pin_of_unknown_generation_is_not_found() {
    let mut b = Bench::new("never-reused");
    let save = b.show(&me(), SAVE)[0];
    for (pin, expected) in [
        (Generation::new(SEED - 1), true),
        (g(0), false),
        (g(1), true),
        (Generation::new(0), true),
        (Generation::new(u64::MAX), true),
    ] {
        let result = b.pinned(save, pin);
        assert_eq!(result.is_err(), expected, "{pin}");
        if let Err(fault) = result {
            let RefFault::NotIssued { warning, .. } = fault else { panic!("{fault:?}") };
            let precise = format!(
                "Ref @e1 was minted from snapshot {pin} but the session tree is now {} — re-run snapshot -i.",
                g(0)
            );
            assert_eq!(warning, Some(precise));
        }
    }
    let RefFault::NotIssued { warning, .. } = fault(b.pinned(r(99), g(0))) else { panic!() };
    assert_eq!(warning, None, "nothing moved: a sentence about a move would be false");
}

#[test]
fn ended_ref_is_refused_with_reason_and_precise_warning() {
    let mut b = Bench::new("never-reused");
    let save = b.show(&me(), MOVED)[0];
    b.capture("button \"Open\" #6");
    for (result, expected) in [(b.plain(&me(), save), None), (b.pinned(save, g(0)), Some(precise(1, 0, 1)))] {
        let RefFault::Ended { reason, was, warning, .. } = fault(result) else { panic!() };
        assert_eq!((reason, warning), (EndReason::Gone, expected));
        assert_eq!(was.unwrap().to_string(), "button \"Save\"");
    }
}

#[test]
fn clients_do_not_renew_refs_for_each_other() {
    let mut b = Bench::new("never-reused");
    let save = b.show(&me(), SAVE)[0];
    b.capture(MOVED);
    b.issue_all(&other());
    assert_eq!(b.plain(&other(), save).unwrap().warning, None);
    assert!(b.plain(&me(), save).unwrap().warning.is_some(), "I was not shown the new tree");
    assert_eq!(b.pinned(save, g(0)).unwrap().warning, Some(precise(1, 0, 1)));
    assert_eq!(
        b.pinned(save, g(1)).unwrap().warning,
        None,
        "a client with this pin received the ref with this tree"
    );
}

#[test]
fn unknown_client_uses_the_newest_receipt_of_a_ref() {
    let mut b = Bench::new("never-reused");
    let save = b.show(&me(), SAVE)[0];
    assert_eq!(b.plain(&other(), save).unwrap().warning, None);
    b.capture(MOVED);
    assert!(b.plain(&other(), save).unwrap().warning.is_some());
}

#[test]
fn truncated_capture_proves_no_absence() {
    let mut b = Bench::new("never-reused");
    let save = b.show(&me(), MOVED)[0];
    assert_eq!(b.store("truncated", "button \"Open\" #6", Origin::Internal).ended, []);
    let resolved = b.plain(&me(), save).unwrap();
    assert_eq!((resolved.node, resolved.standing), (None, Standing::Live));
    assert_eq!(resolved.handle, Some(Handle { scope: 1, id: 5 }), "the device can be asked");

    let mut b = Bench::new("none");
    let refs = b.show(&me(), MOVED);
    b.store("truncated", "button \"Open\"\nbutton \"Print\"", Origin::Internal);
    let resolved = b.plain(&me(), refs[1]).unwrap();
    assert_eq!(resolved.standing, Standing::Unproven);
    let warning = resolved.warning.unwrap();
    assert!(warning.starts_with("@e2 may now be another button \"Open\""), "{warning}");
    assert_eq!(b.pinned(refs[1], g(0)).unwrap().warning, Some(precise(2, 0, 1)));
    assert_eq!(b.name(refs[0]), Err(EndReason::Unproven), "there is nothing to act on");
    b.capture(MOVED);
    assert_eq!(b.name(refs[0]).unwrap(), "Save", "the complete capture shows it again");
}

#[test]
fn absent_element_stays_absent_after_truncated_capture() {
    let mut b = Bench::new("never-reused");
    let save = b.show(&me(), MOVED)[0];
    b.capture("button \"Open\" #6");
    b.store("truncated", "button \"Open\" #6", Origin::Internal);
    assert_eq!(b.name(save), Err(EndReason::Gone));
}

#[test]
fn enforce_refuses_unproven_refs_without_warnings() {
    let mut b = Bench::with("never-reused", Ladder::Enforce);
    let save = b.show(&me(), SAVE)[0];
    b.capture(MOVED);
    assert_eq!(b.plain(&me(), save).unwrap().warning, None);
    assert_eq!(b.pinned(save, g(0)).unwrap().warning, None);

    let mut b = Bench::with("none", Ladder::Enforce);
    let open = b.show(&me(), MOVED)[1];
    b.store("truncated", "button \"Open\"\nbutton \"Print\"", Origin::Internal);
    let RefFault::Ended { reason, now, .. } = fault(b.plain(&me(), open)) else { panic!() };
    assert_eq!(reason, EndReason::Unproven);
    assert_eq!(b.session.tree().unwrap().node(now.unwrap()).name(), "Open");
}

#[test]
fn ladder_parses_warn_and_enforce() {
    assert_eq!("warn".parse(), Ok(Ladder::Warn));
    assert_eq!("enforce".parse(), Ok(Ladder::Enforce));
    let error = "Enforce".parse::<Ladder>().unwrap_err();
    assert_eq!(error.to_string(), "`Enforce` is neither `warn` nor `enforce`");
}
