//! The gauntlet: pages that change between the snapshot and the use of a ref. The page reports
//! which element received the input; the answer of a command is never the proof. The README in
//! `fixtures/web/gauntlet` describes the situations.
//!
//! Environment: `GAUNTLET_ONLY` selects situations by the beginning of their id, `GAUNTLET_TRACE`
//! prints every command and answer, `GAUNTLET_FULL` plays races as often as their file says,
//! `GAUNTLET_RELAUNCH` starts a browser per situation, `GAUNTLET_RECORD` writes the recordings.

mod account;
mod data;
mod races;
mod record;
mod site;
mod stage;
mod verdict;

use account::Account;
use data::{Kind, Situation};
use stage::Stage;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use stickpin_testkit::chromium;

/// The maximum share of situations with a wrong action, among those in which readable content
/// distinguishes the records.
const WRONG: f64 = 0.02;

/// The minimum share of uses that act, at the first or the repeated call, among those that must
/// act.
const ACTED: f64 = 0.97;

/// The maximum share of wrong actions in races.
const RACES_WRONG: f64 = 0.0;

/// The number of concurrent browsers.
const WORKERS: usize = 2;

fn select(all: Vec<Situation>) -> Vec<Situation> {
    let only = std::env::var("GAUNTLET_ONLY").unwrap_or_default();
    all.into_iter().filter(|s| s.id.starts_with(&only)).collect()
}

/// Distributes tasks over browsers. Returns `None` if no browser is installed.
fn play(
    situations: &[Situation],
    tasks: usize,
    task: impl Fn(&mut Stage, usize, &mut Account) + Sync,
) -> Option<Account> {
    let providers: Vec<_> = (0..WORKERS).map_while(|_| chromium()).collect();
    if providers.is_empty() {
        return None;
    }
    let (next, account) = (AtomicUsize::new(0), Mutex::new(Account::default()));
    std::thread::scope(|scope| {
        for provider in providers {
            scope.spawn(|| {
                let mut stage = Stage::new(Arc::new(provider), situations);
                let mut own = Account::default();
                while let at = next.fetch_add(1, Ordering::Relaxed)
                    && at < tasks
                {
                    task(&mut stage, at, &mut own);
                }
                account.lock().expect("no worker panicked").merge(own);
            });
        }
    });
    Some(account.into_inner().expect("no worker panicked"))
}

#[test]
fn situations() {
    let situations = select(data::situations());
    let runs: Vec<(&Situation, bool)> = situations
        .iter()
        .flat_map(|s| [(s, false), (s, true)])
        .filter(|(s, look_again)| !(s.once && *look_again))
        .collect();
    let account = play(&situations, runs.len(), |stage, at, account| {
        let (situation, look_again) = runs[at];
        account.add(stage.play(situation, look_again), &situation.id);
    });
    let Some(account) = account else { return };
    println!("{account}");
    assert_eq!(account.broken, [] as [String; 0], "played to the end");
    assert!(
        account.wrong_situations() <= WRONG,
        "wrong actions in more than {:.0} % of situations",
        WRONG * 100.0
    );
    assert!(account.acted() >= ACTED, "fewer than {:.0} % of uses acted", ACTED * 100.0);
}

#[test]
fn races() {
    let all = select(data::races());
    let full = std::env::var_os("GAUNTLET_FULL").is_some();
    let account = play(&all, all.len(), |stage, at, account| {
        if let Err(e) = races::play(stage, &all[at], full, account) {
            account.broken.push(format!("{}: {e}", all[at].id));
        }
    });
    let Some(account) = account else { return };
    println!("{account}");
    assert_eq!(account.broken, [] as [String; 0], "played to the end");
    assert!(account.wrong_uses() <= RACES_WRONG, "more than {:.0} % wrong actions", RACES_WRONG * 100.0);
}

/// Records a few situations, or, with `GAUNTLET_RECORD`, all of them into `crates/tree/test_data`.
#[test]
fn record() {
    let whole = std::env::var_os("GAUNTLET_RECORD").is_some();
    let mut situations = select(data::situations());
    // A change during the action is not in any tree before it.
    situations.retain(|s| s.kind != Kind::Refuse || s.change.is_some());
    if !whole {
        situations.retain(|s| ["ctl-lazy", "list-skeleton", "detail-iframe-route"].contains(&s.id.as_str()));
    }
    let Some(provider) = chromium() else { return };
    let mut recorder = record::Recorder::new(&provider, &situations);
    let mut cases = Vec::new();
    let mut broken = Vec::new();
    for situation in &situations {
        match recorder.record(situation) {
            Ok(case) => cases.push(case),
            Err(e) => broken.push(format!("{}: {e}", situation.id)),
        }
    }
    recorder.close();
    assert_eq!(broken, [] as [String; 0], "recorded");
    if whole {
        record::write(&cases);
    }
}

#[test]
fn data_is_consistent() {
    let all: Vec<Situation> = data::situations().into_iter().chain(data::races()).collect();
    let mut ids = BTreeSet::new();
    for situation in &all {
        assert!(ids.insert(&situation.id), "{} occurs twice", situation.id);
        assert!(!situation.pick.is_empty() && !situation.want.is_empty(), "{}", situation.id);
        assert!(!situation.description.is_empty(), "{}", situation.id);
        let races = situation.group == "races";
        assert_eq!(races, !situation.delays.is_empty(), "{}: only races have delays", situation.id);
        let moves = races || situation.once || situation.change.is_some();
        assert!(moves, "{}: nothing happens between the snapshot and the use", situation.id);
    }
    let controls = all.iter().filter(|s| s.kind == Kind::Act).count();
    assert!(controls * 5 >= all.len(), "{controls} of {} must act", all.len());
}
