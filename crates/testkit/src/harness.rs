//! Runs scenario files on a surface.

use crate::expect::differences;
use crate::normalise::Normaliser;
use crate::pages::PageServer;
use crate::scenario::{Scenario, Step, split};
use crate::surface::{Caller, Surface};
use crate::workspace_root;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Timeout for an app to report what it received.
const LOG_TIMEOUT: Duration = Duration::from_secs(10);

/// The interval at which the app's log is read during that time.
const LOG_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Returns the folder of the pages.
fn web() -> PathBuf {
    workspace_root().join("fixtures").join("web")
}

/// Returns the folder of our own desktop apps.
fn linux() -> PathBuf {
    workspace_root().join("fixtures").join("linux")
}

/// One run of a scenario: its folder, log and pages.
#[derive(Debug)]
pub struct ScenarioRun {
    dir: PathBuf,
    log: PathBuf,
    read: u64,
    pages: PageServer,
    normaliser: Normaliser,
}

impl ScenarioRun {
    /// Creates a run in a separate folder.
    ///
    /// # Errors
    /// Returns an error if the page server cannot start.
    pub fn new(dir: &Path) -> std::io::Result<Self> {
        let pages = PageServer::start(&web())?;
        let mut normaliser = Normaliser::default();
        normaliser.replace(pages.origin(), "$PAGES");
        normaliser.replace(dir.to_string_lossy(), "$DIR");
        normaliser.replace(web().to_string_lossy(), "$WEB");
        normaliser.replace(linux().to_string_lossy(), "$LINUX");
        Ok(Self { dir: dir.to_owned(), log: dir.join("app.log"), read: 0, pages, normaliser })
    }

    /// Runs one step and returns the differences from what the step expects.
    ///
    /// # Errors
    /// Returns an error if a command line cannot be split, or a log cannot be read.
    pub fn step(&mut self, step: &Step, surface: &mut dyn Surface) -> Result<Vec<String>, String> {
        let line = step
            .run
            .replace("$LOG", &self.log.to_string_lossy())
            .replace("$PAGES", &self.pages.origin())
            .replace("$WEB", &web().to_string_lossy())
            .replace("$LINUX", &linux().to_string_lossy())
            .replace("$DIR", &self.dir.to_string_lossy())
            .replace("$STATE", &self.dir.join("state").to_string_lossy());
        let words = split(&self.normaliser.with_kept(&line))?;
        let folder = step.caller.as_ref().map_or_else(|| self.dir.clone(), |name| self.dir.join(name));
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let caller = Caller { folder: &folder, agent: step.agent.as_deref() };
        let mut outcome = surface.call(&words, caller);
        if let Some(name) = &step.keep {
            let generation = outcome.generation().ok_or("the answer has no generation to keep")?;
            self.normaliser.keep(name, generation);
        }
        // `wait_for` removes these lines from the log: only the others are compared with
        // `received`.
        let late = step.waits.iter().filter(|line| !self.pages.wait_for(line, LOG_TIMEOUT));
        let late: Vec<String> = late.map(|line| format!("the page never reported {line:?}")).collect();
        let expected = step.received.as_ref().map_or(0, Vec::len);
        outcome.received = self.received(expected).map_err(|e| format!("{}: {e}", self.log.display()))?;
        let pinning = surface.pins().then(|| step.for_pinning_client());
        let step = pinning.as_ref().unwrap_or(step);
        let mut found = differences(step, &outcome, &mut self.normaliser);
        found.extend(late);
        Ok(found)
    }

    /// Returns the new lines of the app's log: the reports of a page, or the lines of another app's
    /// file. Waits for `expected` lines, because an app may write after a command saw the effect.
    fn received(&mut self, expected: usize) -> std::io::Result<Vec<String>> {
        let until = Instant::now() + LOG_TIMEOUT;
        let mut lines = self.pages.received();
        loop {
            self.read_log(&mut lines)?;
            if lines.len() >= expected || Instant::now() >= until {
                return Ok(lines);
            }
            std::thread::sleep(LOG_POLL_INTERVAL);
            lines.extend(self.pages.received());
        }
    }

    /// Reads the complete lines that were added to the file since the last read.
    fn read_log(&mut self, lines: &mut Vec<String>) -> std::io::Result<()> {
        let mut file = match std::fs::File::open(&self.log) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            file => file?,
        };
        file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        self.read += whole as u64;
        lines.extend(String::from_utf8_lossy(&bytes[..whole]).lines().map(sim_line));
        Ok(())
    }
}

/// Converts a line of a simulated app's log to `event element` with the detail, the format of
/// pages.
fn sim_line(line: &str) -> String {
    let Ok(entry) = serde_json::from_str::<serde_json::Value>(line) else { return line.to_owned() };
    let words = ["event", "element", "detail"].map(|k| entry[k].as_str().unwrap_or(""));
    words.join(" ").trim_end().to_owned()
}

/// Runs a whole file on a surface that works in `dir`.
///
/// # Errors
/// Returns every difference, with the file, surface and step. Differences after the first may
/// follow from it.
pub fn run_file(path: &Path, dir: &Path, surface: &mut dyn Surface) -> Result<(), String> {
    let scenario = Scenario::read(path)?;
    if scenario.without.contains_key(&surface.name()) {
        return Ok(());
    }
    let mut run = ScenarioRun::new(dir).map_err(|e| format!("page server: {e}"))?;
    run.normaliser.decoys(&scenario.decoys);
    let mut report = String::new();
    for (i, step) in scenario.steps.iter().enumerate() {
        let found = run.step(step, surface).unwrap_or_else(|e| vec![e]);
        if !found.is_empty() {
            let found = found.join("\n");
            report.push_str(&format!("\nstep {} `{}`:\n{found}", i + 1, step.run));
        }
    }
    match report.is_empty() {
        true => Ok(()),
        false => Err(format!("{} on {:?}{report}", path.display(), surface.name())),
    }
}

/// The table of error codes that no scenario provokes, next to the scenarios.
const WAIVERS: &str = "waivers.toml";

/// Returns all scenario files for a device, sorted by name.
///
/// # Errors
/// Returns an error if a file cannot be parsed as a scenario.
pub fn scenario_files(device: &str) -> Result<Vec<PathBuf>, String> {
    let dir = workspace_root().join("fixtures").join("scenarios");
    let entries = std::fs::read_dir(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "toml") && !p.ends_with(WAIVERS))
        .collect();
    files.sort();
    let mut chosen = Vec::new();
    for file in files {
        if Scenario::read(&file)?.device == device {
            chosen.push(file);
        }
    }
    Ok(chosen)
}
