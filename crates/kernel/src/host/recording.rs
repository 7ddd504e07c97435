//! Recordings: the commands of a session that succeeded, with their targets as selectors.
//!
//! A ref means nothing in another run. Before an act, each target is therefore named by the
//! strongest selector that is unique at that time. Without such a selector the act is refused,
//! because a replay could act on another element. The element's meaning is recorded too, and a
//! replay requires the same one. A [`Scribe`] decides how a script looks.
//!
//! A recording outlives its session: each command is on disk before its response is sent ([`log`]).

mod log;

pub(crate) use log::Event;

use crate::api::form::Form;
use crate::api::spec::Effect;
use crate::host::recording::log::Log;
use serde_json::{Map, Value};
use std::fmt;
use std::path::{Path, PathBuf};
use stickpin_device::{Error, Result};

/// Converts recordings to scripts. The creator of a host provides it.
pub trait Scribe: Send + Sync + fmt::Debug {
    /// Returns the script lines of one command with its targets. Secrets become variables.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED` where the host writes no scripts.
    fn lines(&self, _step: &Recorded) -> Result<String> {
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
    fn mended(&self, _mending: &Mending) -> Result<(String, String)> {
        Err(no_scripts())
    }
}

/// A scribe for hosts that write no scripts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoScribe;

impl Scribe for NoScribe {}

fn no_scripts() -> Error {
    Error::unsupported("this host writes no scripts")
}

/// A script under repair: some lines did not find their targets, and the recorded commands replace
/// them.
#[derive(Debug, Clone)]
pub struct Mending {
    /// The path of the script.
    pub file: PathBuf,
    /// The original text.
    pub text: String,
    /// The gaps in the order in which the replay met them. Line numbers refer to `text`.
    pub gaps: Vec<Gap>,
    /// The path of the repaired script.
    pub(crate) to: PathBuf,
    /// Whether commands go into the last gap, until the script runs on.
    pub(crate) open: bool,
}

/// A line that did not find its target.
#[derive(Debug, Clone)]
pub struct Gap {
    /// The line number, from 1.
    pub line: u32,
    /// Whether the recorded commands precede the line instead of replacing it, because the line
    /// itself ran later.
    pub keeps: bool,
    /// The recorded commands, as [`Scribe::lines`] writes them.
    pub steps: Vec<String>,
    /// Which execution of the line this was, as named by the replay.
    meeting: Option<String>,
    /// Set when the line diverged again, in another round of a block: the next command replaces the
    /// earlier ones, and the value is the new `keeps`.
    again: Option<bool>,
}

impl Gap {
    fn push(&mut self, step: String) {
        if let Some(keeps) = self.again.take() {
            self.keeps = keeps;
            self.steps.clear();
        }
        self.steps.push(step);
    }
}

impl Mending {
    /// Returns the number of recorded commands.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.gaps.iter().map(|gap| gap.steps.len()).sum()
    }
}

/// The line of a script to repair from here on.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Mend {
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
    pub(crate) meeting: Option<String>,
}

/// The recording so far.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The kind of the device: `web`, `sim`.
    pub platform: String,
    /// The commands in order, as [`Scribe::lines`] writes them.
    pub steps: Vec<String>,
    /// The scripts under repair: one script and those that it includes. Empty for a new script;
    /// otherwise the commands go into their gaps instead of `steps`.
    pub mendings: Vec<Mending>,
    /// The path of the script, if it was given at the start.
    pub(crate) path: Option<PathBuf>,
    /// Whether commands that only read are recorded too.
    keep_reads: bool,
}

/// A command that succeeded.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The command.
    pub form: &'static Form,
    /// The input as given, without pins.
    pub input: Map<String, Value>,
    /// The targets.
    pub targets: Vec<Witness>,
    /// Whether text of the command went into a field that hides its content.
    pub secret: bool,
    /// The variable that replaces the text, if the caller named one.
    pub variable: Option<String>,
}

/// A target in the state in which a command used it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
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
        Self { platform, steps: Vec::new(), mendings: Vec::new(), path, keep_reads }
    }

    /// Returns the number of recorded commands.
    pub(crate) fn len(&self) -> usize {
        self.steps.len() + self.mendings.iter().map(Mending::steps).sum::<usize>()
    }

    fn apply(&mut self, event: Event) {
        match event {
            Event::Start { platform, path, keep_reads } => *self = Self::new(platform, path, keep_reads),
            Event::Step { lines } => self.push(lines),
            Event::Mend(mend) => self.mend(mend),
            Event::RunsOn => self.mendings.iter_mut().for_each(|mending| mending.open = false),
        }
    }

    fn push(&mut self, step: String) {
        if self.mendings.is_empty() {
            self.steps.push(step);
            return;
        }
        let open = self.mendings.iter_mut().find(|mending| mending.open);
        if let Some(gap) = open.and_then(|mending| mending.gaps.last_mut()) {
            gap.push(step);
        }
    }

    fn mend(&mut self, new: Mend) {
        let Mend { file, text, to, line, keeps, meeting } = new;
        let at = self.mendings.iter().position(|mending| mending.file == file).unwrap_or_else(|| {
            self.mendings.push(Mending { file, text, gaps: Vec::new(), to, open: false });
            self.mendings.len() - 1
        });
        // Commands go into one gap only.
        for (other, mending) in self.mendings.iter_mut().enumerate() {
            mending.open &= other == at;
        }
        let mending = &mut self.mendings[at];
        let ran_on = !std::mem::replace(&mut mending.open, true);
        match mending.gaps.iter().position(|gap| gap.line == line) {
            // Move the gap to the end, because commands go into the last one.
            Some(met) => {
                let mut gap = mending.gaps.remove(met);
                if ran_on || gap.again.is_some() || gap.meeting != meeting {
                    gap.again = Some(keeps);
                } else {
                    gap.keeps = keeps;
                }
                gap.meeting = meeting;
                mending.gaps.push(gap);
            }
            None => mending.gaps.push(Gap { line, keeps, steps: Vec::new(), meeting, again: None }),
        }
    }

    /// Whether a command is recorded: it changes the app, it is an assertion, or `--keep-reads` is
    /// set.
    pub(crate) fn keeps(&self, entry: &Form, effect: Effect, replayed: bool) -> bool {
        let kept = effect == Effect::Mutates || entry.spec.asserts || self.keep_reads;
        entry.spec.recorded && kept && self.takes(replayed)
    }

    /// Whether commands are recorded at all, for a replayed step or another command.
    pub(crate) fn takes(&self, replayed: bool) -> bool {
        self.mendings.is_empty() || (!replayed && self.is_mending())
    }

    /// Whether commands go into a gap.
    pub(crate) fn is_mending(&self) -> bool {
        self.mendings.iter().any(|mending| mending.open)
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
