//! Recordings: the successful commands of a session, with their targets as selectors.
//!
//! A ref means nothing in another run. Before an action, each target is therefore named by the
//! strongest selector that is unique at that time. Without such a selector the action is refused,
//! because a replay could act on another element. The element's meaning is recorded too, and a
//! replay requires the same one. A [`ScriptWriter`] determines the format of a script.
//!
//! A recording is part of the session log: its steps are in the records of their commands, on disk
//! before the response is sent. A script can therefore still be written after the app, the daemon
//! or the machine has crashed.

mod session_log;

use crate::api::command_definition::CommandDefinition;
use crate::api::spec::Effect;
use serde_json::{Map, Value};
use std::fmt;
use std::path::{Path, PathBuf};
use stickpin_coordinator::{RecordingEvent, RecordingLog, RepairedLine};
use stickpin_device::{Error, Result};

/// Converts recordings to scripts. The creator of a host provides it.
pub trait ScriptWriter: Send + Sync + fmt::Debug {
    /// Returns the script lines of one command with its targets. Secrets become variables.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED` if the host writes no scripts.
    fn lines(&self, _step: &RecordedCommand) -> Result<String> {
        Err(no_scripts())
    }

    /// Returns the text of the script that a recording becomes.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED` if the host writes no scripts.
    fn script(&self, _recording: &Recording) -> Result<String> {
        Err(no_scripts())
    }

    /// Returns the text of a repaired script and its patch.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED` if the host writes no scripts.
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

/// A script under repair: the recorded commands replace the steps that diverged, or precede them.
#[derive(Debug, Clone)]
pub struct ScriptRepair {
    /// The path of the script.
    pub file: PathBuf,
    /// The original text.
    pub text: String,
    /// The repair sites in the order in which the replay last reached them. Line numbers refer to
    /// `text`.
    pub sites: Vec<RepairSite>,
    /// The path of the repaired script.
    pub(crate) to: PathBuf,
    /// Whether commands go into the last repair site now; false as soon as the script continues.
    pub(crate) open: bool,
}

/// The line of a step that diverged, with the commands that were recorded for it.
#[derive(Debug, Clone)]
pub struct RepairSite {
    /// The line number, from 1.
    pub line: u32,
    /// Whether the recorded commands precede the line instead of replacing it, because the line
    /// itself ran later.
    pub keeps_line: bool,
    /// The recorded commands, as [`ScriptWriter::lines`] writes them.
    pub steps: Vec<String>,
    /// The pass over the line, as named by the replay.
    pass: Option<String>,
    /// Set when the line diverged again, for example in another iteration of a block: the next
    /// command replaces the earlier ones, and the value is the new `keeps_line`.
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

/// The recording so far.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The kind of the device, such as `web` or `sim`.
    pub platform: String,
    /// The commands in order, as [`ScriptWriter::lines`] writes them.
    pub steps: Vec<String>,
    /// The scripts under repair: the replayed script and the scripts that it includes. Empty for a
    /// new script; otherwise the commands go into the repair sites of these scripts instead of
    /// `steps`.
    pub repairs: Vec<ScriptRepair>,
    /// The path of the script, if it was given at the start.
    pub(crate) path: Option<PathBuf>,
}

/// A command that succeeded.
#[derive(Debug, Clone)]
pub struct RecordedCommand {
    /// The definition of the command.
    pub definition: &'static CommandDefinition,
    /// The input as given, without pins.
    pub input: Map<String, Value>,
    /// The targets in the input, each with its selector.
    pub targets: Vec<RecordedTarget>,
    /// Whether text from the command went into a field that hides its content.
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
    /// The meaning: `button "Delete" in row "Mail 1"`. Empty for a query, which itself checks the
    /// state.
    pub meaning: String,
    /// Whether the target is a field that hides its content.
    pub secret: bool,
}

/// A step that a command contributes to a recording.
#[derive(Debug)]
pub(crate) enum NewStep {
    /// The lines of the command in the script.
    Lines(String),
    /// The script under repair continues, which ends the steps of the repair.
    ScriptResumed,
}

impl Recording {
    /// Creates the recording from its events in the log.
    pub(crate) fn of(events: Vec<RecordingEvent>) -> Self {
        let mut this = Self { platform: String::new(), steps: Vec::new(), repairs: Vec::new(), path: None };
        events.into_iter().for_each(|event| this.apply(event));
        this
    }

