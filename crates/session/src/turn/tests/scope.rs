//! Unit tests of loans, and invariants over random runs of lending and reclaiming.

use crate::timestamp::Timestamp;
use crate::turn::scope::*;
use crate::turn::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn target(name: &str) -> TargetId {
    TargetId::new(name)
}

fn rule(verbs: &[Verb], on: &str) -> ScopeRule {
    let selector = if on == "*" { TargetSelector::Any } else { TargetSelector::Target(target(on)) };
    ScopeRule { verbs: verbs.iter().copied().collect(), target: selector, constraint: None }
}

fn on_origins(mut rule: ScopeRule, origins: &[&str]) -> ScopeRule {
    let origins = Some(origins.iter().map(|o| (*o).to_owned()).collect());
    rule.constraint = Some(Constraint { origins, ..Constraint::default() });
    rule
}

fn at(origin: &str) -> Facts {
    Facts { origin: Some(origin.into()), ..Facts::default() }
}

fn loan(id: &str, lender: &str, borrower: &str, rules: Vec<ScopeRule>) -> Loan {
    Loan {
        loan_id: LoanId::new(id),
        lender: lender.into(),
        borrower: borrower.into(),
        rules,
        state: LoanState::Pending,
        turn_bound: false,
        opened_seq: 1,
        expires_at: None,
        expires_mono: None,
        parent_loan: None,
    }
}

/// Sessions `shop`, `child` and `grand`; `shop` has the page `page`.
fn shop() -> Ledger {
    let mut ledger = Ledger::default();
    let allow = vec![rule(&[Verb::Observe, Verb::Act, Verb::Admin], "*")];
    let scope = BaseScope { allow, deny: Vec::new() };
    ledger.set_session("shop", Holding { targets: [target("page")].into(), scope });
    ledger.set_session("child", Holding::default());
    ledger.set_session("grand", Holding::default());
    ledger
}

fn lend(ledger: &mut Ledger, loan: Loan) -> Result<(), ScopeError> {
    let id = ledger.lend(loan)?.loan_id.clone();
    set_state(ledger, &id, LoanState::Active);
    Ok(())
}

/// Records another state of a loan, as the coordinator does from the log.
fn set_state(ledger: &mut Ledger, id: &LoanId, state: LoanState) {
    let loan = ledger.loans().find(|loan| loan.loan_id == *id).expect("an open loan").clone();
    ledger.restore_loan(Loan { state, ..loan });
}

fn may(ledger: &Ledger, session: &str, verb: Verb, facts: &Facts) -> bool {
    ledger.permit(session, verb, &target("page"), facts).is_ok()
}

#[test]
fn lent_act_is_exclusive_and_observe_is_shared() {
    let mut ledger = shop();
    lend(&mut ledger, loan("l1", "shop", "child", vec![rule(&[Verb::Observe, Verb::Act], "page")])).unwrap();
    let here = Facts::default();
    assert!(may(&ledger, "child", Verb::Act, &here) && may(&ledger, "shop", Verb::Observe, &here));
    let denied = ledger.permit("shop", Verb::Act, &target("page"), &here);
    let cause = Denial::Lent { to: "child".into(), rule: rule(&[Verb::Observe, Verb::Act], "page") };
    assert!(matches!(denied, Err(ScopeError::Denied { cause: found, .. }) if *found == cause));
    assert!(may(&ledger, "shop", Verb::Admin, &here), "scope that was not lent stays");
    ledger.reclaim(&LoanId::new("l1"), false);
    assert!(may(&ledger, "shop", Verb::Act, &here) && !may(&ledger, "child", Verb::Act, &here));
    assert_eq!(ledger.reclaim(&LoanId::new("l1"), false).ended, []);
}

#[test]
fn pending_and_reclaiming_loans_let_nobody_act() {
    let mut ledger = shop();
    let id = LoanId::new("l1");
    ledger.lend(loan("l1", "shop", "child", vec![rule(&[Verb::Act], "page")])).unwrap();
    let nobody =
        |ledger: &Ledger| ["shop", "child"].iter().all(|s| !may(ledger, s, Verb::Act, &Facts::default()));
    assert!(nobody(&ledger));
    set_state(&mut ledger, &id, LoanState::Active);
    assert!(!nobody(&ledger));
    set_state(&mut ledger, &id, LoanState::Reclaiming);
    assert!(nobody(&ledger));
}

