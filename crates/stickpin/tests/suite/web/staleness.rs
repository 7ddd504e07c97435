//! The staleness table on real Chromium, where the page reports which element received the input:
//! in the top document, in a frame, in a frame of another origin inside a frame, and in a second
//! tab.

use std::sync::Arc;
use std::time::Duration;
use stickpin_testkit::staleness::{BetweenReads, Stage, StalenessResults, Table};
use stickpin_testkit::{InProcess, PageServer, chromium, workspace_root};

/// Situations that this device cannot show yet, each with the reason.
const NOT_YET: &[(&str, &str)] =
    &[("toggle-by-name", "its new self is handed over by an act: fixtures/scenarios/toggle.toml")];

const PATIENCE: Duration = Duration::from_secs(10);

/// The situation about tabs: the test opens the other tab, not the page.
const SECOND_TAB: &str = "second-tab-same-layout";

/// Situations at whose end the page in view does not listen.
const DEAF: [&str; 2] = [SECOND_TAB, "act-navigation-in-flight"];

/// The location of a situation's page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// The top document.
    Top,
    /// A frame of the same origin.
    Frame,
    /// A cross-origin frame inside a same-origin frame.
    Nested,
    /// The second tab of the session.
    Tab,
}

struct Pages {
    server: PageServer,
    shown: Shown,
    step: usize,
    /// The situation whose page listens, and may replace the top document.
    listens: Option<String>,
    /// The page that the next change opens in another tab.
    another: Option<String>,
    /// Whether the pages have a button that triggers the next change.
    button: bool,
}

impl Pages {
    fn url(&self, id: &str) -> String {
        let origin = self.server.origin();
        let button = if self.button { "&button" } else { "" };
        match self.shown {
            Shown::Top | Shown::Tab => format!("{origin}/staleness/page.html?{id}&fresh{button}"),
            Shown::Frame => format!("{origin}/staleness/framed.html?same&{id}{button}"),
            Shown::Nested => format!("{origin}/staleness/framed.html?nested&{id}{button}"),
        }
    }
}

/// Runs one command that must succeed.
fn run(surface: &mut InProcess, words: &[&str]) -> Result<(), String> {
    let response = surface.request(words, |_| {});
    response.error.map_or(Ok(()), |e| Err(format!("{words:?}: {e}")))
}

impl Stage for Pages {
    fn show(&mut self, surface: &mut InProcess, id: &str) -> Result<usize, String> {
        drop(self.server.received());
        let url = self.url(id);
        match self.listens.take() {
            // The page itself goes on: `open` would wait until the next one is quiet, 250 times. A
            // frame of another origin loads only while a command runs.
            Some(now) if !id.starts_with("iframe-") && self.server.push(&format!("show {now} {url}")) > 0 => {
            }
            _ => run(surface, &["open", &url])?,
        }
        if self.shown != Shown::Nested && !DEAF.contains(&id) {
            self.listens = Some(id.to_owned());
        }
        self.step = 0;
        // The page reports when it listens, and how many changes it has.
        let steps = self.server.wait_for_prefix("ready ", PATIENCE).and_then(|n| n.parse().ok());
        let steps = steps.ok_or("the page is not ready")?;
        if id == SECOND_TAB {
            self.another = Some(self.url(id).replace(SECOND_TAB, "second-tab-other"));
            return Ok(1);
        }
        Ok(steps)
    }

    fn change(&mut self, surface: &mut InProcess) -> Result<(), String> {
        self.step += 1;
        if let Some(url) = self.another.take() {
            return run(surface, &["tab", "new", &url]);
        }
        if self.server.push("change") == 0 {
            return Err("no page listens".into());
        }
        match self.server.wait_for(&format!("changed {}", self.step), PATIENCE) {
            true => Ok(()),
            false => Err(format!("change {} was not made: {:?}", self.step, self.server.received())),
        }
    }

    fn next(&self) -> Option<&str> {
        self.button.then_some("role=button text=Next")
    }

    fn pressed(&mut self) -> Vec<String> {
        let lines = self.server.received();
        lines.iter().filter_map(|l| l.strip_prefix("click ")).map(str::to_owned).collect()
    }
}

