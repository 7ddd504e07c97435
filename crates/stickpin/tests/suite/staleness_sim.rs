//! The staleness table on the simulated device, in its three identity grades. The app's own log
//! shows which element received the input.

use std::sync::Arc;
use stickpin_backend_sim::{Probe, SimProvider};
use stickpin_testkit::InProcess;
use stickpin_testkit::staleness::{BetweenReads, Stage, StalenessResults, Table};

/// Situations that the common runner cannot judge, each with the reason.
const NOT_HERE: &[(&str, &str)] =
    &[("toggle-by-name", "its new self is handed over by an act: fixtures/scenarios/toggle.toml")];

/// Situations that the runner cannot judge in one grade, each with the reason.
const NOT_IN_GRADE: &[(&str, &str, &str)] = &[
    ("none", "equal-looking-new-row", "the table lets it act on what is alike, which the runner calls wrong"),
    (
        "none",
        "row-menu-of-another-row",
        "its menu names its opener here, so it is refused where the table acts",
    ),
];

struct Screens {
    provider: Arc<SimProvider>,
    grade: &'static str,
    probe: Option<Probe>,
    /// The number of log records that were read.
    read: usize,
}

impl Screens {
    fn probe(&self) -> Result<&Probe, String> {
        self.probe.as_ref().ok_or_else(|| "nothing is open".to_owned())
    }
}

impl Stage for Screens {
    fn show(&mut self, surface: &mut InProcess, id: &str) -> Result<usize, String> {
        let what = format!("sim:staleness/{id}?grade={}&clock=virtual", self.grade);
        if let Some(e) = surface.request(&["open", &what, "--relaunch"], |_| {}).error {
            return Err(format!("open: {e}"));
        }
        self.probe = self.provider.probe("scenario");
        self.read = 0;
        self.probe()?.variable("steps").parse().map_err(|e| format!("steps: {e}"))
    }

    fn change(&mut self, _: &mut InProcess) -> Result<(), String> {
        self.probe()?.run("advance")
    }

    fn next(&self) -> Option<&str> {
        Some("role=button text=Next")
    }

    fn pressed(&mut self) -> Vec<String> {
        let all = self.probe.as_ref().map(Probe::received).unwrap_or_default();
        let new = all[self.read.min(all.len())..].iter().filter(|r| r.event == "press" && !r.disabled);
        let pressed = new.map(|r| r.element.clone()).collect();
        self.read = all.len();
        pressed
    }
}

fn column(grade: &'static str, between: BetweenReads) {
    let dir = tempfile::tempdir().expect("a folder");
    let provider = Arc::new(SimProvider::new());
    let mut surface = InProcess::new(dir.path(), vec![provider.clone()]);
    let mut screens = Screens { provider, grade, probe: None, read: 0 };
    let table = Table::read().expect("the table");
    let mut account = StalenessResults::default();
    for situation in &table.situations {
        let here = situation.suites.as_ref().is_none_or(|s| s.iter().any(|s| s == "device" || s == "page"));
        let left_out = NOT_HERE.iter().any(|(id, _)| *id == situation.id)
            || NOT_IN_GRADE.iter().any(|(g, id, _)| *g == grade && *id == situation.id);
        if !here || left_out {
            continue;
        }
        match table.run(situation, &[grade], between, &mut surface, &mut screens) {
            Ok(found) => account.add(found),
            Err(e) => account.differences.push(e),
        }
    }
    println!("staleness on sim ({grade}), {between:?} in between: {account}");
    assert!(account.wrong.is_empty() && account.differences.is_empty(), "{account}");
    let least = if between == BetweenReads::OwnActs { 20 } else { 100 };
    assert!(account.uses > least, "only {} uses were judged", account.uses);
}

#[test]
fn never_reused_with_nothing_in_between() {
    column("never-reused", BetweenReads::Nothing);
}

#[test]
fn never_reused_with_looks_in_between() {
    column("never-reused", BetweenReads::Looks);
}

#[test]
fn never_reused_after_own_acts() {
    column("never-reused", BetweenReads::OwnActs);
}

#[test]
fn never_reused_with_snapshots_in_between() {
    column("never-reused", BetweenReads::Snapshots);
}

#[test]
fn while_alive_with_nothing_in_between() {
    column("while-alive", BetweenReads::Nothing);
}

#[test]
fn while_alive_with_looks_in_between() {
    column("while-alive", BetweenReads::Looks);
}

#[test]
fn while_alive_after_own_acts() {
    column("while-alive", BetweenReads::OwnActs);
}

#[test]
fn while_alive_with_snapshots_in_between() {
    column("while-alive", BetweenReads::Snapshots);
}

#[test]
fn without_identity_with_nothing_in_between() {
    column("none", BetweenReads::Nothing);
}

#[test]
fn without_identity_with_looks_in_between() {
    column("none", BetweenReads::Looks);
}

#[test]
fn without_identity_after_own_acts() {
    column("none", BetweenReads::OwnActs);
}

#[test]
fn without_identity_with_snapshots_in_between() {
    column("none", BetweenReads::Snapshots);
}

#[test]
fn what_is_left_out_exists() {
    let table = Table::read().expect("the table");
    let in_grades = NOT_IN_GRADE.iter().map(|(_, id, reason)| (id, reason));
    for (id, reason) in NOT_HERE.iter().map(|(id, reason)| (id, reason)).chain(in_grades) {
        assert!(table.situations.iter().any(|s| s.id == *id), "{id} is not a situation");
        assert!(!reason.is_empty());
    }
}
