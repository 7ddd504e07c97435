//! Recordings: the commands of a session that succeeded, with their targets as selectors.
//!
//! A ref means nothing in another run. Before an action, each target is therefore named by the
//! strongest selector that is unique at that time. Without such a selector the action is refused,
//! because a replay could act on another element. The element's meaning is recorded too, and a
//! replay requires the same one. A [`ScriptWriter`] determines the format of a script.
//!
//! A recording outlives its session: each command is on disk before its response is sent ([`log`]).

mod log;

pub(crate) use log::Event;

use crate::api::command_definition::CommandDefinition;
use crate::api::spec::Effect;
use crate::host::recording::log::Log;
use serde_json::{Map, Value};
use std::fmt;
use std::path::{Path, PathBuf};
use stickpin_device::{Error, Result};

/// Converts recordings to scripts. The creator of a host provides it.
pub trait ScriptWriter: Send + Sync + fmt::Debug {
    /// Returns the script lines of one command with its targets. Secrets become variables.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED` where the host writes no scripts.
    fn lines(&self, _step: &RecordedCommand) -> Result<String> {
        Err(no_scripts())
    }

    /// Returns the text of the script.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED` where the host writes no scripts.
    fn script(&self, _recording: &Recording) -> Result<String> {
        Err(no_scripts())
    }

    /// Returns the text of a repaired script and its patch.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED` where the host writes no scripts.
    fn repaired_script(&self, _repair: &ScriptRepair) -> Result<(String, String)> {
        Err(no_scripts())
    }
}

/// A script writer for hosts that write no scripts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoScriptWriter;

impl ScriptWriter for NoScriptWriter {}

fn no_scripts() -> Error {
    Error::unsupported("this host does not write scripts")
}

/// A script under repair: some lines did not find their targets, and the recorded commands replace
/// them.
#[derive(Debug, Clone)]
pub struct ScriptRepair {
    /// The path of the script.
    pub file: PathBuf,
    /// The original text.
    pub text: String,
    /// The repair sites in the order in which the replay reached them. Line numbers refer to
    /// `text`.
    pub sites: Vec<RepairSite>,
    /// The path of the repaired script.
    pub(crate) to: PathBuf,
    /// Whether commands go into the last repair site, until the script continues.
    pub(crate) open: bool,
}

/// A line that did not find its target.
#[derive(Debug, Clone)]
pub struct RepairSite {
    /// The line number, from 1.
    pub line: u32,
    /// Whether the recorded commands precede the line instead of replacing it, because the line
    /// itself ran later.
    pub keeps_line: bool,
    /// The recorded commands, as [`ScriptWriter::lines`] writes them.
    pub steps: Vec<String>,
    /// Which execution of the line this was, as named by the replay.
    pass: Option<String>,
    /// Set when the line diverged again, in another round of a block: the next command replaces the
    /// earlier ones, and the value is the new `keeps`.
    again: Option<bool>,
}

impl RepairSite {
    fn push(&mut self, step: String) {
        if let Some(keeps) = self.again.take() {
            self.keeps_line = keeps;
            self.steps.clear();
        }
        self.steps.push(step);
    }
}

impl ScriptRepair {
    /// Returns the number of recorded commands.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.sites.iter().map(|site| site.steps.len()).sum()
    }
}

/// The line of a script to repair from here on.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct RepairRequest {
    /// The path of the script.
    pub(crate) file: PathBuf,
    /// The text of the script.
    pub(crate) text: String,
    /// The path of the repaired script.
    pub(crate) to: PathBuf,
    /// The line number, from 1.
    pub(crate) line: u32,
    /// Whether the line is kept, after the recorded commands.
    pub(crate) keeps: bool,
    /// Which execution of the line this is.
    pub(crate) pass: Option<String>,
}

/// The recording so far.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The kind of the device: `web`, `sim`.
    pub platform: String,
    /// The commands in order, as [`ScriptWriter::lines`] writes them.
    pub steps: Vec<String>,
    /// The scripts under repair: one script and those that it includes. Empty for a new script;
    /// otherwise the commands go into their repair sites instead of `steps`.
    pub repairs: Vec<ScriptRepair>,
    /// The path of the script, if it was given at the start.
    pub(crate) path: Option<PathBuf>,
    /// Whether commands that only read are recorded too.
    keep_reads: bool,
}

/// A command that succeeded.
#[derive(Debug, Clone)]
pub struct RecordedCommand {
    /// The command.
    pub definition: &'static CommandDefinition,
    /// The input as given, without pins.
    pub input: Map<String, Value>,
    /// The targets.
    pub targets: Vec<RecordedTarget>,
    /// Whether text of the command went into a field that hides its content.
    pub secret: bool,
    /// The variable that replaces the text, if the caller named one.
    pub variable: Option<String>,
}