#[test]
fn loan_beyond_the_lenders_scope_is_refused() {
    let mut ledger = shop();
    let beyond = |rule: usize, lender: &str| Err(ScopeError::LoanNotSubset { lender: lender.into(), rule });
    let act = rule(&[Verb::Act], "page");
    assert_eq!(
        lend(&mut ledger, loan("l", "shop", "child", vec![act.clone(), rule(&[Verb::Act], "mail")])),
        beyond(2, "shop")
    );
    assert_eq!(lend(&mut ledger, loan("l", "child", "grand", vec![act.clone()])), beyond(1, "child"));
    lend(&mut ledger, loan("l1", "shop", "child", vec![on_origins(act.clone(), &["https://a"])])).unwrap();
    assert_eq!(lend(&mut ledger, loan("l2", "child", "grand", vec![act.clone()])), beyond(1, "child"));
    let conflict = ScopeError::LoanConflict { holder: "child".into(), rule: 1 };
    assert_eq!(lend(&mut ledger, loan("l3", "shop", "grand", vec![act.clone()])), Err(conflict));
    let other = on_origins(act.clone(), &["https://b"]);
    lend(&mut ledger, loan("l4", "shop", "grand", vec![other])).unwrap();
    let cycle = lend(&mut ledger, loan("l5", "child", "shop", vec![on_origins(act, &["https://a"])]));
    assert!(matches!(cycle, Err(ScopeError::LoanCycle { .. })), "{cycle:?}");
}

#[test]
fn rule_that_several_rules_of_the_lender_cover_together_is_lent() {
    let act = rule(&[Verb::Act], "page");
    let both = rule(&[Verb::Act, Verb::Admin], "page");
    let allow = vec![
        on_origins(both.clone(), &["https://a", "https://b"]),
        on_origins(act.clone(), &["https://c"]),
        rule(&[Verb::Observe], "*"),
    ];
    let requested = |rule: ScopeRule| {
        let mut ledger = shop();
        let scope = BaseScope { allow: allow.clone(), deny: vec![] };
        ledger.set_session("shop", Holding { targets: [target("page")].into(), scope });
        lend(&mut ledger, loan("l1", "shop", "child", vec![rule])).is_ok()
    };
    assert!(requested(on_origins(act.clone(), &["https://a", "https://c"])));
    assert!(requested(on_origins(rule(&[Verb::Observe, Verb::Act], "page"), &["https://b", "https://c"])));
    assert!(!requested(on_origins(both, &["https://a", "https://c"])), "nobody may administer the last one");
    assert!(!requested(on_origins(act.clone(), &["https://a", "https://d"])));
    assert!(!requested(act), "any origin");
}

#[test]
fn denials_of_every_lender_hold() {
    let mut ledger = shop();
    let deny = vec![on_origins(rule(&[Verb::Act], "*"), &["https://bank"])];
    let allow = vec![rule(&[Verb::Act], "*")];
    let scope = BaseScope { allow, deny };
    ledger.set_session("shop", Holding { targets: [target("page")].into(), scope });
    let all = loan("l", "shop", "child", vec![rule(&[Verb::Act], "page")]);
    assert!(lend(&mut ledger, all).is_err(), "a rule that includes a denied scope is not a subset");
    let part = on_origins(rule(&[Verb::Act], "page"), &["https://shop"]);
    lend(&mut ledger, loan("l1", "shop", "child", vec![part.clone()])).unwrap();
    lend(&mut ledger, loan("l2", "child", "grand", vec![part])).unwrap();
    assert!(may(&ledger, "grand", Verb::Act, &at("https://shop")));
    for session in ["shop", "child", "grand"] {
        assert!(!may(&ledger, session, Verb::Act, &at("https://bank")), "{session}");
    }
    ledger.reclaim(&LoanId::new("l1"), true);
    assert!(!may(&ledger, "shop", Verb::Act, &at("https://bank")));
    assert!(may(&ledger, "shop", Verb::Act, &at("https://shop")));
}

