//! The staleness table on real Chromium, where the page reports which element received the input.

use std::sync::Arc;
use std::time::Duration;
use stickpin_testkit::staleness::{Account, Between, Stage, Table};
use stickpin_testkit::{InProcess, PageServer, chromium, workspace_root};

/// Situations that this device cannot show yet, each with the reason.
const NOT_YET: &[(&str, &str)] = &[
    ("second-tab-same-layout", "tabs are not part of the first cut of the web device"),
    ("toggle-by-name", "its new self is handed over by an act: fixtures/scenarios/toggle.toml"),
];

const PATIENCE: Duration = Duration::from_secs(10);

struct Pages {
    server: PageServer,
    step: usize,
}

impl Stage for Pages {
    fn show(&mut self, surface: &mut InProcess, id: &str) -> Result<usize, String> {
        let url = format!("{}/staleness/page.html?{id}&fresh", self.server.origin());
        drop(self.server.received());
        let opened = surface.request(&["open", &url], |_| {});
        if let Some(e) = opened.error {
            return Err(format!("open: {e}"));
        }
        self.step = 0;
        // The page says when it listens, and how many changes it knows.
        self.server
            .wait_for_prefix("ready ", PATIENCE)
            .and_then(|n| n.parse().ok())
            .ok_or("the page is not ready".into())
    }

    fn change(&mut self) -> Result<(), String> {
        self.step += 1;
        if self.server.push("change") == 0 {
            return Err("no page listens".into());
        }
        match self.server.wait_for(&format!("changed {}", self.step), PATIENCE) {
            true => Ok(()),
            false => Err(format!("change {} was not made: {:?}", self.step, self.server.received())),
        }
    }

    fn pressed(&mut self) -> Vec<String> {
        let lines = self.server.received();
        lines.iter().filter_map(|l| l.strip_prefix("click ")).map(str::to_owned).collect()
    }
}

/// One column of the table, in a browser of its own.
fn column(between: Between) {
    let Some(provider) = chromium() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let mut surface = InProcess::new(dir.path(), vec![Arc::new(provider)]);
    let server = PageServer::start(&workspace_root().join("fixtures").join("web")).expect("a loopback port");
    let mut pages = Pages { server, step: 0 };
    let table = Table::read().expect("the table");
    let mut account = Account::default();
    for situation in &table.situations {
        let here = situation.suites.as_ref().is_none_or(|s| s.iter().any(|s| s == "device"));
        if !here || NOT_YET.iter().any(|(id, _)| *id == situation.id) {
            continue;
        }
        match table.run(situation, "never-reused", between, &mut surface, &mut pages) {
            Ok(found) => account.add(found),
            Err(e) => account.differ.push(e),
        }
    }
    println!("staleness on Chromium, {between:?} in between: {account}");
    assert!(account.wrong.is_empty() && account.differ.is_empty(), "{account}");
    assert!(account.uses > 100, "only {} uses were judged", account.uses);
}

#[test]
fn nothing_in_between() {
    column(Between::Nothing);
}

#[test]
fn looks_in_between() {
    column(Between::Looks);
}

#[test]
fn snapshots_in_between() {
    column(Between::Snapshots);
}

#[test]
fn what_is_left_out_exists() {
    let table = Table::read().expect("the table");
    for (id, reason) in NOT_YET {
        assert!(table.situations.iter().any(|s| s.id == *id), "{id} is no situation");
        assert!(!reason.is_empty());
    }
}