/// A target as it was when a command used it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedTarget {
    /// The target as given, without pins.
    pub target: String,
    /// The strongest selector that was unique.
    pub selector: String,
    /// The meaning: `button "Delete" in row "Mail 1"`. Empty for a question, which itself asks
    /// about the state.
    pub meaning: String,
    /// Whether the target is a field that hides its content.
    pub secret: bool,
}

impl Recording {
    fn new(platform: String, path: Option<PathBuf>, keep_reads: bool) -> Self {
        Self { platform, steps: Vec::new(), repairs: Vec::new(), path, keep_reads }
    }

    /// Returns the number of recorded commands.
    pub(crate) fn len(&self) -> usize {
        self.steps.len() + self.repairs.iter().map(ScriptRepair::steps).sum::<usize>()
    }

    fn apply(&mut self, event: Event) {
        match event {
            Event::Start { platform, path, keep_reads } => *self = Self::new(platform, path, keep_reads),
            Event::Step { lines } => self.push(lines),
            Event::Repair(request) => self.start_repair(request),
            Event::RunsOn => self.repairs.iter_mut().for_each(|repair| repair.open = false),
        }
    }

    fn push(&mut self, step: String) {
        if self.repairs.is_empty() {
            self.steps.push(step);
            return;
        }
        let open = self.repairs.iter_mut().find(|repair| repair.open);
        if let Some(site) = open.and_then(|repair| repair.sites.last_mut()) {
            site.push(step);
        }
    }

    fn start_repair(&mut self, new: RepairRequest) {
        let RepairRequest { file, text, to, line, keeps, pass } = new;
        let at = self.repairs.iter().position(|repair| repair.file == file).unwrap_or_else(|| {
            self.repairs.push(ScriptRepair { file, text, sites: Vec::new(), to, open: false });
            self.repairs.len() - 1
        });
        // Commands go into one repair site only.
        for (other, repair) in self.repairs.iter_mut().enumerate() {
            repair.open &= other == at;
        }
        let repair = &mut self.repairs[at];
        let ran_on = !std::mem::replace(&mut repair.open, true);
        match repair.sites.iter().position(|site| site.line == line) {
            // Move the site to the end, because commands go into the last one.
            Some(met) => {
                let mut site = repair.sites.remove(met);
                if ran_on || site.again.is_some() || site.pass != pass {
                    site.again = Some(keeps);
                } else {
                    site.keeps_line = keeps;
                }
                site.pass = pass;
                repair.sites.push(site);
            }
            None => repair.sites.push(RepairSite {
                line,
                keeps_line: keeps,
                steps: Vec::new(),
                pass,
                again: None,
            }),
        }
    }

    /// Returns whether a command is recorded: it changes the app, it is an assertion, or
    /// `--keep-reads` is set.
    pub(crate) fn keeps(&self, entry: &CommandDefinition, effect: Effect, replayed: bool) -> bool {
        let kept = effect == Effect::Mutates || entry.spec.asserts || self.keep_reads;
        entry.spec.recorded && kept && self.takes(replayed)
    }

    /// Returns whether commands are recorded at all, for a replayed step or another command.
    pub(crate) fn takes(&self, replayed: bool) -> bool {
        self.repairs.is_empty() || (!replayed && self.is_repairing())
    }

    /// Returns whether commands go into a repair site.
    pub(crate) fn is_repairing(&self) -> bool {
        self.repairs.iter().any(|repair| repair.open)
    }
}

/// A recording in progress, and its log.
#[derive(Debug)]
pub(crate) struct Recorder {
    recording: Recording,
    log: Log,
}

impl Recorder {
    /// Starts a recording with its log at `path`.
    ///
    /// # Errors
    /// Returns `IO` or `STORAGE_FULL`.
    pub(crate) fn start(path: &Path, platform: &str, to: Option<PathBuf>, keep_reads: bool) -> Result<Self> {
        let start = Event::Start { platform: platform.to_owned(), path: to.clone(), keep_reads };
        let log = Log::create(path, &start)?;
        Ok(Self { recording: Recording::new(platform.to_owned(), to, keep_reads), log })
    }

    /// Returns the recording so far.
    pub(crate) fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Adds an event. On failure the event is kept in memory only.
    ///
    /// # Errors
    /// Returns `IO` or `STORAGE_FULL`; the event is then written together with the next one.
    pub(crate) fn add(&mut self, event: Event) -> Result<()> {
        let logged = self.log.append(&event);
        self.recording.apply(event);
        logged
    }
}

/// Reads the recording from a log, including that of a lost session.
///
/// # Errors
/// Returns `IO` when the log cannot be read.
pub(crate) fn read(path: &Path) -> Result<Option<Recording>> {
    let Some(events) = log::read(path)? else { return Ok(None) };
    let mut recording = Recording::new(String::new(), None, false);
    events.into_iter().for_each(|event| recording.apply(event));
    // The first event was never written completely, so the recording was never acknowledged.
    Ok(Some(recording).filter(|r| !r.platform.is_empty()))
}