#[test]
fn denial_added_after_lending_reaches_every_borrower() {
    let mut ledger = shop();
    let act = || vec![rule(&[Verb::Act], "page")];
    lend(&mut ledger, loan("l1", "shop", "child", act())).unwrap();
    lend(&mut ledger, loan("l2", "child", "grand", act())).unwrap();
    let scope = BaseScope { allow: act(), deny: vec![on_origins(act().remove(0), &["https://bank"])] };
    ledger.set_session("shop", Holding { targets: [target("page")].into(), scope });
    assert!(may(&ledger, "grand", Verb::Act, &at("https://shop")));
    assert!(!may(&ledger, "grand", Verb::Act, &at("https://bank")));
}

#[test]
fn unknown_place_is_denied() {
    let mut ledger = shop();
    let part = on_origins(rule(&[Verb::Act], "page"), &["https://shop"]);
    lend(&mut ledger, loan("l1", "shop", "child", vec![part])).unwrap();
    assert!(!may(&ledger, "child", Verb::Act, &Facts::default()), "the page has no origin yet");
    assert!(!may(&ledger, "shop", Verb::Act, &Facts::default()), "it could be the one that was lent");
    assert!(may(&ledger, "shop", Verb::Act, &at("https://other")));
}

#[test]
fn folder_is_compared_by_component() {
    let mut only = rule(&[Verb::Act], "page");
    let roots = Some(BTreeSet::from(["/home/ana".to_owned()]));
    only.constraint = Some(Constraint { file_roots: roots, ..Constraint::default() });
    let mut ledger = shop();
    lend(&mut ledger, loan("l1", "shop", "child", vec![only])).unwrap();
    let file = |path: &str| Facts { file: Some(path.into()), ..Facts::default() };
    assert!(may(&ledger, "child", Verb::Act, &file("/home/ana/a.png")));
    assert!(!may(&ledger, "child", Verb::Act, &file("/home/ana2/a.png")));
}

#[test]
fn reclaim_passes_parts_to_the_lender_or_ends_them() {
    let act = || vec![rule(&[Verb::Act], "page")];
    let mut ledger = shop();
    lend(&mut ledger, loan("l1", "shop", "child", act())).unwrap();
    lend(&mut ledger, loan("l2", "child", "grand", act())).unwrap();
    let mut cascading = ledger.clone();
    let reclaimed = ledger.reclaim(&LoanId::new("l1"), false);
    assert_eq!(reclaimed.reparented.len(), 1);
    assert_eq!(
        (reclaimed.reparented[0].lender.as_str(), &reclaimed.reparented[0].parent_loan),
        ("shop", &None)
    );
    assert!(may(&ledger, "grand", Verb::Act, &Facts::default()), "the work goes on");
    assert!(!may(&ledger, "shop", Verb::Act, &Facts::default()));

    let ended: Vec<_> = cascading.reclaim(&LoanId::new("l1"), true).ended;
    let ids: Vec<&str> = ended.iter().map(|l| l.loan_id.as_str()).collect();
    assert_eq!(ids, ["l2", "l1"], "the farthest first");
    assert!(may(&cascading, "shop", Verb::Act, &Facts::default()));
}

#[test]
fn deadline_passes_by_its_clock_and_by_reboot() {
    let now = |ms, boot: &str| Now { mono_ms: ms, boot_id: boot.into(), wall: Timestamp::from_millis(0) };
    let at = now(0, "one").after(500);
    assert!(!now(499, "one").has_passed(&at));
    assert!(now(500, "one").has_passed(&at) && now(0, "two").has_passed(&at));
}

const SESSIONS: [&str; 4] = ["s0", "s1", "s2", "s3"];
const ORIGINS: [&str; 3] = ["https://a", "https://b", "https://c"];