    /// Returns the number of recorded commands.
    pub(crate) fn len(&self) -> usize {
        self.steps.len() + self.repairs.iter().map(ScriptRepair::steps).sum::<usize>()
    }

    fn apply(&mut self, event: RecordingEvent) {
        match event {
            RecordingEvent::Started(started) => {
                self.platform = started.platform;
                self.path = started.path.map(PathBuf::from);
            }
            RecordingEvent::Step(lines) => self.push(lines),
            RecordingEvent::RepairStarted(line) => self.start_repair(line),
            RecordingEvent::ScriptResumed => self.repairs.iter_mut().for_each(|repair| repair.open = false),
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

    fn start_repair(&mut self, new: RepairedLine) {
        let RepairedLine { file, text, to, line, keeps_line: keeps, pass } = new;
        let (file, to) = (PathBuf::from(file), PathBuf::from(to));
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
}

/// The state that determines whether a command of an open session is recorded. The steps are in the
/// session log.
#[derive(Debug)]
pub(crate) struct Recorder {
    log: RecordingLog,
    /// Whether commands that only read are recorded too.
    keep_reads: bool,
    /// The scripts under repair with their exact texts; the log stores them with secrets redacted.
    scripts: Vec<(PathBuf, String)>,
    /// Whether commands go into a repair site.
    repairing: bool,
}

impl Recorder {
    /// Creates the recorder of a recording that began in the log.
    pub(crate) fn new(log: RecordingLog, keep_reads: bool) -> Self {
        Self { log, keep_reads, scripts: Vec::new(), repairing: false }
    }

    /// Returns the log of the recording.
    pub(crate) fn log(&self) -> &RecordingLog {
        &self.log
    }

    /// Returns whether a command is recorded. Its definition and [`Self::takes`] must permit this.
    /// Without `--keep-reads`, the command must also change the app or be an assertion.
    pub(crate) fn keeps(&self, entry: &CommandDefinition, effect: Effect, replayed: bool) -> bool {
        let kept = effect == Effect::Mutates || entry.spec.asserts || self.keep_reads;
        entry.spec.recorded && kept && self.takes(replayed)
    }

    /// Returns whether a command can be recorded now. `replayed` states whether the command is a
    /// step of a replayed script; a repair records only other commands.
    pub(crate) fn takes(&self, replayed: bool) -> bool {
        self.scripts.is_empty() || (!replayed && self.repairing)
    }

    /// Returns whether commands go into a repair site.
    pub(crate) fn is_repairing(&self) -> bool {
        self.repairing
    }

    /// Returns whether the recording repairs scripts instead of making a new one.
    pub(crate) fn repairs_scripts(&self) -> bool {
        !self.scripts.is_empty()
    }

    /// Returns the text that a script had when its repair began.
    pub(crate) fn script_text(&self, file: &Path) -> Option<&str> {
        self.scripts.iter().find(|(known, _)| known == file).map(|(_, text)| text.as_str())
    }

    /// Makes the following commands part of a repair site of a script.
    pub(crate) fn start_repair(&mut self, file: &Path, text: &str) {
        self.repairing = true;
        if self.script_text(file).is_none() {
            self.scripts.push((file.to_owned(), text.to_owned()));
        }
    }

    /// Ends the repair site: the script continues.
    pub(crate) fn resume_script(&mut self) {
        self.repairing = false;
    }
}
