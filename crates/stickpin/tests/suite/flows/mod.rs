//! Ordinary flows on apps that were not built for stickpin. How often is an action that should
//! succeed answered with a notice or a refusal, and does anything else ever receive the input? Some
//! apps are ours, but their libraries are not (`fixtures/web/flows`). The servers
//! (`fixtures/web/servers`) and the tasks of MiniWoB++ are by others. `cargo xtask setup` installs
//! and builds them.

mod account;
mod agent;
mod board;
mod chat;
mod desk;
mod editors;
mod feed;
mod kanban;
mod library;
mod mail;
mod memory;
mod miniwob;
mod monitor;
mod office;
mod place;
mod planner;
mod post;
mod records;
mod server;
mod shop;
mod staff;
mod tables;
mod wiki;
mod writer;

use account::{Account, Flow};
use agent::Agent;
use server::{Programs, Server};
use std::sync::Arc;
use stickpin_testkit::{InProcess, PageServer, chromium};

/// The maximum number of notices per 1,000 actions. The goal is 15: 10.7 and 17.9 were measured on
/// a machine under load.
const NOTICES: f64 = 20.0;

/// The maximum number of refusals per 1,000 actions.
const REFUSALS: f64 = 5.0;

/// The minimum number of actions in a run in which nothing is skipped.
const AT_LEAST: usize = 1500;

/// A browser, the server of the apps, and the results so far.
struct Stage {
    surface: InProcess,
    pages: PageServer,
    account: Account,
    _dir: tempfile::TempDir,
}

impl Stage {
    /// Creates a stage. Returns `None`, with a message on stderr, if something is missing.
    fn new(pages: PageServer) -> Option<Self> {
        let dir = tempfile::tempdir().expect("a folder");
        let surface = InProcess::new(dir.path(), vec![Arc::new(chromium()?)]);
        Some(Self { surface, pages, account: Account::default(), _dir: dir })
    }

    /// Runs a flow on a page of the site whose handlers report every action.
    fn flow(&mut self, app: &'static str, name: &str, path: &str, run: impl FnOnce(&mut Agent<'_>)) {
        if is_chosen(app, name) {
            let flow = self.run(None, app, name, path, run);
            self.account.0.push(flow);
        }
    }

    /// Runs a flow that compares the app's data at the end, on a page of the site.
    fn checked(&mut self, app: &'static str, name: &str, run: impl FnOnce(&mut Agent<'_>)) {
        if is_chosen(app, name) {
            let flow = self.run(None, app, name, &format!("{app}/index.html"), run);
            self.account.0.push(with_check(flow));
        }
    }

    /// Runs a flow on a separate server, from one of its paths, and compares the server's data at
    /// the end.
    fn served(
        &mut self,
        programs: &Programs,
        script: &str,
        [app, name, path]: [&'static str; 3],
        run: impl FnOnce(&mut Agent<'_>),
    ) {
        if is_chosen(app, name) {
            let server = Server::start(programs, script, &self.pages);
            let flow = self.run(Some(&server), app, name, path, run);
            self.account.0.push(with_check(flow));
        }
    }

    fn run(
        &mut self,
        server: Option<&Server>,
        app: &'static str,
        name: &str,
        path: &str,
        run: impl FnOnce(&mut Agent<'_>),
    ) -> Flow {
        let flow = Flow { app, name: name.to_owned(), ..Flow::default() };
        let mut agent = Agent::open(&mut self.surface, &self.pages, server, flow, path);
        run(&mut agent);
        agent.end()
    }
}

/// Returns whether `FLOWS_ONLY` selects a flow, by app or name.
fn is_chosen(app: &str, name: &str) -> bool {
    std::env::var("FLOWS_ONLY").map_or(true, |only| name.contains(&only) || app.contains(&only))
}

fn with_check(mut flow: Flow) -> Flow {
    if !flow.checked {
        flow.lost.push("the flow never compared what the app holds".to_owned());
    }
    flow
}

/// Runs parts in parallel, each in a separate browser, and returns their flows in order.
fn in_parallel<P: Send>(
    parts: impl IntoIterator<Item = P>,
    run: impl Fn(P) -> Option<Vec<Flow>> + Sync,
) -> Vec<Option<Vec<Flow>>> {
    std::thread::scope(|scope| {
        let run = &run;
        let started: Vec<_> = parts.into_iter().map(|part| scope.spawn(move || run(part))).collect();
        let ended = started.into_iter().map(std::thread::ScopedJoinHandle::join);
        ended.map(|flows| flows.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// Runs the halves of a part in parallel. Returns `None` if something is missing.
fn halves<H: Send>(halves: [H; 2], run: impl Fn(H) -> Option<Vec<Flow>> + Sync) -> Option<Vec<Flow>> {
    Some(in_parallel(halves, run).into_iter().collect::<Option<Vec<_>>>()?.concat())
}

/// The apps of the site, in two halves that take equally long.
const APPS: [&[fn(&mut Stage)]; 2] = [
    &[desk::flows, board::flows, feed::flows, chat::flows, mail::flows, kanban::flows],
    &[editors::flows, shop::flows, office::flows, monitor::flows, planner::flows, writer::flows, post::flows],
];

/// Runs the apps of the site. Returns `None` if something is missing.
fn apps() -> Option<Vec<Flow>> {
    let site = place::installed("site")?;
    halves(APPS, |apps| {
        let pages = PageServer::start_with(&site, mail::answers()).expect("a loopback port");
        let mut stage = Stage::new(pages)?;
        apps.iter().for_each(|flows| flows(&mut stage));
        Some(stage.account.0)
    })
}

/// Runs the servers. Returns `None` if something is missing.
fn servers() -> Option<Vec<Flow>> {
    let programs = Programs::installed()?;
    // It has no pages: the servers report to it.
    let data = tempfile::tempdir().expect("a folder");
    let log = PageServer::start(data.path()).expect("a loopback port");
    let mut stage = Stage::new(log)?;
    library::flows(&mut stage, &programs);
    staff::flows(&mut stage, &programs);
    tables::flows(&mut stage, &programs);
    records::flows(&mut stage, &programs);
    wiki::flows(&mut stage, &programs);
    Some(stage.account.0)
}

/// Runs the tasks of MiniWoB++. Returns `None` if something is missing.
fn tasks() -> Option<Vec<Flow>> {
    let installed = place::installed("tasks")?;
    let html = installed.join("miniwob").join("html");
    let tasks = miniwob::tasks();
    assert!(tasks.len() >= 40, "{} tasks are solved", tasks.len());
    halves([0, 1], |half| {
        let pages = PageServer::start_with(&html, miniwob::answers(&html)).expect("a loopback port");
        let mut stage = Stage::new(pages)?;
        for (name, solve) in tasks.iter().skip(half).step_by(2) {
            let path = format!("miniwob/{name}.html");
            stage.flow("miniwob", name, &path, |agent| miniwob::run(agent, *solve));
        }
        Some(stage.account.0)
    })
}

/// All parts in parallel, with one report.
#[test]
fn ordinary_flows() {
    let parts: [fn() -> Option<Vec<Flow>>; 3] = [apps, servers, tasks];
    let parts = in_parallel(parts, |part| part());
    let is_whole = parts.iter().all(Option::is_some) && std::env::var_os("FLOWS_ONLY").is_none();
    let account = Account(parts.into_iter().flatten().flatten().collect());
    account.judge(if is_whole { AT_LEAST } else { 0 }, NOTICES, REFUSALS);
}
