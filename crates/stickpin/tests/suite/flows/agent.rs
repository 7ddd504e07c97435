//! An agent that acts by the refs that it was issued.
//!
//! The agent reads an app once, or again when it needs an unknown element (`memory.rs`). When a
//! refusal or a response contains a new ref, the agent uses that ref from then on. After a notice,
//! it repeats the command. The app's report shows the effect of an action, never stickpin's answer.

use super::account::Flow;
use super::memory::Memory;
use super::server::Server;
use std::time::Duration;
use stickpin_kernel::{ErrorCode, Response};
use stickpin_testkit::{InProcess, PageServer};
use stickpin_testkit::{Listing, ListingLine};

const PATIENCE: Duration = Duration::from_secs(4);

/// The number of failed attempts after which the flow counts an action as lost.
const TRIES: usize = 4;

/// An element that the agent has read.
#[derive(Debug, Clone)]
pub struct Known {
    /// The ref that the agent would type.
    pub r#ref: String,
    role: String,
    name: String,
    /// The text in or next to the element; empty if role and name suffice.
    pub near: String,
}

/// An agent in one flow.
pub struct Agent<'a> {
    surface: &'a mut InProcess,
    pages: &'a PageServer,
    /// The server of the app, if it is not `pages`.
    pub server: Option<&'a Server>,
    /// The lines that the agent was shown.
    pub memory: Memory,
    pub flow: Flow,
    /// Whether the app reports every action. If not, it reports only the final result.
    pub judged: bool,
}

impl<'a> Agent<'a> {
    /// Creates an agent that opens a page of `server` or of `pages`. The app reports to `pages` in
    /// both cases.
    pub fn open(
        surface: &'a mut InProcess,
        pages: &'a PageServer,
        server: Option<&'a Server>,
        flow: Flow,
        path: &str,
    ) -> Self {
        let mut agent = Self { surface, pages, server, memory: Memory::default(), flow, judged: true };
        let origin = server.map_or_else(|| agent.pages.origin(), |s| s.origin().to_owned());
        drop(agent.pages.received());
        agent.expect_ok(&["open", &format!("{origin}/{path}")]);
        agent
    }

    fn call(&mut self, words: &[&str]) -> Response {
        let response = self.surface.request(words, |_| {});
        if std::env::var_os("FLOWS_TRACE").is_some() {
            let error =
                response.error.as_ref().map(|e| format!("{}: {}\n{}", e.code.name(), e.message, e.hint));
            eprintln!(
                "$ {}\n{}{}",
                words.join(" "),
                response.text.clone().unwrap_or_default(),
                error.unwrap_or_default()
            );
        }
        response
    }

    /// Runs a command that only reads, or that prepares the measured one.
    pub fn expect_ok(&mut self, words: &[&str]) -> Response {
        let response = self.call(words);
        if let Some(e) = &response.error {
            self.flow.lost.push(format!("`{}`: {}: {}", words.join(" "), e.code.name(), e.message));
        }
        response
    }

    /// Reads the app.
    pub fn look(&mut self) -> Listing {
        let response = self.expect_ok(&["snapshot", "--all"]);
        Listing::read(response.text.as_deref().unwrap_or(""))
    }

    /// Reads the app until it shows a text, as an agent does on a slow page.
    pub fn look_for(&mut self, role: &str, name: &str) -> Listing {
        self.expect_ok(&["wait", &format!("role={role} label={name:?}")]);
        self.look()
    }

    /// Returns the element of a line. Without a line, the flow cannot continue.
    pub fn known(
        &mut self,
        line: Option<&ListingLine>,
        near: &str,
        role: &str,
        name: &str,
        read: &Listing,
    ) -> Known {
        if line.is_none() {
            let lines: Vec<String> =
                read.0.iter().map(|l| format!("{} {} {:?} {}", l.id, l.role, l.name, l.suffix)).collect();
            let lines = if std::env::var_os("FLOWS_TRACE").is_some() { lines } else { Vec::new() };
            self.flow.lost.push(format!("no {role} {name:?} near {near:?} in\n{}", lines.join("\n")));
        }
        Known {
            r#ref: line.map(|l| l.id.clone()).unwrap_or_default(),
            role: role.to_owned(),
            name: name.to_owned(),
            near: near.to_owned(),
        }
    }

    /// Returns an element of a snapshot.
    pub fn find(&mut self, read: &Listing, role: &str, name: &str) -> Known {
        self.known(read.get(role, name), "", role, name, read)
    }

    /// Returns an element of a snapshot, in or after the line with `near`.
    pub fn near(&mut self, read: &Listing, near: &str, role: &str, name: &str) -> Known {
        self.known(read.within(near, role, name), near, role, name, read)
    }

    /// Takes a snapshot and finds an element in it.
    pub fn see(&mut self, role: &str, name: &str) -> Known {
        let read = self.look();
        self.find(&read, role, name)
    }

