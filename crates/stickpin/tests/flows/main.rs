//! Ordinary flows on apps that nobody built for us: how often is an act refused that should act, and does anything else
//! ever receive the input? The apps are ours, their libraries are not (`fixtures/web/flows`); the tasks of MiniWoB++
//! are not ours at all. `cargo xtask setup` makes the pages.

#![cfg(feature = "web")]

mod account;
mod agent;
mod board;
mod chat;
mod desk;
mod editors;
mod feed;
mod mail;
mod miniwob;
mod place;

use account::Account;
use agent::Agent;
use std::sync::Arc;
use stickpin_testkit::{InProcess, PageServer, chromium};

/// Refusals of 1,000 acts that are allowed; the aim is 5.
const BAR: f64 = 30.0;

/// A browser, the server of the apps, and what came of the flows so far.
struct Stage {
    surface: InProcess,
    pages: PageServer,
    account: Account,
    _dir: tempfile::TempDir,
}

impl Stage {
    /// `None`, said on stderr, where something is missing.
    fn new(pages: PageServer) -> Option<Self> {
        let dir = tempfile::tempdir().expect("a folder");
        let surface = InProcess::new(dir.path(), vec![Arc::new(chromium()?)]);
        Some(Self { surface, pages, account: Account::default(), _dir: dir })
    }

    fn flow(&mut self, app: &'static str, name: &str, path: &str, run: impl FnOnce(&mut Agent<'_>)) {
        // To try one of them.
        if std::env::var("FLOWS_ONLY").is_ok_and(|only| !name.contains(&only)) {
            return;
        }
        let mut agent = Agent::open(&mut self.surface, &self.pages, app, name, path);
        run(&mut agent);
        self.account.0.push(agent.end());
    }

    /// Prints the table and holds it against the bars.
    fn finish(self, at_least: usize) {
        let at_least = if std::env::var_os("FLOWS_ONLY").is_some() { 0 } else { at_least };
        self.account.judge(at_least, BAR);
    }
}

#[test]
fn apps() {
    let Some(site) = place::installed("site") else { return };
    let pages = PageServer::start_with(&site, mail::answers()).expect("a loopback port");
    let Some(mut stage) = Stage::new(pages) else { return };
    desk::flows(&mut stage);
    board::flows(&mut stage);
    feed::flows(&mut stage);
    chat::flows(&mut stage);
    mail::flows(&mut stage);
    editors::flows(&mut stage);
    stage.finish(300);
}

#[test]
fn miniwob() {
    let Some(tasks) = place::installed("tasks") else { return };
    let html = tasks.join("miniwob").join("html");
    let pages = PageServer::start_with(&html, miniwob::answers(&html)).expect("a loopback port");
    let Some(mut stage) = Stage::new(pages) else { return };
    let tasks = miniwob::tasks();
    assert!(tasks.len() >= 40, "{} tasks are solved", tasks.len());
    for (name, solve) in tasks {
        stage.flow("miniwob", name, &format!("miniwob/{name}.html"), |agent| miniwob::run(agent, solve));
    }
    stage.finish(300);
}