#[derive(Debug, Clone)]
enum Op {
    Lend { from: usize, to: usize, on: usize, origins: Option<Vec<usize>>, verbs: Vec<Verb> },
    Activate(usize),
    Begin(usize),
    Reclaim(usize, bool),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let who = 0..SESSIONS.len();
    let verbs = proptest::sample::subsequence(vec![Verb::Observe, Verb::Act, Verb::Admin], 1..=3);
    let origins = proptest::option::of(proptest::sample::subsequence(vec![0, 1, 2], 1..=3));
    let lend = (who.clone(), who.clone(), who, origins, verbs)
        .prop_map(|(from, to, on, origins, verbs)| Op::Lend { from, to, on, origins, verbs });
    let op = prop_oneof![
        6 => lend,
        5 => (0..20_usize).prop_map(Op::Activate),
        1 => (0..20_usize).prop_map(Op::Begin),
        3 => (0..20_usize, any::<bool>()).prop_map(|(at, cascade)| Op::Reclaim(at, cascade)),
    ];
    proptest::collection::vec(op, 1..40)
}

/// Returns a ledger in which every session may do everything on its own target, except act on the
/// third origin in `s0`.
fn world() -> Ledger {
    let mut ledger = Ledger::default();
    for (at, name) in SESSIONS.iter().enumerate() {
        let allow = vec![rule(&[Verb::Observe, Verb::Act, Verb::Admin], "*")];
        let deny = if at == 0 { vec![on_origins(rule(&[Verb::Act], "*"), &ORIGINS[2..])] } else { vec![] };
        let targets = [target(&format!("t{at}"))].into();
        ledger.set_session(*name, Holding { targets, scope: BaseScope { allow, deny } });
    }
    ledger
}

fn run(ledger: &mut Ledger, op: Op, opened: &mut usize) {
    let pick = |ledger: &Ledger, at: usize| {
        let ids: Vec<LoanId> = ledger.loans().map(|l| l.loan_id.clone()).collect();
        ids.get(at % ids.len().max(1)).cloned()
    };
    match op {
        Op::Lend { from, to, on, origins, verbs } => {
            *opened += 1;
            let mut rule = rule(&verbs, &format!("t{on}"));
            if let Some(origins) = origins {
                let origins: Vec<&str> = origins.into_iter().map(|at| ORIGINS[at]).collect();
                rule = on_origins(rule, &origins);
            }
            drop(ledger.lend(loan(&format!("l{opened:03}"), SESSIONS[from], SESSIONS[to], vec![rule])));
        }
        Op::Activate(at) => {
            if let Some(id) = pick(ledger, at) {
                set_state(ledger, &id, LoanState::Active);
            }
        }
        Op::Begin(at) => {
            if let Some(id) = pick(ledger, at) {
                set_state(ledger, &id, LoanState::Reclaiming);
            }
        }
        Op::Reclaim(at, cascade) => {
            if let Some(id) = pick(ledger, at) {
                ledger.reclaim(&id, cascade);
            }
        }
    }
}

proptest! {
    #[test]
    fn scope_is_neither_made_nor_lost(ops in ops()) {
        let mut ledger = world();
        let mut opened = 0;
        for op in ops {
            run(&mut ledger, op, &mut opened);
            let passive = ledger.loans().any(|l| l.state != LoanState::Active);
            for on in 0..SESSIONS.len() {
                for origin in ORIGINS {
                    for verb in [Verb::Act, Verb::Admin] {
                        let on = target(&format!("t{on}"));
                        let holders: Vec<&str> = SESSIONS
                            .into_iter()
                            .filter(|s| ledger.permit(s, verb, &on, &at(origin)).is_ok())
                            .collect();
                        prop_assert!(holders.len() <= 1, "{verb:?} {on} {origin}: {holders:?}");
                        let denied = verb == Verb::Act && origin == ORIGINS[2];
                        // The denial of `s0` applies to `s0` itself and to every session that
                        // borrows from it.
                        if denied && on.as_str() == "t0" {
                            prop_assert_eq!(holders.len(), 0);
                        } else if !passive && !denied {
                            prop_assert_eq!(holders.len(), 1, "{:?} {} {}", verb, on, origin);
                        }
                    }
                }
            }
        }
        // After all loans have been returned, each session has its own scope and nothing else.
        let ids: Vec<LoanId> = ledger.loans().map(|l| l.loan_id.clone()).collect();
        for id in ids {
            ledger.reclaim(&id, false);
        }
        prop_assert_eq!(ledger, world());
    }
}
