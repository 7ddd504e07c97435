//! MiniWoB++: small tasks with a sentence that states the goal, and a reward that the page itself
//! computes.
//!
//! The solvers see what an agent sees: the sentence, snapshots, and the answers of `get`. They act
//! by refs.

mod clicks;
mod dates;
mod drags;
mod drawings;
mod lists;
mod mails;
mod menus;
mod pages;
mod texts;

use super::agent::{Agent, Known};
use std::path::Path;
use stickpin_testkit::{Listing, ListingLine};
use stickpin_testkit::{PageResponse, RequestHandler};

/// The number of episodes of each task, each with its own seed.
pub const EPISODES: usize = 5;

/// A task and its solver, which returns `None` if it could not continue.
pub type Task = (&'static str, fn(&mut Wob<'_, '_>) -> Option<()>);

/// Returns all tasks that have a solver, by kind.
pub fn tasks() -> Vec<Task> {
    [
        clicks::TASKS,
        texts::TASKS,
        lists::TASKS,
        dates::TASKS,
        pages::TASKS,
        mails::TASKS,
        drawings::TASKS,
        drags::TASKS,
        menus::TASKS,
    ]
    .concat()
}

/// Injected into each page: seeds for the episodes, no time limit, and the page's own reward in our
/// log.
const HARNESS: &str = "<script>(() => {
  let episode = 0;
  const log = line => fetch('/__log', { method: 'POST', body: line, keepalive: true });
  addEventListener('load', () => {
    core.EPISODE_MAX_TIME = 1e8;
    const start = core.startEpisodeReal, end = core.endEpisode;
    core.startEpisodeReal = () => { Math.seedrandom('stickpin ' + episode++); start(); log('start'); };
    core.endEpisode = (...args) => {
      const before = WOB_EPISODE_ID;
      end(...args);
      if (WOB_EPISODE_ID !== before && WOB_DONE_GLOBAL) log('reward ' + WOB_RAW_REWARD_GLOBAL + ' ' + (WOB_REWARD_REASON || ''));
    };
  });
})()</script>";

/// Returns the handler of the server's requests, which serves the pages with the harness.
pub fn answers(html: &Path) -> RequestHandler {
    let html = html.to_owned();
    Box::new(move |asked| {
        let path = asked.target.split('?').next()?;
        let name = path.strip_prefix("/miniwob/").filter(|n| n.ends_with(".html") && !n.contains('/'))?;
        let page = std::fs::read_to_string(html.join("miniwob").join(name)).ok()?;
        let page = page.replacen("</head>", &format!("{HARNESS}</head>"), 1);
        Some(PageResponse { media: "text/html; charset=utf-8", body: page.into_bytes(), log: None })
    })
}

/// An agent in one episode.
pub struct Wob<'w, 'a> {
    agent: &'w mut Agent<'a>,
    /// The goal.
    pub goal: String,
    /// The task as read once, at the start.
    pub first: Listing,
}

/// Runs the episodes of a task; each failure is a line in the flow.
pub fn run(agent: &mut Agent<'_>, solve: fn(&mut Wob<'_, '_>) -> Option<()>) {
    agent.judged = false;
    for episode in 0..EPISODES {
        agent.expect_ok(&["press", "text=START", "--receipt", "off"]);
        agent.reported("start");
        let mut wob = Wob { agent: &mut *agent, goal: String::new(), first: Listing::default() };
        wob.goal = wob.get("text", "css=\"#query\"");
        wob.first = wob.look();
        let (went_on, goal, first) = (solve(&mut wob).is_some(), wob.goal.clone(), wob.first.clone());
        let failed = match agent.told("reward ") {
            Some(told)
                if told.split(' ').next().and_then(|r| r.parse::<f64>().ok()).is_some_and(|r| r > 0.0) =>
            {
                None
            }
            // Either the page received unintended input, or the solver is wrong. Both need
            // attention.
            Some(told) => Some((true, told)),
            None => Some((false, "no reward".to_owned())),
        };
        if let Some((wrong, told)) = failed {
            let stopped = if went_on { "" } else { ", the solver stopped" };
            let lines: Vec<String> =
                first.0.iter().map(|l| format!("{} {} {:?} {}", l.id, l.role, l.name, l.suffix)).collect();
            let said = format!("episode {episode}{stopped}: {told}: {goal:?}\n{}", lines.join("\n"));
            if wrong {
                agent.flow.wrong.push(said)
            } else {
                agent.flow.lost.push(said)
            }
            return;
        }
    }
}

