//! Invariants of the logs of a session and its child, however often their daemon was killed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use stickpin_session::Timestamp;
use stickpin_session::log::{Argument, CommandId, Kind, Outcome, Record, SessionMeta};
use stickpin_session::turn::scope::{Facts, Holding, Ledger};
use stickpin_session::turn::{AgentId, BaseScope, LoanState, TargetId, TurnPhase, TurnState, Verb};
use stickpin_store::{Phase, Store, StoreError};

/// The commands of the runs that change the app.
const ACTS: &[&str] = &["press"];

/// Checks everything that the state directory and the app's own log of received input show.
///
/// # Panics
/// When a rule is broken; `case` names the run.
pub fn assert_whole(state_dir: &Path, session: &str, child: &str, received: &Path, case: &str) {
    let store = Store::open(state_dir).expect("a store");
    let verified = store.verify(session).unwrap_or_else(|e| panic!("{case}: {e}"));
    assert_eq!((&verified.findings, verified.torn_bytes), (&Vec::new(), 0), "{case}");
    assert_eq!(verified.summary.open_commands, 0, "{case}: a command has no end");
    if store.names().expect("names").iter().any(|name| name == child) {
        // A child whose first record was never written has no log.
        match store.verify(child) {
            Ok(verified) => assert_eq!(verified.findings, [], "{case}: {child}"),
            Err(e) => assert!(matches!(e, StoreError::Missing(_)), "{case}: {child}: {e}"),
        }
    }
    let records = store.records_after(session, 0, usize::MAX, Phase::Verify).expect("records");
    turns_are_granted_once(&records, case);
    acts_are_inside_their_turn(&records, case);
    one_session_has_the_scope(&records, session, child, case);
    app_received_what_the_log_says(&records, received, case);
    let folded = folded(&records, session, |_| {});
    let (stored, _) = store.meta(session).expect("metadata");
    assert_eq!(stored.turn.turn_id, folded.turn.turn_id, "{case}");
    assert_eq!((stored.loans, stored.children), (folded.loans, folded.children), "{case}");
}

/// Checks that each turn has at most one owner, and that turn numbers only increase.
fn turns_are_granted_once(records: &[Record], case: &str) {
    let mut owners: BTreeMap<u64, AgentId> = BTreeMap::new();
    let mut last = 0;
    for record in records {
        let Some(turn) = record.kind.turn_after() else { continue };
        assert!(turn.turn_id >= last, "{case}: record {} goes back to turn {}", record.seq, turn.turn_id);
        if let Some(owner) = &turn.owner {
            let first = owners.entry(turn.turn_id).or_insert_with(|| owner.clone());
            assert_eq!(first, owner, "{case}: turn {} has two owners", turn.turn_id);
        }
        let grants = matches!(record.kind, Kind::TurnClaimed(_) | Kind::TurnTaken(_));
        assert!(
            !grants || turn.turn_id == last + 1,
            "{case}: record {} grants turn {}",
            record.seq,
            turn.turn_id
        );
        last = turn.turn_id;
    }
    assert!(!owners.is_empty(), "{case}: nobody ever had the turn");
}

fn acts_are_inside_their_turn(records: &[Record], case: &str) {
    let mut turn = TurnState::default();
    for record in records {
        if let Some(after) = record.kind.turn_after() {
            turn = after.clone();
        }
        if let Kind::CommandBegin(begin) = &record.kind
            && ACTS.contains(&begin.verb.as_str())
        {
            assert_eq!(turn.state, TurnPhase::Owned, "{case}: record {} acts without a turn", record.seq);
            assert_eq!(turn.owner, record.agent, "{case}: record {} acts in another's turn", record.seq);
            assert_eq!(turn.turn_id, record.turn_id, "{case}: record {}", record.seq);
        }
    }
}

fn folded(records: &[Record], session: &str, mut each: impl FnMut(&SessionMeta)) -> SessionMeta {
    let mut meta = SessionMeta::pending(session, Timestamp::from_millis(0));
    let mut segment = 0;
    for record in records {
        segment += u32::from(matches!(record.kind, Kind::SegmentStart(_)));
        meta.fold(segment, record).expect("records follow one another");
        each(&meta);
    }
    meta
}

