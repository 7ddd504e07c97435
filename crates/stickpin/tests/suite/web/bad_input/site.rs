//! A host with a browser, pages that report their input, and the processes of that browser.

use std::sync::Arc;
use std::time::Duration;
use stickpin_backend_web::WebProvider;
use stickpin_kernel::{Dispatched, Error, ErrorCode, Response};
use stickpin_testkit::{InProcess, PageServer, chromium, workspace_root};

/// The time limit for a page to report to its server.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A host with a browser, and pages.
pub struct Site {
    pub surface: InProcess,
    pub server: Arc<PageServer>,
    pub dir: tempfile::TempDir,
}

impl Site {
    pub fn new() -> Option<Self> {
        Some(Self::with(chromium()?))
    }

    pub fn with(provider: WebProvider) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let surface = InProcess::new(dir.path(), vec![Arc::new(provider)]);
        let server = PageServer::start(&workspace_root().join("fixtures/web/bad")).unwrap();
        Self { surface, server: Arc::new(server), dir }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.server.origin())
    }

    pub fn open(&mut self, page: &str) {
        let url = self.url(page);
        self.ok(&["open", &url]);
        drop(self.server.received());
    }

    #[track_caller]
    pub fn ok(&mut self, words: &[&str]) -> Response {
        let response = self.surface.request(words, |_| {});
        assert!(response.ok, "{words:?}: {response:#?}");
        response
    }

    /// Runs words that must succeed, and returns the output.
    #[track_caller]
    pub fn text(&mut self, words: &[&str]) -> String {
        self.ok(words).text.unwrap_or_default()
    }

    /// Runs words that must fail with a code, and returns the error, which has a hint.
    #[track_caller]
    pub fn fails(&mut self, words: &[&str], code: ErrorCode) -> Error {
        let response = self.surface.request(words, |_| {});
        let error = response.error.clone().unwrap_or_else(|| panic!("{words:?}: {response:#?}"));
        assert_eq!(error.code, code, "{words:?}: {error:#?}");
        assert!(!error.hint.is_empty(), "{words:?} has no hint: {error:#?}");
        error
    }

    /// Runs words that must fail, and checks that nothing reached the page.
    #[track_caller]
    pub fn refuses(&mut self, words: &[&str], code: ErrorCode) -> Error {
        let error = self.fails(words, code);
        assert_eq!(error.dispatched, Dispatched::No, "{words:?}: {error:#?}");
        error
    }

    /// Returns the ref of a line of `snapshot -i`.
    #[track_caller]
    pub fn ref_of(&mut self, name: &str) -> String {
        let all = self.text(&["snapshot", "-i", "--all"]);
        let line = all.lines().find(|l| l.contains(&format!("\"{name}\"")));
        let line = line.unwrap_or_else(|| panic!("no {name:?} in\n{all}")).trim();
        line.split(' ').next().unwrap().to_owned()
    }

    /// Checks that the session continues: a press on `Save` arrives, and nothing arrived before it.
    #[track_caller]
    pub fn goes_on(&mut self) {
        self.ok(&["press", "css=\"#save\""]);
        assert!(self.server.wait_for("click save", PATIENCE), "the press did not arrive");
        let rest = self.server.received();
        assert!(rest.is_empty(), "something else received input: {rest:?}");
    }

    /// Returns the processes of the browser: those whose command line names our folder, and their
    /// descendants.
    pub fn processes(&self) -> Vec<Process> {
        let all = Process::all();
        let dir = self.dir.path().display().to_string();
        let mut ours: Vec<u32> = all.iter().filter(|p| p.line.contains(&dir)).map(|p| p.pid).collect();
        loop {
            let more: Vec<u32> = all
                .iter()
                .filter(|p| ours.contains(&p.parent) && !ours.contains(&p.pid))
                .map(|p| p.pid)
                .collect();
            if more.is_empty() {
                return all.into_iter().filter(|p| ours.contains(&p.pid)).collect();
            }
            ours.extend(more);
        }
    }

    pub fn profiles(&self) -> usize {
        std::fs::read_dir(self.dir.path().join("state/live")).map_or(0, Iterator::count)
    }
}

#[derive(Debug, Clone)]
pub struct Process {
    pub pid: u32,
    pub parent: u32,
    pub line: String,
}

impl Process {
    pub fn all() -> Vec<Self> {
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        entries
            .filter_map(|entry| {
                let pid = entry.file_name().to_str()?.parse().ok()?;
                // A process that ended meanwhile does not count.
                let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
                let mut after = stat.rsplit_once(") ")?.1.split(' ');
                let (state, parent) = (after.next()?, after.next()?.parse().ok()?);
                let line = std::fs::read(entry.path().join("cmdline")).ok()?;
                let line = String::from_utf8_lossy(&line).replace('\0', " ");
                (state != "Z").then_some(Self { pid, parent, line })
            })
            .collect()
    }

    pub fn kill(&self) {
        let status = std::process::Command::new("kill").args(["-KILL", &self.pid.to_string()]).status();
        assert!(status.unwrap().success());
    }

    pub fn is_there(&self) -> bool {
        Self::all().iter().any(|p| p.pid == self.pid && p.line == self.line)
    }
}