/// Elements of the harness and the page next to the task.
const NOT_THE_TASK: [&str; 5] = ["Last reward:", "Last 10 average:", "Time left:", "Episodes done:", "START"];

impl Wob<'_, '_> {
    /// Reads the task.
    pub fn look(&mut self) -> Listing {
        let read = self.agent.look();
        Self::of_the_task(read)
    }

    /// Reads the interactive elements, as most agents do.
    pub fn look_at_controls(&mut self) -> Listing {
        let response = self.agent.expect_ok(&["snapshot", "-i", "--all"]);
        Self::of_the_task(Listing::read(response.text.as_deref().unwrap_or("")))
    }

    fn of_the_task(read: Listing) -> Listing {
        Listing(read.0.into_iter().filter(|l| !NOT_THE_TASK.iter().any(|n| l.name.starts_with(n))).collect())
    }

    /// Returns the answer of `get`.
    pub fn get(&mut self, what: &str, target: &str) -> String {
        let response = self.agent.expect_ok(&["get", what, target]);
        response.text.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the whole value of a field, unescaped.
    pub fn value(&mut self, field: &ListingLine) -> String {
        let response = self.agent.expect_ok(&["get", "value", &field.id]);
        let value = response.output.as_ref().and_then(|o| o["value"].as_str().map(str::to_owned));
        value.or(response.text).unwrap_or_default()
    }

    /// Returns the box of an element: left, top, width, height.
    pub fn rect(&mut self, line: &ListingLine) -> Option<[f64; 4]> {
        let response = self.agent.expect_ok(&["get", "box", &line.id]);
        let output = response.output?;
        let side = |name: &str| output["box"][name].as_f64().or_else(|| output["value"][name].as_f64());
        Some([side("x")?, side("y")?, side("width")?, side("height")?])
    }

    /// Takes a screenshot, to which later points refer.
    pub fn picture(&mut self) {
        self.run(&["screenshot"]);
    }

    /// Runs a command without a ref.
    pub fn run(&mut self, words: &[&str]) {
        self.agent.expect_ok(words);
    }

    /// Uses a ref once.
    pub fn act(&mut self, line: &ListingLine, words: &[&str]) {
        let mut known: Known = Agent::of(line);
        self.agent.act(&mut known, words, "");
    }

    pub fn press(&mut self, line: &ListingLine) {
        self.act(line, &["press", "{}"]);
    }

    pub fn fill(&mut self, line: &ListingLine, text: &str) {
        self.act(line, &["fill", "{}", text]);
    }

    /// Presses an element of the first snapshot.
    pub fn press_named(&mut self, role: &str, name: &str) -> Option<()> {
        let line = self.first.get(role, name)?.clone();
        self.press(&line);
        Some(())
    }

    /// Presses the button that ends most tasks.
    pub fn submit(&mut self) -> Option<()> {
        let named = |n: &&ListingLine| n.role == "button" && n.name.eq_ignore_ascii_case("submit");
        let line = self.first.0.iter().find(named)?.clone();
        self.press(&line);
        Some(())
    }

    /// Returns the first field of the first snapshot.
    pub fn field(&self) -> Option<ListingLine> {
        self.first
            .0
            .iter()
            .find(|l| matches!(l.role.as_str(), "textbox" | "searchbox" | "spinbutton"))
            .cloned()
    }

    /// Returns the quoted texts of the sentence.
    pub fn quoted(&self) -> Vec<String> {
        self.goal.split('"').skip(1).step_by(2).map(str::to_owned).collect()
    }

    /// Returns the text between two parts of the sentence.
    pub fn between(&self, before: &str, after: &str) -> Option<String> {
        let from = self.goal.find(before)? + before.len();
        let rest = &self.goal[from..];
        Some(rest[..if after.is_empty() { rest.len() } else { rest.find(after)? }].trim().to_owned())
    }
}