/// Checks that after every record, exactly one of the session, the child and a pending loan has the
/// right to act, the session's base scope is unchanged, and denied scope stays denied.
fn one_session_has_the_scope(records: &[Record], session: &str, child: &str, case: &str) {
    let mut base: Option<BaseScope> = None;
    let target = TargetId::new(session);
    folded(records, session, |meta| {
        let at = format!("{case}: record {}", meta.applied_seq);
        let before = base.get_or_insert_with(|| meta.base_scope.clone());
        assert_eq!(before.allow, meta.base_scope.allow, "{at}");
        let kept = |rule| meta.base_scope.deny.contains(rule);
        assert!(before.deny.iter().all(kept), "{at}: {:?}", meta.base_scope.deny);
        before.deny.clone_from(&meta.base_scope.deny);
        let mut ledger = Ledger::default();
        let targets = meta.targets.iter().map(|target| target.target_id.clone()).collect();
        ledger.set_session(session, Holding { targets, scope: meta.base_scope.clone() });
        ledger.set_session(child, Holding::default());
        meta.loans.iter().for_each(|loan| ledger.restore_loan(loan.clone()));
        let may = |name: &str, verb| ledger.permit(name, verb, &target, &Facts::default()).is_ok();
        let moving = meta.loans.iter().filter(|loan| loan.state != LoanState::Active).count();
        let holders = usize::from(may(session, Verb::Act)) + usize::from(may(child, Verb::Act)) + moving;
        assert_eq!(holders, 1, "{at}: {:?}", meta.loans);
        let denies = !meta.base_scope.deny.is_empty();
        assert_eq!((may(session, Verb::Admin), may(child, Verb::Admin)), (!denies, false), "{at}");
    });
    assert_eq!(base.map(|base| base.deny.len()), Some(1), "{case}: it denies one rule");
}

/// Checks that every input that the app received belongs to a command in the log, and that every
/// command that succeeded according to the log reached the app.
fn app_received_what_the_log_says(records: &[Record], received: &Path, case: &str) {
    let text = std::fs::read_to_string(received).unwrap_or_default();
    let mut presses: BTreeMap<String, usize> = BTreeMap::new();
    for line in text.lines() {
        let entry: serde_json::Value = serde_json::from_str(line).expect("JSON");
        if entry["event"] == "press" {
            let element = entry["element"].as_str().expect("a name").to_owned();
            *presses.entry(element).or_default() += 1;
        }
    }
    let mut ends: BTreeMap<CommandId, Outcome> = BTreeMap::new();
    for record in records {
        if let Kind::CommandEnd(end) = &record.kind {
            assert_eq!(ends.insert(end.cmd_id, end.outcome), None, "{case}: {} ends twice", end.cmd_id);
        }
    }
    let (mut begun, mut succeeded): (BTreeMap<&str, usize>, BTreeMap<&str, usize>) = Default::default();
    for record in records {
        let Kind::CommandBegin(begin) = &record.kind else { continue };
        if !ACTS.contains(&begin.verb.as_str()) {
            continue;
        }
        let Some(Argument::Text(target)) = begin.args_raw.get("target") else { panic!("{case}: no target") };
        let target = target.text().expect("short");
        let rows = [("Oak lamp", "add lamp"), ("Birch chair", "add chair"), ("Wall shelf", "add shelf")];
        let (_, element) = rows.into_iter().find(|(row, _)| target.contains(row)).expect("a known row");
        *begun.entry(element).or_default() += 1;
        let ok = ends.get(&begin.cmd_id) == Some(&Outcome::Ok);
        *succeeded.entry(element).or_default() += usize::from(ok);
    }
    let elements: BTreeSet<&str> = presses.keys().map(String::as_str).chain(begun.keys().copied()).collect();
    for element in elements {
        let got = presses.get(element).copied().unwrap_or(0);
        let (most, least) =
            (begun.get(element).copied().unwrap_or(0), succeeded.get(element).copied().unwrap_or(0));
        assert!(got <= most, "{case}: the app received {got} inputs for {element}, the log has {most}");
        assert!(got >= least, "{case}: the log has {least} inputs for {element}, the app received {got}");
    }
}