/// The reads between a snapshot and an action, in the order of the columns.
const COLUMNS: [BetweenReads; 4] =
    [BetweenReads::Nothing, BetweenReads::Looks, BetweenReads::Snapshots, BetweenReads::OwnActs];

/// Runs the table in one location, in a separate browser. `between` returns the column for the
/// situation at an index, or `None` to skip it. Returns `None` without a browser.
fn run_table(shown: Shown, between: impl Fn(usize) -> Option<BetweenReads>) -> Option<StalenessResults> {
    let provider = chromium()?;
    let mut account = StalenessResults::default();
    let dir = tempfile::tempdir().expect("a folder");
    let mut surface = InProcess::new(dir.path(), vec![Arc::new(provider)]);
    let server = PageServer::start(&workspace_root().join("fixtures").join("web")).expect("a loopback port");
    let mut pages = Pages { server, shown, step: 0, listens: None, another: None, button: false };
    if shown == Shown::Tab {
        // The first tab shows the same layout, with another record.
        let other = pages.url("second-tab-other");
        run(&mut surface, &["open", &other]).expect("a page");
        run(&mut surface, &["tab", "new"]).expect("a tab");
    }
    let table = Table::read().expect("the table");
    for (index, situation) in table.situations.iter().enumerate() {
        let here = situation.suites.as_ref().is_none_or(|s| s.iter().any(|s| s == "device" || s == "page"));
        let not_here = NOT_YET.iter().any(|(id, _)| *id == situation.id);
        let Some(between) = between(index).filter(|_| here && !not_here) else { continue };
        pages.button = between == BetweenReads::OwnActs;
        match table.run(situation, &["never-reused"], between, &mut surface, &mut pages) {
            Ok(found) => account.add(found),
            Err(e) => account.differences.push(e),
        }
    }
    assert!(account.wrong.is_empty() && account.differences.is_empty(), "{account}");
    Some(account)
}

/// Runs each situation in the top document, with the columns in turn.
fn in_turn(columns: &[BetweenReads]) {
    let Some(account) = run_table(Shown::Top, |index| Some(columns[index % columns.len()])) else { return };
    println!("staleness on Chromium, {columns:?} in between: {account}");
    let least = if columns.contains(&BetweenReads::OwnActs) { 20 } else { 100 };
    assert!(account.uses > least, "only {} uses were judged", account.uses);
}

/// The locations other than the top document. They share the table, because a situation does not
/// depend on its page's location, and the top document covers all situations.
const PLACES: [Shown; 3] = [Shown::Frame, Shown::Nested, Shown::Tab];

/// Runs the situations of one location; locations and columns alternate.
fn place(shown: Shown) {
    let columns = run_table(shown, |index| {
        let (round, turn) = (index / PLACES.len(), index % PLACES.len());
        (PLACES[turn] == shown).then(|| COLUMNS[(round + turn) % COLUMNS.len()])
    });
    let Some(account) = columns else { return };
    println!("staleness on Chromium, {shown:?}, its share of the table, columns in turn: {account}");
    assert!(account.uses > 30, "only {} uses were judged", account.uses);
}

#[test]
fn top_document_nothing_in_between() {
    in_turn(&[BetweenReads::Nothing]);
}

/// On the simulated device, each situation runs in both columns.
#[test]
fn top_document_looks_and_snapshots_in_turn() {
    in_turn(&[BetweenReads::Looks, BetweenReads::Snapshots]);
}

#[test]
fn top_document_after_own_acts() {
    in_turn(&[BetweenReads::OwnActs]);
}

#[test]
fn frame_columns_in_turn() {
    place(Shown::Frame);
}

#[test]
fn nested_frame_columns_in_turn() {
    place(Shown::Nested);
}

#[test]
fn second_tab_columns_in_turn() {
    place(Shown::Tab);
}

#[test]
fn what_is_left_out_exists() {
    let table = Table::read().expect("the table");
    for (id, reason) in NOT_YET.iter().copied() {
        assert!(table.situations.iter().any(|s| s.id == id), "{id} is not a situation");
        assert!(!reason.is_empty());
    }
}
