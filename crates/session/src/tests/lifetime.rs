//! Generations and numbers over one lifetime and the next.

use super::*;
use crate::{BLOCK, NumberError, NumberSource, block};
use std::ops::Range;
use std::sync::{Arc, Mutex};

const SAVE: &str = "button \"Save\" #5";

#[test]
fn first_generation_is_the_seed_and_replacements_increment() {
    let mut b = Bench::new("never-reused");
    assert_eq!(b.session.generation(), None);
    assert_eq!(b.capture(SAVE).generation, g(0));
    assert_eq!(b.store("", SAVE, Origin::Snapshot).generation, g(1), "a snapshot always replaces");
    let equal = b.capture(SAVE);
    assert_eq!((equal.generation, equal.stored), (g(1), false), "a capture replaces unless it is equal");
    let moved = b.capture("button \"Save\" #5 disabled");
    assert_eq!((moved.generation, moved.stored), (g(2), true));
}

#[test]
fn equal_capture_without_handles_updates_addresses() {
    let mut b = Bench::new("none");
    let refs = b.show(&me(), SAVE);
    let equal = b.capture("button \"Save\" #77");
    assert!(!equal.stored);
    let handle = b.plain(&me(), refs[0]).unwrap().handle;
    assert_eq!(handle, Some(Handle { scope: 1, id: 77 }));
}

#[test]
fn refs_count_from_one_in_document_order() {
    let mut b = Bench::new("never-reused");
    assert_eq!(b.show(&me(), "button \"A\" #5\nlink \"B\" #6\nbutton \"C\" #7"), [r(1), r(2), r(3)]);
    assert_eq!(b.show(&me(), "button \"X\" #9\nbutton \"A\" #5\nbutton \"C\" #7"), [r(4), r(1), r(3)]);
}

#[test]
fn no_ref_resolves_before_the_first_tree() {
    let b = Bench::new("never-reused");
    let RefFault::NotIssued { warning, .. } = fault(b.plain(&me(), r(1))) else { panic!() };
    assert_eq!(warning, None);
    let RefFault::NotIssued { warning, .. } = fault(b.pinned(r(1), Generation::new(12))) else { panic!() };
    assert_eq!(
        warning.as_deref(),
        Some("Ref @e1 was minted from snapshot s12 but the session tree is now s0 — re-run snapshot -i.")
    );
}

/// Numbers as the daemon keeps them for a session name.
#[derive(Debug, Clone, Default)]
struct Disk(Arc<Mutex<u32>>);

impl NumberSource for Disk {
    fn reserve(&mut self, least: u32) -> Result<Range<u32>, NumberError> {
        let mut used = self.0.lock().unwrap();
        let first = *used + 1;
        *used += block(least).unwrap();
        Ok(first..*used + 1)
    }
    fn give_back(&mut self, next_unused: u32) {
        *self.0.lock().unwrap() = next_unused - 1;
    }
}

fn lifetime(disk: &Disk, seed: u64) -> Bench {
    let session = Session::new(SessionConfig {
        lifetime: format!("l{seed}"),
        seed: Generation::new(seed),
        ladder: Ladder::Warn,
        numbers: Box::new(disk.clone()),
    });
    Bench { session, grade: "never-reused" }
}

#[test]
fn refs_of_earlier_lifetimes_are_not_issued() {
    let disk = Disk::default();
    let mut first = lifetime(&disk, 111_111);
    assert_eq!(first.show(&me(), SAVE), [r(1)]);
    first.session.close();

    let mut second = lifetime(&disk, 222_222);
    assert_eq!(second.show(&me(), SAVE), [r(2)], "a clean close gives the numbers back");
    let RefFault::NotIssued { warning: None, .. } = fault(second.plain(&me(), r(1))) else { panic!() };
    let RefFault::NotIssued { warning, .. } = fault(second.pinned(r(1), Generation::new(111_111))) else {
        panic!()
    };
    assert_eq!(
        warning.as_deref(),
        Some(
            "Ref @e1 was minted from snapshot s111111 but the session tree is now s222222 — re-run snapshot -i."
        )
    );
    drop(second);

    let mut third = lifetime(&disk, 333_333);
    assert_eq!(third.show(&me(), SAVE), [r(2 + BLOCK)], "a crash skips what was reserved");
    assert!(matches!(fault(third.plain(&me(), r(2))), RefFault::NotIssued { .. }));
}

#[derive(Debug)]
struct Full;

impl NumberSource for Full {
    fn reserve(&mut self, _: u32) -> Result<Range<u32>, NumberError> {
        Err(NumberError::Storage { message: "numbers: no space left".into(), full: true })
    }
    fn give_back(&mut self, _: u32) {}
}

#[test]
fn no_ref_is_issued_when_reservation_fails() {
    let mut b = Bench::new("never-reused");
    b.session = Session::new(SessionConfig {
        lifetime: "full".into(),
        seed: g(0),
        ladder: Ladder::Warn,
        numbers: Box::new(Full),
    });
    b.capture(SAVE);
    let node = b.session.tree().unwrap().find_address(Handle { scope: 1, id: 5 }).unwrap().id();
    let error = b.session.issue(&me(), &[node]).unwrap_err();
    assert_eq!(error.to_string(), "ref numbers could not be reserved: numbers: no space left");
    assert_eq!(b.session.ref_of(node), None);
}