    /// Uses a ref once; `{}` in `words` is the ref. The app must report exactly the lines of
    /// `expected`; an empty text means an action that the app does not report.
    pub fn act(&mut self, known: &mut Known, words: &[&str], expected: &str) {
        if known.r#ref.is_empty() {
            return;
        }
        self.flow.acts += 1;
        for _ in 0..TRIES {
            let response = self.use_ref(known, words);
            let Some(error) = &response.error else {
                self.done(known, words, expected, &response);
                return;
            };
            let line = format!("`{}` on {}: {}", words.join(" "), known.words(), error.message);
            self.nothing_happened(known, words);
            if error.code == ErrorCode::ContextChanged {
                // The answer reports the change: the repeated command acts on the current element.
                self.flow.notices += 1;
                self.flow.said.push(format!("notice: {line}"));
                continue;
            }
            let because = error.details["because"].as_str().or(error.details["reason"].as_str());
            let why = format!("{} {}", error.code.name(), because.unwrap_or(""));
            *self.flow.refused.entry(why.trim_end().to_owned()).or_default() += 1;
            self.flow.said.push(format!("refused: {line}"));
            // The agent continues with the new ref, or takes another snapshot.
            let before = known.r#ref.clone();
            match error.details["now"].as_str() {
                Some(now) => known.r#ref = now.to_owned(),
                None => {
                    let read = self.look();
                    let line = match known.near.as_str() {
                        "" => read.get(&known.role, &known.name),
                        near => read.within(near, &known.role, &known.name),
                    };
                    known.r#ref = line.map(|l| l.id.clone()).unwrap_or_default();
                }
            }
            self.memory.rename(&before, &known.r#ref);
            if known.r#ref.is_empty() {
                break;
            }
        }
        self.flow.lost.push(format!("`{}` on {}: never done", words.join(" "), known.words()));
    }

    fn use_ref(&mut self, known: &Known, words: &[&str]) -> Response {
        let typed: Vec<String> = words.iter().map(|w| w.replace("{}", &known.r#ref)).collect();
        let typed: Vec<&str> = typed.iter().map(String::as_str).collect();
        self.call(&typed)
    }

    fn done(&mut self, known: &mut Known, words: &[&str], expected: &str, response: &Response) {
        if let Some(missing) = expected.lines().find(|line| !self.pages.wait_for(line, PATIENCE)) {
            let instead = self.pages.received();
            let line = format!("`{}` on {}: {missing:?} never came", words.join(" "), known.words());
            match instead.is_empty() {
                true => self.flow.lost.push(line),
                false => self.flow.wrong.push(format!("{line}, but {instead:?}")),
            }
            return;
        }
        self.nothing_happened(known, words);
        self.memory.learn(response.text.as_deref().unwrap_or(""));
        // A toggle returns its new ref.
        let now = response.output.as_ref().and_then(|o| o["now"].as_str()).and_then(ListingLine::read);
        if let Some(now) = now.filter(|now| !now.id.is_empty()) {
            self.memory.becomes(&known.r#ref, &now);
            known.r#ref = now.id;
        }
    }

    /// Checks that the app reports nothing.
    fn nothing_happened(&mut self, known: &Known, words: &[&str]) {
        if !self.judged {
            return;
        }
        for line in self.pages.received() {
            self.flow.wrong.push(format!(
                "`{}` on {}: the app says {line:?}",
                words.join(" "),
                known.words()
            ));
        }
    }

    /// Checks the lines of an answer.
    pub fn reads(&mut self, words: &[&str], expected: &str) {
        let answer = self.expect_ok(words).text.unwrap_or_default();
        if answer.trim() != expected {
            self.flow.wrong.push(format!("`{}` answers {answer:?}, not {expected:?}", words.join(" ")));
        }
    }

    /// Presses an element.
    pub fn press(&mut self, known: &mut Known, expected: &str) {
        self.act(known, &["press", "{}"], expected);
    }

    /// Fills an element; the app reports the result, or nothing.
    pub fn fill(&mut self, known: &mut Known, text: &str, expected: &str) {
        self.act(known, &["fill", "{}", text], expected);
    }

    /// Uses a ref whose element has changed or vanished: nothing may happen.
    pub fn trap(&mut self, known: &Known) {
        if known.r#ref.is_empty() {
            return;
        }
        self.flow.traps += 1;
        let response = self.use_ref(known, &["press", "{}"]);
        if response.error.is_none() {
            let text = response.text.as_deref().unwrap_or("");
            self.flow.wrong.push(format!("{} should be refused: {text}", known.words()));
        }
        self.nothing_happened(known, &["press", "{}"]);
    }

    /// Waits for a report of the app that no action caused.
    pub fn reported(&mut self, line: &str) {
        if !self.pages.wait_for(line, PATIENCE) {
            self.flow.lost.push(format!("the app never reported {line:?}"));
        }
    }

    /// Sends a message to the page.
    pub fn push(&mut self, message: &str) {
        if self.pages.push(message) == 0 {
            self.flow.lost.push("no page listens".to_owned());
        }
    }

    /// Returns an element by its line.
    pub fn of(line: &ListingLine) -> Known {
        Known {
            r#ref: line.id.clone(),
            role: line.role.clone(),
            name: line.name.clone(),
            near: String::new(),
        }
    }

    /// Waits for a report of the app, and returns the text after these words.
    pub fn told(&mut self, begin: &str) -> Option<String> {
        self.pages.wait_for_prefix(begin, PATIENCE)
    }

    /// Returns the finished flow.
    pub fn end(self) -> Flow {
        self.flow
    }
}

impl Known {
    fn words(&self) -> String {
        match self.near.as_str() {
            "" => format!("{} ({} {:?})", self.r#ref, self.role, self.name),
            near => format!("{} ({} {:?} near {near:?})", self.r#ref, self.role, self.name),
        }
    }
}
